"""Small data sets of the tests' own; results go to a folder of the test's own."""

import numpy as np
import pytest

from setwise.data import write_svmlight
from setwise.experiments import entries
from setwise.experiments.entry import Entry, ModelSpec


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def rows_of(n, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, (2 * X @ np.eye(3) + random.normal(size=(n, 3)) > 0).astype(int)


@pytest.fixture
def made_data(tmp_path, monkeypatch):
    """Two data sets, ``tiny`` and ``other``, of sixty rows a part."""
    for number, name in enumerate(("tiny", "other")):
        (tmp_path / name).mkdir()
        for seed, part in enumerate(("train", "test")):
            rows = rows_of(60, 2 * number + seed)
            write_svmlight(tmp_path / f"{name}/{name}-{part}.svm", *rows)
    monkeypatch.setenv("SETWISE_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def small(made_data, monkeypatch):
    """An entry with two models on both data sets."""
    entry = Entry(
        name="small",
        title="A small table",
        datasets=("tiny", "other"),
        models=(
            ModelSpec("BR", "BinaryRelevance"),
            ModelSpec("weak", "BinaryRelevance", {"C": 1e-6}),
        ),
        decisions=("set_accuracy", "f1"),
        published={("tiny", "BR", "set_accuracy"): (0.01, "Nobody 1900, Table 1")},
        notes="Only a test.",
        quick={"datasets": ("tiny",)},
    )
    monkeypatch.setitem(entries.ENTRIES, "small", entry)
    return entry
