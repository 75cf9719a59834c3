import pytest

from setwise.errors import DataError, FormatError
from setwise.pipeline.label_columns import LabelColumns
from setwise.pipeline.table import Table


def table(**columns):
    (first, *_) = columns.values()
    return Table(columns, range(2, len(first) + 2), "some.csv")


@pytest.mark.parametrize("mark", [",", "|", ";"])
def test_one_column_of_names(mark):
    rows = table(tags=[f"b{mark} a", "", "a", None])
    labels = LabelColumns(("tags",)).fit(rows)
    assert labels.separator_ == mark
    assert labels.names_ == ("a", "b")
    Y, unknown = labels.encode(labels.sets(rows))
    assert Y.toarray().tolist() == [[1, 1], [0, 0], [1, 0], [0, 0]]
    assert unknown == {}


def test_lists_of_names_and_many_columns_of_zeros_and_ones():
    lists = LabelColumns(("tags",)).fit(table(tags=[["b"], [], ["a", "b"]]))
    assert lists.names_ == ("a", "b")
    rows = table(sea=["1", "0", "true"], sun=[0, 1, 1.0])
    columns = LabelColumns(("sun", "sea")).fit(rows)
    assert columns.names_ == ("sun", "sea")
    assert columns.sets(rows) == [["sea"], ["sun"], ["sun", "sea"]]


def test_unknown_labels_stand_behind_the_known_ones():
    labels = LabelColumns(("tags",)).fit(table(tags=["a", "b"]))
    Y, unknown = labels.encode([["a", "new"], ["odd", "b"], ["new"]])
    assert Y.toarray().tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    assert unknown == {"new": 2, "odd": 1}


def test_what_is_wrong_is_told_with_its_line():
    with pytest.raises(FormatError, match="some.csv, line 3: .*label 'a' occurs twice"):
        LabelColumns(("tags",)).fit(table(tags=["a", "a,a"]))
    with pytest.raises(FormatError, match="line 2: label column 'sea' holds '2', where 0 or 1"):
        LabelColumns(("sea", "sun")).sets(table(sea=["2"], sun=["0"]))
    with pytest.raises(FormatError, match="line 3: label column 'sea' holds ''"):
        LabelColumns(("sea", "sun")).sets(table(sea=["1", ""], sun=["0", "1"]))
    with pytest.raises(FormatError, match="there is no column 'tag'"):
        LabelColumns(("tag",)).fit(table(tags=["a"]))
    with pytest.raises(DataError, match="holds no label in any row"):
        LabelColumns(("tags",)).fit(table(tags=["", ""]))
    with pytest.raises(DataError, match="pass --labels"):
        LabelColumns(()).fit(table(tags=["a"]))
