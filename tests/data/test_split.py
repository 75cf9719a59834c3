from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier

from setwise.data.balance import fold_balance
from setwise.data.split import IterativeHoldout, IterativeKFold, holdout
from setwise.errors import DataError


def some_labels(n=200, L=6, seed=0):
    return (np.random.default_rng(seed).random((n, L)) < 0.25).astype(int)


# The first example may have to compile.
unhurried = settings(deadline=None)

label_matrices = st.tuples(st.integers(4, 30), st.integers(1, 5)).flatmap(
    lambda shape: arrays.arrays(np.int8, shape, elements=st.integers(0, 1))
)


@st.composite
def grouped_labels(draw):
    Y = draw(label_matrices)
    n = len(Y)
    groups = draw(arrays.arrays(np.int64, n, elements=st.integers(0, 6)))
    groups[:4] = np.arange(4)
    return Y, groups


@unhurried
@given(label_matrices, st.integers(2, 4), st.integers(0, 3))
def test_folds_partition_the_rows_evenly(Y, n_splits, seed):
    splits = list(IterativeKFold(n_splits, random_state=seed).split(None, Y))
    tests = [test for _, test in splits]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(Y)))
    for train, test in splits:
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(len(Y)))
        assert len(train) + len(test) == len(Y)
    sizes = list(map(len, tests))
    assert max(sizes) - min(sizes) <= 1


@unhurried
@given(grouped_labels(), st.integers(2, 4))
def test_folds_keep_groups_together(labels, n_splits):
    Y, groups = labels
    for train, test in IterativeKFold(n_splits).split(None, Y, groups):
        assert len(test) > 0
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == len(Y)


@unhurried
@given(grouped_labels(), st.floats(0.01, 0.99))
def test_holdouts_keep_groups_together(labels, test_size):
    Y, groups = labels
    train, test = holdout(Y, test_size=test_size, groups=groups)
    assert len(train) > 0
    assert len(test) > 0
    assert not set(groups[train]) & set(groups[test])
    np.testing.assert_array_equal(np.union1d(train, test), np.arange(len(Y)))


@unhurried
@given(label_matrices, st.floats(0.01, 0.99))
def test_a_holdout_has_the_size_asked(Y, test_size):
    train, test = holdout(Y, test_size=test_size)
    assert len(test) == min(int(np.ceil(test_size * len(Y))), len(Y) - 1)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(Y)))


@unhurried
@given(label_matrices)
def test_groups_of_one_row_are_as_good_as_rows(Y):
    tests = [test for _, test in IterativeKFold(2).split(None, Y, np.arange(len(Y)))]
    assert abs(len(tests[0]) - len(tests[1])) <= 1


def test_each_fold_gets_a_positive_of_a_label_that_has_enough():
    Y = np.zeros((50, 3), dtype=int)
    Y[:5, 0] = Y[3:10, 1] = Y[10:20, 2] = 1
    for _, test in IterativeKFold(5).split(None, Y):
        assert (Y[test].sum(axis=0) >= 1).all()


def test_rows_without_labels_are_spread_too():
    Y = np.zeros((30, 2), dtype=int)
    Y[:12, 0] = 1
    for _, test in IterativeKFold(3).split(None, Y):
        assert (Y[test].sum(axis=1) == 0).sum() == 6


def test_a_label_of_one_row_goes_to_one_fold():
    Y = np.eye(6, dtype=int)
    sizes = [len(test) for _, test in IterativeKFold(3).split(None, Y)]
    assert sizes == [2, 2, 2]


def test_same_seed_same_folds():
    Y = some_labels()
    for first, second in zip(
        IterativeKFold(random_state=3).split(None, Y),
        IterativeKFold(random_state=3).split(None, Y),
        strict=True,
    ):
        np.testing.assert_array_equal(first[1], second[1])
    other = next(IterativeKFold(random_state=4).split(None, Y))[1]
    assert not np.array_equal(other, next(IterativeKFold(random_state=3).split(None, Y))[1])


@pytest.mark.parametrize(
    "seed", [None, np.int64(3), np.random.RandomState(0), np.random.default_rng(0)], ids=type
)
def test_seeds_of_every_kind(seed):
    train, test = holdout(some_labels(), random_state=seed)
    assert (len(train), len(test)) == (160, 40)


