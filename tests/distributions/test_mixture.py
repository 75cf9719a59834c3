"""Bernoulli mixtures against the list of all sets, and what must not change their answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from setwise.distributions import BernoulliMixture, Product
from setwise.errors import DataError, LabelMismatch, NotConverged

KINDS = ["plain", "ties", "twins", "absent", "extreme", "empty", "single"]


@pytest.fixture(params=[True, False], ids=["empty allowed", "not empty"])
def allow_empty(request):
    return request.param


@pytest.mark.parametrize("L", [1, 2, 5, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_agrees_with_the_list_of_all_sets(
    draw_mixtures, enumerate_mixture, kind, L, allow_empty
):
    log_pi, logits = draw_mixtures(L, kind, L=L)
    dist = BernoulliMixture(log_pi, logits, allow_empty)
    truth = enumerate_mixture(log_pi, logits, allow_empty)
    close = {"rtol": 1e-9, "atol": 1e-12}

    n, m = dist.n_rows, len(truth.sets)
    every_set = dist[np.repeat(np.arange(n), m)].log_prob(np.tile(truth.sets, (n, 1)))
    log_prob = every_set.reshape(n, m)
    np.testing.assert_allclose(log_prob, truth.log_prob, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.exp(log_prob).sum(axis=1), np.ones(n), **close)
    np.testing.assert_allclose(dist.marginals(), truth.marginals(), **close)
    for S in (1, L, L + 2):
        np.testing.assert_allclose(dist.size_marginals(S), truth.size_marginals(S), **close)
        np.testing.assert_allclose(dist.size_distribution(S), truth.size_distribution(S), **close)
    # Where a label hardly varies a correlation divides two vanishing numbers.
    loose = 1e-7 if kind in ("extreme", "empty") else 1e-9
    np.testing.assert_allclose(dist.correlation(), truth.correlation(), rtol=loose, atol=loose)

    Y, mode = dist.mode()
    np.testing.assert_allclose(mode, truth.best(1)[:, 0], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(truth.log_prob_of(Y), mode, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("k", [1, 2, 7, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_top_sets_agree_with_the_sorted_list(
    draw_mixtures, enumerate_mixture, kind, k, allow_empty
):
    log_pi, logits = draw_mixtures(k, kind)
    sets, log_prob = BernoulliMixture(log_pi, logits, allow_empty).top(k)
    truth = enumerate_mixture(log_pi, logits, allow_empty)
    np.testing.assert_allclose(log_prob, truth.best(k), rtol=1e-11, atol=1e-11)
    found = log_prob > -np.inf
    assert sets.dtype == np.int8
    np.testing.assert_allclose(
        truth.log_prob_of(sets)[found], log_prob[found], rtol=1e-11, atol=1e-11
    )
    assert not sets[~found].any()
    for row in range(len(sets)):
        listed = sets[row, found[row]]
        assert len(np.unique(listed, axis=0)) == len(listed)


def test_mode_of_ten_thousand_random_mixtures(enumerate_mixture):
    random = np.random.default_rng(0)
    for number in range(100):
        n, K, L = 100, random.integers(1, 9), random.integers(1, 13)
        spread = random.choice([0.2, 1.0, 3.0, 10.0])
        logits = random.normal(-0.3, spread, (n, K, L))
        if number % 4 == 0:  # ties
            logits = np.round(logits)
        gate = random.normal(0, random.choice([0.0, 1.0, 5.0]), (n, K))
        log_pi = gate - logsumexp(gate, axis=1, keepdims=True)
        truth = enumerate_mixture(log_pi, logits)
        result = BernoulliMixture(log_pi, logits).mode_certified(max_pops=5000)
        assert result.exact.all()
        np.testing.assert_allclose(result.log_prob, truth.best(1)[:, 0], rtol=0, atol=1e-10)
        np.testing.assert_allclose(truth.log_prob_of(result.Y), result.log_prob, rtol=0, atol=1e-10)


@pytest.mark.parametrize("max_pops", [1, 3, 40])
def test_gap_of_a_search_cut_short_bounds_the_truth(enumerate_mixture, max_pops):
    random = np.random.default_rng(max_pops)
    n, K, L = 200, 8, 9
    log_pi = np.log(random.dirichlet(np.ones(K), n))
    logits = random.normal(0, 0.7, (n, K, L))
    for k in (1, 3):
        found = BernoulliMixture(log_pi, logits)._search(k, max_pops)
        best = enumerate_mixture(log_pi, logits).best(k)
        # No set that is missing beats the last one found by more than the gap.
        assert (best[:, -1] - found.gap <= found.log_prob[:, -1] + 1e-12).all()
        assert (found.pops <= max_pops).all()
        assert (found.gap >= 0).all()
        np.testing.assert_allclose(
            found.log_prob[found.exact], best[found.exact], rtol=0, atol=1e-11
        )
    if max_pops < 40:
        assert not found.exact.all()


def test_the_gap_is_no_smaller_than_it_must_be():
    """The first set looked at is the heaviest component's; the other two together have a better."""
    log_pi = np.log([[0.34, 0.33, 0.33]])
    logits = np.array([[[30.0] * 12, [-30.0] * 12, [-30.0] * 12]])
    result = BernoulliMixture(log_pi, logits).mode_certified(max_pops=1)
    np.testing.assert_array_equal(result.Y, [[1] * 12])
    np.testing.assert_allclose(result.gap, [np.log(0.66 / 0.34)], rtol=1e-9)
    np.testing.assert_array_equal(BernoulliMixture(log_pi, logits).mode()[0], [[0] * 12])


