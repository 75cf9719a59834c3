"""Whether few weights are better than small ones: what held-out rows say."""

import warnings
from dataclasses import replace

import numpy as np
from scipy import sparse

from setwise.calibration.cross_fit import TrainingRows
from setwise.models import BinaryRelevance
from setwise.models.strength import STRENGTHS
from setwise.pipeline import FitSettings, penalties
from setwise.pipeline.build import Choice
from setwise.pipeline.choose import judging_folds
from setwise.pipeline.judging import Judged
from setwise.pipeline.penalties import is_clearly_more, strength_of_few_weights


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


def usual(rows, folds, C=0.01):
    """What binary relevance says under squares."""
    choice = Choice("BinaryRelevance", {"C": C})
    models = [BinaryRelevance(C=C).fit(rows.X[fold.train], rows.Y[fold.train]) for fold in folds]
    return Judged.by(choice, models, rows.X, rows.Y, folds, "set_accuracy")


def asked(rows, folds, seconds=np.inf):
    return strength_of_few_weights(rows, folds, usual(rows, folds), FitSettings(), seconds)


def test_an_elastic_net_is_better_where_few_features_tell():
    assert asked(*rows_of(2)) in STRENGTHS
    assert asked(*rows_of(150)) is None


def test_nobody_asks_of_many_rows_nor_without_time(monkeypatch):
    rows, folds = rows_of(2)
    before = usual(rows, folds)
    monkeypatch.setattr(penalties, "bare_model", None)  # whoever fits something needs it
    assert strength_of_few_weights(rows, folds, before, FitSettings(), 0.0) is None
    other = replace(before, choice=Choice("CBM", {"C": 1.0}))
    assert strength_of_few_weights(rows, folds, other, FitSettings(), 9.0) is None
    monkeypatch.setattr(penalties, "MOST_ROWS", 100)
    assert strength_of_few_weights(rows, folds, before, FitSettings(), 9.0) is None


def test_what_has_not_converged_is_nobody_elses_matter(monkeypatch):
    def hasty(choice, settings):
        return BinaryRelevance("elastic", C=1e4, max_iter=1)

    monkeypatch.setattr(penalties, "bare_model", hasty)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(*rows_of(2))


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
    fit, near = BinaryRelevance.fit, penalties.best_C

    def watched_fit(self, X, Y, sample_weight=None, groups=None):
        seen.append(groups)
        return fit(self, X, Y, sample_weight, groups)

    def watched_near(*given, groups, **more):
        seen.append(groups)
        return near(*given, groups=groups, **more)

    before = usual(rows, folds)
    monkeypatch.setattr(penalties, "best_C", watched_near)
    monkeypatch.setattr(BinaryRelevance, "fit", watched_fit)
    monkeypatch.setattr(
        penalties, "is_clearly_more", lambda one, other, groups: bool(seen.append(groups))
    )
    strength_of_few_weights(rows, folds, before, FitSettings(), np.inf)
    np.testing.assert_array_equal(seen[0], groups[folds[0].train])
    for given, fold in zip(seen[-1 - len(folds) : -1], folds, strict=True):
        np.testing.assert_array_equal(given, groups[fold.train])
    np.testing.assert_array_equal(seen[-1], np.concatenate([groups[f.judges] for f in folds]))
