from __future__ import annotations

import numpy as np
import pytest

from setwise.data.balance import fold_balance


def by_the_book(Y, folds):
    """LD, ED and the empty pairs as the paper writes them, one number at a time."""
    n, L = Y.shape
    gaps = []
    for label in range(L):
        overall = Y[:, label].sum() / (n - Y[:, label].sum())
        for fold in folds:
            positives = Y[fold, label].sum()
            gaps.append(abs(positives / (len(fold) - positives) - overall))
    sizes = [abs(len(fold) - n / len(folds)) for fold in folds]
    empty = sum(Y[fold, label].sum() == 0 for fold in folds for label in range(L))
    return np.mean(gaps), np.mean(sizes), empty


@pytest.mark.parametrize("seed", range(3))
def test_measures_agree_with_their_definition(seed):
    random = np.random.default_rng(seed)
    Y = (random.random((60, 5)) < 0.2).astype(int)
    folds = np.split(random.permutation(60), [15, 32])
    balance = fold_balance(Y, folds)
    label_distribution, examples, empty_pairs = by_the_book(Y, folds)
    np.testing.assert_allclose(balance.label_distribution, label_distribution, rtol=1e-12)
    np.testing.assert_allclose(balance.examples, examples, rtol=1e-12)
    assert balance.empty_pairs == empty_pairs


def test_labels_that_do_not_vary_are_left_out():
    Y = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1], [1, 0, 0]])
    folds = [np.array([0, 1]), np.array([2, 3])]
    assert fold_balance(Y, folds) == fold_balance(Y[:, 2:], folds)
    assert fold_balance(Y[:, :2], folds).label_distribution == 0


def test_a_label_that_fills_a_fold_is_infinitely_uneven():
    Y = np.array([[1], [1], [0], [0]])
    assert fold_balance(Y, [np.array([0, 1]), np.array([2, 3])]).label_distribution == np.inf
