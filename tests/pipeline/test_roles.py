import pytest

from setwise.errors import DataError, FormatError
from setwise.pipeline.roles import guessed, roles_of
from setwise.pipeline.table import Table


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1.5", "", "7"], "number"),
        (["1", "2", "3", "4"], "ignored"),  # counts the rows
        ([5, 5, 5], "ignored"),
        (["", None], "ignored"),
        (["red", "blue"] * 10, "category"),
        (["True", "False"] * 10, "category"),
        ([f"T-{i}" for i in range(50)], "ignored"),  # identifiers
        ([f"this is text {i}" for i in range(50)], "text"),
        ([f"two words{i}" for i in range(300)], "text"),
        (["one long sentence that repeats"] * 10, "category"),
        ([["a"], ["b"]], "ignored"),
    ],
)
def test_what_cells_speak_for(cells, kind):
    role = guessed("x", cells)
    assert role.kind == kind
    assert role.reason


def test_what_is_said_goes_before_what_is_guessed():
    table = Table({"id": ["a", "b"], "age": ["1", "5"], "tags": ["x", "y"]}, [2, 3], "a.csv")
    roles = roles_of(table, {"text": ["id"], "ignored": []}, ["tags"])
    assert [(role.column, role.kind) for role in roles] == [("id", "text"), ("age", "number")]


def test_contradictions_and_nothing_to_learn_from_get_a_sentence():
    table = Table({"id": ["a", "b"], "tags": ["x", "y"]}, [2, 3], "a.csv")
    with pytest.raises(
        FormatError, match="there is no column 'text'; the columns are 'id', 'tags'"
    ):
        roles_of(table, {"text": ["text"]}, ["tags"])
    with pytest.raises(DataError, match="'id' is named both as text and as number"):
        roles_of(table, {"text": ["id"], "number": ["id"]}, ["tags"])
    with pytest.raises(DataError, match="'tags' is named both as text and as labels"):
        roles_of(table, {"text": ["tags"]}, ["tags"])
    with pytest.raises(DataError, match="no column is left to predict from .*identifiers"):
        roles_of(table, {}, ["tags"])
