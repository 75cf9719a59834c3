"""Which rows teach and which test."""

import numpy as np
import pytest
from scipy import sparse

from setwise.data import Dataset, load_dataset
from setwise.errors import DataError
from setwise.experiments import protocol
from setwise.experiments.encoding import as_numbers
from setwise.experiments.measuring import run_once
from setwise.experiments.protocol import PUBLISHED, RANDOM, Protocol, folds, given_splits, part_of
from setwise.experiments.runner import run_tasks
from setwise.experiments.sources import load
from setwise.experiments.unit import units_of


def test_folds_test_each_row_of_both_parts_once(made_data):
    parts = [part_of("tiny", folds(4), 1, number) for number in range(4)]
    whole = load_dataset("tiny")
    X = sparse.vstack([whole.X_train, whole.X_test]).toarray()
    tested = np.concatenate([part.X_test.toarray() for part in parts])
    assert sorted(map(tuple, tested)) == sorted(map(tuple, X))
    for part in parts:
        taught = set(map(tuple, part.X_train.toarray()))
        assert len(taught) == 90
        assert not taught & set(map(tuple, part.X_test.toarray()))
    other = part_of("tiny", folds(4), 2, 0)
    assert (other.X_test.toarray() != parts[0].X_test.toarray()).any()


def test_a_random_split_is_of_all_rows_and_of_its_seed(made_data):
    whole = load_dataset("tiny")
    X = sparse.vstack([whole.X_train, whole.X_test]).toarray()
    parts = [part_of("tiny", RANDOM, seed, None) for seed in (0, 0, 1)]
    tested = [part.X_test.toarray() for part in parts]
    assert len(tested[0]) == len(X) // 4
    rows = np.concatenate([parts[0].X_train.toarray(), tested[0]])
    assert sorted(map(tuple, rows)) == sorted(map(tuple, X))
    np.testing.assert_array_equal(tested[0], tested[1])
    assert set(map(tuple, tested[0])) != set(map(tuple, tested[2]))
    assert RANDOM.numbers == (None,)
    assert "random split" in str(RANDOM)


def test_rows_keep_their_labels_and_groups():
    X = np.arange(12.0)[:, None]
    Y = (np.arange(12) % 2)[:, None]
    data = Dataset("d", X[:8], Y[:8], ("a",), X_test=X[8:], Y_test=Y[8:],
                   groups_train=np.arange(8) // 2, groups_test=np.arange(4) // 2 + 4)  # fmt: skip
    split = protocol.with_rows(data, np.array([0, 9]), np.array([3, 11]))
    np.testing.assert_array_equal(split.X_train.ravel(), [0, 9])
    np.testing.assert_array_equal(split.Y_test.ravel(), [1, 1])
    np.testing.assert_array_equal(split.groups_train, [0, 4])


def test_published_and_given_splits(made_data, monkeypatch):
    assert part_of("tiny", PUBLISHED, 0, None).Y_test.shape[0] == 60
    asked = []
    monkeypatch.setattr(protocol, "load", lambda name, split=None: asked.append((name, split)))
    part_of("tiny", given_splits(5), 0, 3)
    assert asked == [("tiny", 3)]
    assert given_splits(5).numbers == (0, 1, 2, 3, 4)
    with pytest.raises(DataError, match="a protocol is published, folds, splits, random, not 'x'"):
        Protocol("x")


def test_a_folder_or_a_file_of_one_s_own(small, tmp_path):
    (tmp_path / "tiny/tiny-test.svm").unlink()
    part = part_of(str(tmp_path / "tiny"), PUBLISHED, 0, None)
    assert (part.Y_train.shape[0], part.Y_test.shape[0]) == (45, 15)
    tags = ("b", '"a,b"')
    lines = [f"{n % 2}.5,some words {n % 3},{tags[n % 2]}" for n in range(40)]
    (tmp_path / "mine.csv").write_text("\n".join(["size,text,tags", *lines]))
    name = f"{tmp_path}/mine.csv@tags"
    assert load(name).label_names == ("a", "b")
    found = run_tasks([(small, unit) for unit in units_of(small, [name])])
    assert [record["status"] for record in found] == ["done", "done"]
    assert found[0]["result"]["measured"]["f1"]["instance_f1"] == 1  # the size tells it all
    with pytest.raises(DataError, match="there is no file or folder"):
        load("./nowhere")


def test_texts_become_numbers_by_what_training_rows_have(small):
    texts = ["red car", "blue car", "red bus", "blue bus"] * 5
    Y = np.array([[1, 0], [0, 1]] * 10)
    data = Dataset("t", texts, Y, ("red", "blue"), X_test=["red green green"], Y_test=Y[:1])
    encoded = as_numbers(data)
    assert encoded.X_train.shape == (20, 4)
    assert encoded.X_test.nnz == 1  # green was never seen
    assert run_once(small, small.models[0], data, 0)["measured"]["f1"]["set_accuracy"] == 1
