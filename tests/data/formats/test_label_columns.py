import gzip

import numpy as np
import pytest

import setwise as sw
from setwise.data import SkippedRows
from setwise.data.formats.label_columns import read_mulan_xml
from setwise.errors import DataError, FormatError


def arff(relation, names=("a", "b", "c", "d"), rows=((1, 0, 1, 0), (0, 0, 1, 1), (1, 1, 1, 1))):
    attributes = "".join(f"@attribute {name} {{0,1}}\n" for name in names)
    data = "".join(",".join(map(str, row)) + "\n" for row in rows)
    return f"@relation '{relation}'\n{attributes}@data\n{data}"


def test_mulan_xml_beside_the_file_with_nested_labels(write):
    write(
        "set.xml",
        '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">'
        '<label name="d"><label name="b"/></label></labels>',
    )
    for name in ("set.arff", "set-train.arff", "set_test.arff"):
        ds = sw.read(write(name, arff("r")))
        assert ds.label_names == ("d", "b")
        np.testing.assert_array_equal(ds.Y_train, [[0, 0], [1, 0], [1, 1]])
        assert ds.feature_names == ("a", "c")


@pytest.mark.parametrize(
    ("relation", "labels"), [("x: -C 2", ("a", "b")), ("x: -C -3", ("b", "c", "d"))]
)
def test_meka_headers(write, relation, labels):
    assert sw.read(write("x.arff", arff(relation))).label_names == labels


def test_meka_split(write):
    ds = sw.read(write("x.arff", arff("x: -C 1 -split 2")))
    assert (len(ds.X_train), len(ds.X_test)) == (2, 1)
    np.testing.assert_array_equal(ds.Y_test, [[1]])
    with pytest.raises(FormatError, match="declares -split 3, but there are 3 rows"):
        sw.read(write("y.arff", arff("x: -C 1 -split 3")))


def test_labels_by_name_count_and_file(write, tmp_path):
    path = write("x.arff", arff("x"))
    assert sw.read(path, labels=["c", "a"]).label_names == ("c", "a")
    assert sw.read(path, labels=-1).label_names == ("d",)
    assert sw.read(path, labels=write("names.txt", "d\nc\n")).label_names == ("d", "c")
    assert sw.read(path, labels=str(tmp_path / "names.txt")).label_names == ("d", "c")


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (None, "nothing says which attributes are labels"),
        (["a", "z"], "label 'z' .* is not among the 4 attributes"),
        (["a", "a"], "'a' is named twice"),
        (4, "4 labels asked for, but there are 4 attributes"),
        (0, "0 labels asked for"),
    ],
)
def test_labels_that_cannot_be_found(write, labels, sentence):
    with pytest.raises(DataError, match=sentence):
        sw.read(write("x.arff", arff("x")), labels=labels)


def test_a_label_of_the_xml_that_the_data_lacks(write):
    write("x.xml", '<labels><label name="gone"/></labels>')
    with pytest.raises(FormatError, match=r"x\.arff: label 'gone' \(from .*x\.xml\)"):
        sw.read(write("x.arff", arff("x")))


@pytest.mark.parametrize(
    ("xml", "sentence"),
    [
        ("<labels><label name='a'>", "line 1: not well-formed XML"),
        ("<labels></labels>", "expected <label name=...> elements"),
        ("<labels><label/></labels>", "expected <label name=...> elements"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><labels/>", "declares no entities"),
    ],
)
def test_bad_xml_gets_a_sentence(write, xml, sentence):
    with pytest.raises(FormatError, match=sentence):
        read_mulan_xml(write("x.xml", xml))


def test_a_meka_split_counts_rows_that_were_skipped(write):
    rows = ((1, 0, 1, 0), (7, 0, 1, 1), (1, 1, 1, 1), (0, 0, 0, 0))
    with pytest.warns(SkippedRows, match="1 row skipped"):
        ds = sw.read(write("x.arff", arff("x: -C 1 -split 2", rows=rows)), bad_rows="skip")
    np.testing.assert_array_equal(ds.Y_train, [[1]])
    np.testing.assert_array_equal(ds.Y_test, [[1], [0]])


def test_numbers_that_no_file_can_mean_are_no_options(write):
    for option in ("-C", "-C 1 -split"):
        relation = f"x: {option} {'9' * 5000}"
        path = write("x.arff", arff(relation))
        if option == "-C":
            with pytest.raises(FormatError, match="nothing says which attributes are labels"):
                sw.read(path)
        else:
            assert sw.read(path).X_test is None


def test_a_count_may_be_numpys_and_an_argument_must_be_something(write):
    path = write("x.arff", arff("x"))
    assert sw.read(path, labels=np.int64(-1)).label_names == ("d",)
    with pytest.raises(DataError, match=r"a list of names or a count, got 1\.5"):
        sw.read(path, labels=1.5)
    with pytest.raises(DataError, match="no names in it"):
        sw.read(path, labels=[])


def test_label_files_may_be_packed_or_in_another_encoding(write):
    path = write("x.arff", arff("x", names=("a", "b", "c", "é")).encode("latin-1"))
    names = write("names.txt", "é\n".encode("latin-1"))
    assert sw.read(path, labels=names, encoding="latin-1").label_names == ("é",)
    packed = write("y.xml.gz", gzip.compress(b'<labels><label name="c"/></labels>'))
    assert sw.read(write("x.arff", arff("x")), labels=packed).label_names == ("c",)


@pytest.mark.parametrize("encoding", ["no-such", "shift_jis", "hex"])
def test_an_xml_file_in_an_unreadable_encoding_gets_a_sentence(write, encoding):
    xml = f'<?xml version="1.0" encoding="{encoding}"?><labels><label name="a"/></labels>'
    with pytest.raises(FormatError, match=r"x\.xml: not readable XML"):
        read_mulan_xml(write("x.xml", xml))


def test_a_name_twice_in_a_label_file_is_blamed_on_that_file(write):
    xml = write("y.xml", '<labels><label name="c"/><label name="c"/></labels>')
    with pytest.raises(DataError, match=r"y\.xml: 'c' is named twice"):
        sw.read(write("x.arff", arff("x")), labels=xml)
