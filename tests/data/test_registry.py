import gzip
import re

import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.data.labels import LabelSpace
from setwise.data.registry import KNOWN
from setwise.errors import DataError, DatasetNotFound


def readme_table(folder):
    """From the folder's README: name -> (N, D, L, cardinality, sets, split), as printed."""
    rows = {}
    for line in (folder / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[2].count("/") == 4 and cells[0] != "folder":
            rows[cells[0]] = (*cells[2].split("/"), cells[3])
    return rows


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_every_data_set_has_the_statistics_of_the_readme(name, data_folder):
    n, d, n_labels, cardinality, n_sets, split = readme_table(data_folder)[name]
    dataset = sw.load_dataset(name)
    facts = dataset.statistics()
    decimals = len(cardinality.partition(".")[2])
    assert facts.n_rows == int(n)
    assert facts.n_features == (None if d == "-" else int(d))
    assert facts.n_labels == int(n_labels) == len(dataset.label_names)
    assert f"{facts.cardinality:.{decimals}f}" == cardinality
    assert facts.n_distinct_sets == int(n_sets)
    if match := re.match(r"(\d+)/(?:(\d+)/)?(\d+)", split):
        assert dataset.Y_train.shape[0] == int(match[1])
        assert dataset.Y_test.shape[0] == int(match[3])
        assert (dataset.Y_val is None) == (match[2] is None)
        assert match[2] is None or dataset.Y_val.shape[0] == len(dataset.X_val) == int(match[2])
    elif split == "none":
        assert dataset.X_test is None
        assert dataset.Y_test is None


@pytest.mark.data
def test_the_readme_and_the_registry_name_the_same_data_sets(data_folder):
    assert set(readme_table(data_folder)) == set(KNOWN) == set(sw.list_datasets())


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_what_is_listed_without_reading_is_true(name):
    known, dataset = KNOWN[name], sw.load_dataset(name)
    facts = dataset.statistics()
    assert (known.n_rows, known.n_features, known.n_labels, known.n_distinct_sets) == (
        facts.n_rows,
        facts.n_features,
        facts.n_labels,
        facts.n_distinct_sets,
    )
    assert known.cardinality == round(facts.cardinality, 2)
    assert known.n_train == dataset.Y_train.shape[0]
    assert known.n_test == (None if dataset.Y_test is None else dataset.Y_test.shape[0])
    if dataset.feature_names is not None and facts.n_features is not None:
        assert len(dataset.feature_names) == facts.n_features


@pytest.mark.data
def test_details_of_the_data_sets():
    medical = sw.load_dataset("medical")
    assert (np.asarray(medical.Y_train.sum(axis=0)) == 0).sum() == 7
    delicious = sw.load_dataset("delicious")
    assert "TAG_m'usica" in delicious.label_names
    assert delicious.statistics().n_empty_rows == 14
    flags = sw.load_dataset("flags")
    assert flags.X_train[0, :3].tolist() == [4, 1, 164]
    assert flags.categories["landmass"] == ("1", "2", "3", "4", "5", "6")
    goemotions = sw.load_dataset("goemotions")
    assert goemotions.X_train[0].startswith("My favourite food")
    assert goemotions.labels.decode(goemotions.Y_train[:1]) == [("neutral",)]


@pytest.mark.data
def test_published_splits_of_the_yahoo_sets_differ():
    first, last = (sw.load_dataset("yahoo_arts", split=split) for split in (0, 4))
    assert first.X_train.sum() == 191_975  # one count a token
    assert first.Y_train.shape == last.Y_train.shape
    assert (first.Y_train != last.Y_train).nnz > 0
    with pytest.raises(DataError, match="splits 0 to 4, got split=5"):
        sw.load_dataset("yahoo_arts", split=5)
    with pytest.raises(DataError, match="one published split"):
        sw.load_dataset("scene", split=1)


@pytest.mark.data
def test_dense_files_stay_dense_and_sparse_files_sparse():
    scene, bibtex = sw.load_dataset("scene"), sw.load_dataset("bibtex")
    assert isinstance(scene.X_train, np.ndarray)
    assert isinstance(scene.Y_train, np.ndarray)
    for matrix in (bibtex.X_train, bibtex.Y_train):
        assert isinstance(matrix, sparse.csr_array)
        assert matrix.indices.dtype == np.int32


def test_debtags_is_bundled_with_names_and_groups(monkeypatch):
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    assert sw.list_datasets() == ["debtags"]
    debtags = sw.load_dataset("debtags")
    assert debtags.X_train.shape == (17856, 7149)
    assert len(debtags.row_names_test) == len(debtags.groups_test) == 5810
    assert not set(debtags.groups_train) & set(debtags.groups_test)
    assert debtags.labels == LabelSpace(debtags.label_names)
    assert repr(debtags) == "Dataset('debtags': train 17,856, test 5,810 rows, 507 labels)"


def test_a_folder_of_ones_own_loads_by_its_name(write, tmp_path):
    write("mine/mine-train.svm", "0 1:1\n1 2:1\n")
    write("mine/mine-test.svm", "0,1 3:1\n")
    mine = sw.load_dataset("mine", data_home=tmp_path)
    assert mine.X_train.shape == (2, 3)  # as wide as the wider part
    assert mine.X_test.shape == (1, 3)
    assert sw.list_datasets(tmp_path) == ["debtags", "mine"]


def test_a_missing_name_is_answered_with_those_that_exist(monkeypatch):
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    with pytest.raises(DatasetNotFound, match=r"\$SETWISE_DATA \(which is not set\).*: debtags"):
        sw.load_dataset("no-such-data")


@pytest.mark.parametrize("name", ["../scene", "", "a/b", ".hidden", 7])
def test_a_name_is_no_path(name):
    with pytest.raises(DataError, match="letters, digits"):
        sw.load_dataset(name)


def test_parts_that_do_not_belong_together_are_refused(write, tmp_path):
    write(
        "odd/odd-train.arff", "@relation r\n@attribute x numeric\n@attribute y {0,1}\n@data\n1,1\n"
    )
    write(
        "odd/odd-test.arff", "@relation r\n@attribute z numeric\n@attribute y {0,1}\n@data\n1,1\n"
    )
    write("odd/odd.xml", '<labels><label name="y"/></labels>')
    with pytest.raises(DataError, match="different features"):
        sw.load_dataset("odd", data_home=tmp_path)


def test_an_empty_folder_gets_a_sentence(tmp_path):
    (tmp_path / "void").mkdir()
    with pytest.raises(DataError, match="no file here that setwise knows"):
        sw.load_dataset("void", data_home=tmp_path)


def test_parts_may_be_packed_differently_and_use_different_columns(write, tmp_path):
    write("mine/mine-train.svm", "0 1:1\n2 2:1\n")
    write("mine/mine-test.svm.gz", gzip.compress(b"0,1 3:1\n"))
    mine = sw.load_dataset("mine", data_home=tmp_path)
    assert mine.Y_train.shape == (2, 3)
    assert mine.Y_test.shape == (1, 3)
    assert mine.X_train.shape[1] == mine.X_test.shape[1] == 3


def test_packed_text_with_and_without_its_other_parts(write, tmp_path):
    write("talk/labels.txt", "joy\nfear\n")
    write("talk/train.tsv.gz", gzip.compress(b"hello\t1\n"))
    talk = sw.load_dataset("talk", data_home=tmp_path)
    assert (talk.X_train, talk.X_test, talk.X_val) == (["hello"], None, None)
    write("talk/dev.tsv", "hi\t0\n")
    assert sw.load_dataset("talk", data_home=tmp_path).X_val == ["hi"]


def test_several_files_that_could_be_meant_are_refused(write, tmp_path):
    text = "@relation 'r: -C 1'\n@attribute y {0,1}\n@attribute x numeric\n@data\n1,1\n"
    write("two/one.arff", text)
    write("two/other.arff", text)
    with pytest.raises(DataError, match=r"one\.arff or other\.arff\?"):
        sw.load_dataset("two", data_home=tmp_path)


def test_names_and_groups_must_be_as_many_as_rows(write, tmp_path):
    write("mine/mine-train.svm", "0 1:1\n1 2:1\n")
    write("mine/sources-train.txt", "only one\n")
    with pytest.raises(DataError, match="groups_train has 1 rows but Y_train has 2"):
        sw.load_dataset("mine", data_home=tmp_path)


def test_a_folder_that_is_not_there_is_not_an_empty_one(tmp_path):
    with pytest.raises(DataError, match="is not a folder"):
        sw.list_datasets(tmp_path / "none")


def test_data_sets_can_be_compared_and_kept_in_sets():
    debtags = sw.load_dataset("debtags")
    assert debtags == debtags
    assert len({debtags, debtags}) == 1


@pytest.mark.data
def test_a_split_is_a_number():
    with pytest.raises(DataError, match="splits 0 to 4, got split='0'"):
        sw.load_dataset("yahoo_arts", split="0")
