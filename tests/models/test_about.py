import pytest

import setwise as sw
from setwise.models import MODELS, NEURAL, OF_COUNTS
from setwise.models.about import COLUMNS, About, ModelTable


def test_the_table_of_models_is_the_list_of_their_names():
    table = sw.list_models()
    assert table == sorted(MODELS | NEURAL)
    assert "BinaryRelevance" in table
    assert [row["name"] for row in table.rows] == list(table)
    assert set(sw.list_models(of_counts=True)) == {*MODELS, *NEURAL, *OF_COUNTS}


ALL = MODELS | NEURAL | OF_COUNTS


@pytest.mark.parametrize("model", ALL.values(), ids=ALL)
def test_every_model_says_of_itself_what_the_table_shows(model):
    assert "about" in vars(model), "inherited, so that it describes another model"
    assert all(model.about.said.values())


def test_printed_every_name_has_a_line_and_long_cells_are_wrapped():
    table = ModelTable(
        {
            "Second": About("somebody 2001", True, "trees " * 9, "n d"),
            "First": About("nobody 2000", False, "none", "n <L>", why_not="no features"),
        }
    )
    lines = str(table).splitlines()
    assert lines[0].split() == list(COLUMNS)
    assert lines[1].startswith("First")
    assert "no: no features" in lines[1]
    assert lines[2].startswith("Second")
    assert "yes" in lines[2]
    assert [line.split() for line in lines[3:]] == [["trees"] * 4, ["trees"]]
    assert "<td>n &lt;L&gt;</td>" in table._repr_html_()


def test_as_a_frame_names_are_its_index():
    frame = sw.list_models().to_frame()
    assert list(frame.index) == sorted(MODELS | NEURAL)
    assert frame.loc["BinaryRelevance", "joint"] == "no: the product of its labels"


def test_who_has_no_joint_probability_says_why():
    with pytest.raises(ValueError, match="why_not"):
        About("nobody", False, "none", "n")
    with pytest.raises(ValueError, match="why_not"):
        About("nobody", True, "none", "n", why_not="it has one")