def test_repeated_holdouts_differ():
    splits = list(IterativeHoldout(0.3, n_splits=3).split(None, some_labels()))
    assert len(splits) == IterativeHoldout(0.3, n_splits=3).get_n_splits() == 3
    assert not np.array_equal(splits[0][1], splits[1][1])


def test_labels_of_every_kind_give_the_same_folds():
    Y = some_labels()
    expected = holdout(Y)[1]
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    for kind in (sparse.csr_array(Y), sparse.csc_matrix(Y), pd.DataFrame(Y).add_prefix("l"), sets):
        np.testing.assert_array_equal(holdout(kind)[1], expected)


def test_scikit_learn_takes_it_as_cv():
    Y = some_labels(n=120, L=3)
    X = Y + np.random.default_rng(0).normal(size=Y.shape)
    model = MultiOutputClassifier(LogisticRegression())
    scores = cross_val_score(model, X, Y, cv=IterativeKFold(4))
    assert scores.shape == (4,)
    groups = np.arange(120) // 3
    grid = {"estimator__C": [0.1, 1.0]}
    search = GridSearchCV(model, grid, cv=IterativeHoldout(0.25, n_splits=2))
    assert search.fit(X, Y, groups=groups).n_splits_ == 2


@pytest.mark.parametrize("splitter", [IterativeKFold(3), IterativeHoldout(0.3, n_splits=3)])
def test_groups_are_routed_to_it(splitter):
    """Where scikit-learn routes metadata, only what is asked for arrives."""
    Y = some_labels(n=60, L=3)
    X = np.column_stack([Y, np.arange(60)])
    groups = np.random.default_rng(0).integers(0, 12, size=60)
    seen = []

    class Spy(MultiOutputClassifier):
        def fit(self, X, Y):
            seen.append(set(X[:, -1].astype(int)))
            return super().fit(X, Y)

    model = Spy(LogisticRegression(max_iter=1000))
    with sklearn.config_context(enable_metadata_routing=True):
        cross_val_score(model, X, Y, cv=splitter, params={"groups": groups})
        search = GridSearchCV(model, {"estimator__C": [0.1]}, cv=splitter, refit=False)
        search.fit(X, Y, groups=groups)
    expected = [set(train) for train, _ in splitter.split(X, Y, groups)]
    assert seen == expected * 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: IterativeKFold(1), "n_splits is a whole number from 2 up, not 1"),
        (lambda: IterativeKFold(2.5), "not 2.5"),
        (lambda: IterativeHoldout(n_splits=0), "n_splits is a whole number from 1 up"),
        (lambda: holdout(some_labels(), test_size=0), "between 0 and 1, not 0"),
        (lambda: holdout(some_labels(), test_size=50), "divide a number of rows"),
        (
            lambda: next(IterativeKFold(5).split(None, np.eye(4))),
            "at least 5 rows, but there are 4",
        ),
        (lambda: holdout(np.eye(4), groups=[1] * 4), "at least 2 groups, but there are 1"),
        (lambda: holdout(np.eye(4), groups=[1, 2, 3]), "groups has 3 rows but Y has 4"),
        (lambda: next(IterativeKFold(2).split([1], np.eye(4))), "X has 1 rows but Y has 4"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call()


@pytest.mark.data
@pytest.mark.parametrize("name", ["yeast", "bibtex"])
def test_as_balanced_as_the_package(name):
    from iterstrat.ml_stratifiers import MultilabelStratifiedKFold

    from setwise import load_dataset

    dataset = load_dataset(name)
    Y = sparse.vstack([sparse.csr_array(dataset.Y_train), sparse.csr_array(dataset.Y_test)])
    Y = Y.toarray()
    for seed in range(2):
        peer = MultilabelStratifiedKFold(10, shuffle=True, random_state=seed)
        theirs = fold_balance(Y, [test for _, test in peer.split(Y, Y)])
        splitter = IterativeKFold(10, random_state=seed)
        ours = fold_balance(Y, [test for _, test in splitter.split(Y, Y)])
        assert ours.label_distribution <= theirs.label_distribution
        assert ours.examples <= theirs.examples
        assert ours.empty_pairs <= theirs.empty_pairs
