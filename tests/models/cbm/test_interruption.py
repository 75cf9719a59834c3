"""Ctrl-C: what a fit keeps of what it has learnt."""

import numpy as np
import pytest
from scipy import sparse

from setwise.errors import NotConverged
from setwise.models.cbm import fit as fit_module
from setwise.models.cbm import in_turn
from setwise.models.cbm.fit import Fitted


@pytest.mark.parametrize("options", [{}, {"gate": "tree"}, {"sharing": "labels"}])
def test_ctrl_c_keeps_the_last_finished_round(model, same_predictions, stop_after, data, options):
    X, Y = data
    stop_after(3, KeyboardInterrupt())
    with pytest.warns(NotConverged, match="interrupted after 3 of at most 6 rounds"):
        interrupted = model(**options).fit(X, Y)
    stop_after(99, KeyboardInterrupt())
    same_predictions(interrupted, model(max_iter=3, **options).fit(X, Y), X)
    assert len(interrupted.history_) == 3


def test_ctrl_c_in_what_follows_a_round_keeps_that_round(rows, model):
    X, Y = rows()
    settings = model()._settings()

    def report(history):
        if len(history) == 2:
            raise KeyboardInterrupt

    with pytest.warns(NotConverged, match="after 2 of"):
        fitted = fit_module.fit_mixture(
            X.astype(np.float32), sparse.csr_array(Y), np.ones(len(X)), settings, report=report
        )
    assert fitted.was_interrupted
    assert len(fitted.history) == 2


def test_ctrl_c_before_the_first_round_leaves_the_earlier_fit(rows, model, stop_after):
    X, Y = rows()
    fitted = model().fit(X, Y)
    before = fitted.predict_proba(X)
    stop_after(0, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X[:50], Y[:50])
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


def test_ctrl_c_in_the_search_or_after_it_keeps_what_the_search_fitted(
    rows, model, rounds, stop_after
):
    X, Y = rows()
    searching = model(stopping="held_out", patience=rounds)
    stop_after(2, KeyboardInterrupt())
    with pytest.warns(NotConverged, match="after 2 of"):
        searching.fit(X, Y)
    assert len(searching.history_) == len(searching.stopping_curve_) == 2
    stop_after(rounds, KeyboardInterrupt())  # in the first round on all rows
    with pytest.warns(NotConverged, match="fitted without the held-out rows"):
        searching.fit(X, Y)
    assert len(searching.history_) == rounds
    assert searching.predict(X).shape == Y.shape


def test_ctrl_c_among_several_fits_keeps_the_finished_ones():
    first = Fitted(None, [])

    def interrupt():
        raise KeyboardInterrupt

    with pytest.warns(NotConverged, match="has the 2 mixtures"):
        assert in_turn.fit_in_turn([lambda: first] * 2 + [interrupt]) == ([first] * 2, False)
    stopped = first._replace(was_interrupted=True)
    assert in_turn.fit_in_turn([lambda: first, lambda: stopped, interrupt]) == (
        [first, stopped],
        False,
    )
    assert in_turn.fit_in_turn([lambda: first]) == ([first], True)
    with pytest.raises(KeyboardInterrupt):
        in_turn.fit_in_turn([interrupt])
