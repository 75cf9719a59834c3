"""What EM has learnt, copied and put back."""

import numpy as np
import pytest
from scipy import sparse

from setwise.learners.workers import Workers
from setwise.models.cbm.fit import as_mixture, start
from setwise.models.cbm.rows import TrainingRows

LEARNERS = [
    {},
    {"gate": "tree"},
    {"learner": "elastic"},
    {"learner": "boosting"},
    {"gate": "boosting"},
    {"sharing": "labels"},
    {"learner": "boosting", "sharing": "labels"},
]


@pytest.fixture(params=LEARNERS, ids=str)
def em(request, rows, model):
    """EM after its first round."""
    X, Y = rows()
    training = TrainingRows(X.astype(np.float32), sparse.csr_array(Y), np.ones(len(X)))
    with Workers(1) as workers:
        em = start(training, model(**request.param)._settings(), workers)
        em.round()
        yield em


def assert_same_bounds(found, expected, em):
    """To the last digit, except of trees, whose scores are then added up in another order."""
    has_trees = "Boosted" in str([type(learner) for learner in em.learners()])
    np.testing.assert_allclose(found, expected, rtol=1e-12 if has_trees else 0)


def test_the_state_stays_while_em_goes_on(em):
    state = em.state()
    expected = em.round().bound
    em.round()
    em.restore(state)
    assert_same_bounds(em.round().bound, expected, em)


def test_em_goes_back_to_a_state_again_and_again(em):
    state = em.state()
    expected = [em.round().bound for _ in range(2)]
    for _ in range(3):
        em.restore(state)
        assert_same_bounds([em.round().bound for _ in range(2)], expected, em)
        assert len(em.history) == 3


@pytest.mark.parametrize("turned", [False, True])
def test_a_mixture_stays_as_it_is_while_em_goes_on(em, turned):
    X, L = em.training.X, em.training.n_labels
    mixture = as_mixture(em, np.eye(X.shape[1]) if turned else None)

    def said():
        Z = np.empty((len(X), len(mixture.components_), L))
        mixture.fill_logits(X, Z)
        return np.dstack([Z, mixture.log_weights(X)])

    before = said()
    bounds = [em.round().bound for _ in range(3)]
    assert bounds[-1] != bounds[0]
    np.testing.assert_array_equal(said(), before)
