"""Whether few weights are better than small ones: what held-out rows say."""

import numpy as np
import pytest
from scipy import sparse

from setwise.calibration.cross_fit import TrainingRows
from setwise.pipeline import FitSettings, penalties
from setwise.pipeline.choose import judging_folds
from setwise.pipeline.penalties import few_weights_are_better, is_clearly_more


def rows_of(n_that_tell, n=120, d=150, seed=0):
    """Five labels, each of which so many features tell."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    weights = np.zeros((d, 5))
    for label in range(5):
        weights[random.permutation(d)[:n_that_tell], label] = random.normal(size=n_that_tell)
    scores = X @ weights / np.sqrt((weights**2).sum(axis=0))
    Y = sparse.csr_array((scores + 0.2 * random.normal(size=scores.shape) > 0).astype(np.int8))
    return TrainingRows(X, Y, None, None), judging_folds(Y, None, seed)


@pytest.mark.parametrize(("n_that_tell", "is_better"), [(2, True), (150, False)])
def test_an_elastic_net_is_better_where_few_features_tell(n_that_tell, is_better):
    rows, folds = rows_of(n_that_tell)
    assert few_weights_are_better(rows, folds, 0.01, FitSettings()) == is_better


def test_of_many_rows_nobody_asks(monkeypatch):
    rows, folds = rows_of(2)
    monkeypatch.setattr(penalties, "MOST_ROWS", 100)
    monkeypatch.setattr(penalties, "bare_model", None)  # whoever fits something needs it
    assert not few_weights_are_better(rows, folds, 0.01, FitSettings())


def test_a_gain_is_clear_beyond_two_standard_errors_of_rows_or_groups():
    random = np.random.default_rng(0)
    luck = random.normal(size=400)
    luck = (luck - luck.mean()) / luck.std(ddof=1)
    for gain, is_clear in ((0.11, True), (0.09, False), (-0.3, False)):  # one of which is 0.05
        assert is_clearly_more(luck + gain, np.zeros(400), None) == is_clear
    copies = np.repeat(np.arange(100), 4)  # four of each row are as much evidence as one
    assert is_clearly_more(np.repeat(luck[:100], 4) + 0.15, np.zeros(400), None)
    assert not is_clearly_more(
        np.repeat(luck[:100] - luck[:100].mean(), 4) + 0.15, np.zeros(400), copies
    )
    impossible = np.full(400, -np.inf)
    assert not is_clearly_more(impossible, impossible, None)


def test_groups_stay_together(monkeypatch):
    rows, _ = rows_of(2)
    groups, seen = np.arange(120) // 3, []
    rows = TrainingRows(rows.X, rows.Y, None, groups)
    folds = judging_folds(rows.Y, groups, 0)
    monkeypatch.setattr(
        penalties, "is_clearly_more", lambda one, other, groups: bool(seen.append(groups))
    )
    few_weights_are_better(rows, folds, 0.01, FitSettings())
    np.testing.assert_array_equal(seen[0], np.concatenate([groups[f.judges] for f in folds]))