def test_a_search_cut_short_warns():
    random = np.random.default_rng(0)
    logits = random.normal(0, 0.1, (3, 30, 20))
    dist = BernoulliMixture(np.full((3, 30), -np.log(30)), logits)
    with pytest.warns(NotConverged, match="of 3 rows"):
        dist.mode(max_pops=5)
    assert (dist.mode_certified(max_pops=5).gap > 0).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_thousand_labels_at_fifty(dtype, allow_empty):
    random = np.random.default_rng(0)
    n, K, L = 3, 5, 1000
    logits = random.choice([-50.0, 50.0], (n, K, L)).astype(dtype)
    log_pi = np.log(random.dirichlet(np.ones(K), n)).astype(dtype)
    dist = BernoulliMixture(log_pi, logits, allow_empty)
    Y, log_prob = dist.mode()
    heaviest = log_pi.argmax(axis=1)
    np.testing.assert_array_equal(Y, logits[np.arange(n), heaviest] > 0)
    np.testing.assert_allclose(log_prob, log_pi.max(axis=1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dist.log_prob(Y), log_prob, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dist.size_distribution(L).sum(axis=1), 1, rtol=1e-12, atol=0)
    np.testing.assert_allclose(
        dist.size_marginals(L).sum(axis=2), dist.marginals(), rtol=1e-10, atol=1e-20
    )
    assert np.isfinite(dist.correlation()).all()


def test_given_a_label_when_labels_are_all_but_impossible():
    """P(not empty) is exp(-50), or underflows; single labels share it by their odds."""
    for depth in (-50.0, -590.0, -700.0, -5000.0):
        dist = Product(np.array([[depth, depth + 1, depth]]), allow_empty=False)
        expected = np.array([[1, np.e, 1]]) / (2 + np.e)
        np.testing.assert_allclose(dist.marginals(), expected, rtol=1e-11, atol=0)
        np.testing.assert_allclose(dist.size_marginals(2)[:, :, 0], expected, rtol=1e-11, atol=0)
        np.testing.assert_allclose(dist.size_distribution(2), [[0, 1, 0]], rtol=1e-11, atol=1e-15)
        Y, log_prob = dist.mode()
        np.testing.assert_array_equal(Y, [[0, 1, 0]])
        np.testing.assert_allclose(log_prob, np.log(expected[:, 1]), rtol=1e-11, atol=0)
        np.testing.assert_allclose(dist.log_prob(Y), log_prob, rtol=1e-11, atol=0)
        assert dist.log_prob(np.zeros((1, 3), dtype=int))[0] == -np.inf
        drawn = dist.sample(20_000, random_state=0)[:, 0]
        assert (drawn.sum(axis=1) == 1).all()
        np.testing.assert_allclose(drawn.mean(axis=0), expected[0], rtol=0, atol=0.02)


def test_given_a_label_a_light_component_may_decide():
    """The heavy component has no label to speak of, so the light one has all that is left."""
    logits = np.array([[[-2000.0, -2000.0], [3.0, -3.0]]])
    dist = BernoulliMixture(np.array([[0.0, -800.0]]), logits, allow_empty=False)
    alone = Product(np.array([[3.0, -3.0]]), allow_empty=False)
    np.testing.assert_allclose(dist.marginals(), alone.marginals(), rtol=1e-11, atol=0)
    np.testing.assert_allclose(dist.top(3)[1], alone.top(3)[1], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_no_rows_and_any_memory_layout(draw_mixtures, layout, allow_empty):
    log_pi, logits = (np.asarray(a, order=layout) for a in draw_mixtures(0))
    dist = BernoulliMixture(log_pi, logits, allow_empty)
    none = dist[:0]
    assert none.mode()[0].shape == (0, 5)
    assert none.size_marginals(2).shape == (0, 5, 2)
    assert none.sample(3, 0).shape == (3, 0, 5)
    assert none.correlation().shape == (0, 5, 5)
    np.testing.assert_array_equal(dist[::2].top(2)[1], dist.top(2)[1][::2])


def test_one_component_is_a_product(draw_mixtures, allow_empty):
    log_pi, logits = draw_mixtures(0, "single")
    mixture, product = (
        BernoulliMixture(log_pi, logits, allow_empty),
        Product(logits[:, 0], allow_empty),
    )
    for a, b in zip(mixture.top(4) + mixture.sizes(3), product.top(4) + product.sizes(3)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(mixture.correlation(), product.correlation())
    sigmoid = 1 / (1 + np.exp(-logits[:, 0]))
    if allow_empty:
        np.testing.assert_allclose(product.marginals(), sigmoid, rtol=1e-13, atol=0)
        np.testing.assert_array_equal(product.mode()[0], sigmoid > 0.5)


def test_a_product_lists_many_sets_of_many_labels():
    random = np.random.default_rng(0)
    logits = random.normal(0, 1, (2, 200))
    sets, log_prob = Product(logits).top(1000)
    assert (np.diff(log_prob, axis=1) <= 0).all()
    assert len(np.unique(sets[0], axis=0)) == 1000
    np.testing.assert_allclose(Product(logits).log_prob(sets[:, -1]), log_prob[:, -1], rtol=1e-10)


@pytest.mark.parametrize(
    ("log_pi", "logits", "message"),
    [
        (np.zeros((2, 1)), np.zeros((2, 3)), "expected log_pi"),
        (np.zeros((2, 2)), np.zeros((2, 1, 3)), "expected log_pi"),
        (np.zeros((2, 2)), np.zeros((2, 2, 3)), "row 0 sum to 2"),
        (np.full((1, 1), -np.inf), np.zeros((1, 1, 3)), "row 0 sum to 0"),
        (np.zeros((1, 1)), np.array([[[0.0, np.inf]]]), "row 0, component 0, label 1"),
    ],
)
def test_arrays_that_are_no_mixture_are_refused(log_pi, logits, message):
    with pytest.raises(DataError, match=message):
        BernoulliMixture(log_pi, logits)


def test_questions_that_have_no_answer_are_refused(draw_mixtures):
    dist = BernoulliMixture(*draw_mixtures(0))
    with pytest.raises(LabelMismatch, match="6 rows and 5 labels"):
        dist.log_prob(np.zeros((6, 4), dtype=int))
    with pytest.raises(DataError, match="k is a whole number"):
        dist.top(0)
    with pytest.raises(DataError, match="max_size is a whole number"):
        dist.size_marginals(0)
    with pytest.raises(IndexError):
        dist[6]
    with pytest.raises(DataError, match="expected logits"):
        Product(np.zeros(3))


def test_sets_far_below_every_label_keep_their_log_probability():
    """Given a non-empty set, where each component is all but sure of no label."""
    logits = np.array([[[-700.0, -700.0, -650.0], [-900.0, -800.0, -1000.0]]])
    mixture = BernoulliMixture(np.log([[0.4, 0.6]]), logits, allow_empty=False)
    sets = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
    got = [mixture.log_prob(one[None])[0] for one in sets]
    np.testing.assert_allclose(got, [0, -50, -750, -1400], atol=1e-9)
