"""When EM ends, and what held-out rows say."""

from dataclasses import replace

import numpy as np
import pytest

from setwise import metrics
from setwise.data.split import holdout
from setwise.errors import DataError
from setwise.models.cbm import fit as fit_module
from setwise.models.cbm.em import Round
from setwise.models.cbm.stopping import best_rounds, has_peaked, has_settled


def test_rules_that_end_em():
    history = [Round(bound, 0, 0, 0, 0) for bound in (-100.0, -50.0, -49.9)]
    assert not has_settled(history[:1], 1e-2)
    assert not has_settled(history[:2], 1e-2)
    assert has_settled(history, 1e-2)
    assert not has_settled(history, 1e-3)
    assert not has_settled(history, None)
    scored = [replace(history[0], held_out=score) for score in (1.0, 3.0, 3.0, 2.0, 4.0)]
    assert [has_peaked(scored[:count], 2) for count in range(6)] == [0, 0, 0, 0, 1, 0]
    assert best_rounds([1.0, 3.0, 3.0, 2.0]) == 2


SCORES = {
    "set_accuracy": metrics.set_accuracy,
    "f1": metrics.f1,
    "hamming": lambda truth, decided: -metrics.hamming_loss(truth, decided),
}


@pytest.mark.parametrize("target", SCORES)
def test_the_curve_is_that_of_models_with_so_many_rounds(rows, model, target):
    X, Y = rows(seed=4)
    searching = model(stopping="target", target=target, patience=2, scale="none", max_iter=10)
    curve = searching.fit(X, Y).stopping_curve_
    train, test = holdout(Y, test_size=0.2)
    for rounds in (1, len(curve)):
        shorter = model(max_iter=rounds, target=target, scale="none").fit(X[train], Y[train])
        expected = SCORES[target](Y[test], shorter.predict(X[test]))
        np.testing.assert_allclose(curve[rounds - 1], expected, rtol=1e-9)


def test_held_out_log_likelihoods_are_those_of_models_with_so_many_rounds(rows, model, rounds):
    X, Y = rows(seed=5)
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    searching = model(stopping="held_out", validation_share=0.3, patience=99, scale="none")
    curve = searching.fit(X, Y, weight).stopping_curve_
    assert len(curve) == rounds
    counts = np.flatnonzero(weight)
    train, test = (counts[part] for part in holdout(Y[counts], test_size=0.3))
    for count in (1, rounds):
        shorter = model(max_iter=count, scale="none", allow_empty=True)
        log_prob = shorter.fit(X[train], Y[train], weight[train]).predict_dist(X[test])
        expected = np.average(log_prob.log_prob(Y[test]), weights=weight[test])
        np.testing.assert_allclose(curve[count - 1], expected, rtol=1e-5)


@pytest.mark.parametrize("stopping", ["held_out", "target"])
def test_all_rows_are_fitted_with_the_best_number_of_rounds(
    rows, model, same_predictions, stopping
):
    X, Y = rows(seed=0)
    searching = model(stopping=stopping, patience=2, max_iter=30, tol=0.5).fit(X, Y)
    curve = searching.stopping_curve_
    best = int(np.argmax(curve)) + 1
    assert 1 < best == len(curve) - 2 < 28  # patience ended it, neither at once nor late
    assert len(searching.history_) == best  # tol would have ended it before
    same_predictions(searching, model(max_iter=best).fit(X, Y), X)


def test_groups_stay_together(rows, model, monkeypatch):
    X, Y = rows()
    groups = np.repeat(np.arange(20), 6)
    X[:, 0] = groups
    seen = []
    original = fit_module.fit_mixture

    def noted(X, Y, weight, settings, **options):
        seen.append((X[:, 0], options["held_out"].X[:, 0]))
        return original(X, Y, weight, settings, **options)

    monkeypatch.setattr("setwise.models.cbm.search.fit_mixture", noted)
    model(stopping="held_out", scale="none").fit(X, Y, groups=groups)
    ((train, test),) = seen
    assert len(train) + len(test) == len(X)
    assert len(test) == 24
    assert set(train).isdisjoint(test)


def test_empty_sets_that_are_not_allowed_do_not_spoil_the_likelihood(rows, model):
    X, Y = rows()
    Y[::3] = 0
    curve = model(stopping="held_out", allow_empty=False).fit(X, Y).stopping_curve_
    assert np.isfinite(curve).all()


def test_the_bound_needs_no_curve_and_wrong_words_are_refused(rows, model):
    X, Y = rows()
    assert model().fit(X, Y).stopping_curve_ == []
    for options, message in [
        ({"stopping": "never"}, "stopping must be one of bound, held_out, target, not 'never'"),
        ({"patience": 0}, "patience is a whole number from 1 up"),
        ({"stopping": "held_out", "validation_share": 1.5}, "validation_share is between 0 and 1"),
        ({"stopping": "target", "target": "micro_f1"}, "need no tuning, not for 'micro_f1'"),
        ({"stopping": "target", "target": "f1_calibrated"}, "need no tuning"),
    ]:
        with pytest.raises(DataError, match=message):
            model(**options).fit(X, Y)
    with pytest.raises(DataError, match="only one row with weight"):
        model(stopping="held_out").fit(X[:1], Y[:1])
