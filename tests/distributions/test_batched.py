"""Answers put together from batches are those of the whole."""

import numpy as np
import pytest
from scipy import sparse

from setwise.decisions import decision_for
from setwise.distributions import BernoulliMixture
from setwise.distributions.batched import Batched
from setwise.errors import LabelMismatch


def mixtures(n=11, K=3, L=5, seed=0, allow_empty=True):
    random = np.random.default_rng(seed)
    log_pi = np.log(random.dirichlet(np.ones(K), n))
    logits = random.normal(size=(n, K, L)) * 3
    whole = BernoulliMixture(log_pi, logits, allow_empty)
    made = []

    def make(rows):
        made.append(len(rows))
        return whole.rows(rows)

    return whole, Batched(make, np.arange(n), L, 4, allow_empty), made


@pytest.mark.parametrize("allow_empty", [True, False])
def test_every_answer_is_that_of_the_whole(allow_empty):
    whole, lazy, made = mixtures(allow_empty=allow_empty)
    Y = np.random.default_rng(1).integers(0, 2, (11, 5))
    Y[:, 0] = 1
    answers = {
        "log_prob": lambda d: d.log_prob(Y),
        "sparse log_prob": lambda d: d.log_prob(sparse.csr_array(Y)),
        "marginals": lambda d: d.marginals(),
        "mode": lambda d: d.mode()[1],
        "certified": lambda d: d.mode_certified().log_prob,
        "top": lambda d: d.top(3)[1],
        "sizes": lambda d: d.size_marginals(3),
        "size distribution": lambda d: d.size_distribution(3),
        "correlation": lambda d: d.correlation(),
        "support": lambda d: d.on_support(np.eye(5, dtype=int)).marginals(),
        "lightened": lambda d: d.lightened(0.1)[0].marginals(),
        "lost": lambda d: d.lightened(0.1)[1],
        "f1": lambda d: decision_for("f1").decide(d),
        "rows": lambda d: d.rows([3, 1]).marginals(),
        "many rows": lambda d: d.rows(slice(1, 9)).marginals(),
        "one row": lambda d: d[-1].marginals(),
    }
    for name, answer in answers.items():
        np.testing.assert_allclose(answer(lazy), answer(whole), rtol=1e-9, err_msg=name)
    assert max(made) <= 4


def test_samples_are_seeded():
    _, lazy, _ = mixtures()
    first, second = (lazy.sample(50, random_state=3) for _ in range(2))
    assert first.shape == (50, 11, 5)
    np.testing.assert_array_equal(first, second)


def test_no_rows_are_no_answers():
    _, lazy, _ = mixtures()
    assert lazy.rows(slice(0, 0)).marginals().shape == (0, 5)


def test_labels_of_another_shape_are_refused():
    _, lazy, _ = mixtures()
    with pytest.raises(LabelMismatch, match="one label set a row"):
        lazy.log_prob(np.ones((2, 5), int))
