from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from setwise.decisions import CalibratedF1, ExpectedF1, maximise_f1
from setwise.distributions import BernoulliMixture, Product, Sampled, Support
from setwise.distributions.batched import Batched
from setwise.errors import DataError


def all_sets(L):
    return np.array(list(product([0, 1], repeat=L)), dtype=np.int8)


def f1_table(sets, zero_division):
    """F1 of every prediction (rows) for every truth (columns)."""
    common = sets.astype(int) @ sets.T
    sizes = sets.sum(axis=1)
    total = sizes[:, None] + sizes
    return np.where(total == 0, zero_division, 2 * common / np.maximum(total, 1))


def random_table(L, n, random, concentration=0.3):
    return random.dirichlet(np.full(2**L, concentration), size=n)


def size_tables(probabilities, sets):
    """P(y_l = 1, |y| = s) for s = 1 to L, and P(|y| = s) for s = 0 to L, by enumeration."""
    L = sets.shape[1]
    has_size = sets.sum(axis=1)[:, None] == np.arange(L + 1)  # (2^L, L + 1)
    sizes = probabilities @ has_size
    marginals = np.einsum("np,pl,ps->nls", probabilities, sets, has_size[:, 1:])
    return marginals, sizes


@pytest.mark.parametrize("zero_division", [0.0, 1.0])
@pytest.mark.parametrize("L", [1, 2, 5])
def test_no_other_set_has_a_larger_expected_f1(L, zero_division):
    sets = all_sets(L)
    for concentration in (0.05, 0.3, 3.0):
        p = random_table(L, 200, np.random.default_rng(L), concentration)
        Y, value = maximise_f1(*size_tables(p, sets), zero_division)
        expected = p @ f1_table(sets, zero_division).T  # (n, predictions)
        chosen = Y @ (2 ** np.arange(L)[::-1])
        np.testing.assert_allclose(value, expected.max(axis=1), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(
            expected[np.arange(len(p)), chosen], expected.max(axis=1), rtol=1e-12, atol=1e-14
        )


def test_the_best_set_may_be_larger_than_any_likely_one():
    """Four equally likely single labels: predicting all of them has F1 2/5, one alone 1/4."""
    sets = np.eye(4, dtype=np.int8)
    p = np.log(np.full((1, 4), 0.25))
    answer = ExpectedF1().answer(Support(sets, p))
    np.testing.assert_array_equal(answer.Y, [[1, 1, 1, 1]])
    np.testing.assert_allclose(answer.expected_f1, [0.4], rtol=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 6))
@settings(max_examples=50)
def test_exact_answers_of_products_and_mixtures(seed, K, L):
    random = np.random.default_rng(seed)
    log_pi = np.log(random.dirichlet(np.ones(K), size=3))
    logits = random.normal(scale=3, size=(3, K, L))
    sets = all_sets(L)
    for distribution in (BernoulliMixture(log_pi, logits), Product(logits[:, 0])):
        p = np.stack([np.exp(distribution.log_prob(np.tile(s, (3, 1)))) for s in sets], axis=1)
        expected = p @ f1_table(sets, 0.0).T
        answer = ExpectedF1(max_tail=0).answer(distribution)
        np.testing.assert_allclose(answer.expected_f1, expected.max(axis=1), rtol=1e-9)
        np.testing.assert_allclose(answer.tail, 0, atol=1e-9)
        for max_tail in (1e-3, 0.2):
            cut = ExpectedF1(max_tail=max_tail).answer(distribution)
            chosen = cut.Y @ (2 ** np.arange(L)[::-1])
            worth = expected[np.arange(3), chosen]
            assert (cut.tail <= max_tail + 1e-12).all()
            assert (worth >= expected.max(axis=1) - cut.tail - 1e-12).all()
            assert (cut.expected_f1 <= worth + 1e-12).all()
            assert (worth <= cut.expected_f1 + cut.tail + 1e-12).all()


def test_expectations_over_a_support_or_over_samples():
    """Given the sets that may be true; and samples come near the exact answer."""
    random = np.random.default_rng(5)
    distribution = Product(random.normal(size=(40, 5)))
    sets = all_sets(5)[[1, 6, 7, 12, 30]]
    p = np.exp(np.stack([distribution.log_prob(np.tile(s, (40, 1))) for s in sets], axis=1))
    p /= p.sum(axis=1, keepdims=True)
    every = all_sets(5)
    common = every.astype(int) @ sets.T
    f1 = 2 * common / (every.sum(axis=1)[:, None] + sets.sum(axis=1))
    answer = ExpectedF1(support=sets).answer(distribution)
    np.testing.assert_allclose(answer.expected_f1, (p @ f1.T).max(axis=1), rtol=1e-9)

    exact = ExpectedF1(max_tail=0).answer(distribution).expected_f1
    sampled = ExpectedF1().answer(Sampled(distribution.sample(20_000, random_state=0)))
    np.testing.assert_allclose(sampled.expected_f1, exact, atol=0.02)


def test_cutting_sizes_costs_no_more_than_their_probability():
    random = np.random.default_rng(0)
    distribution = Product(random.normal(1.0, 1.0, size=(50, 12)))
    exact = ExpectedF1(max_size=12).answer(distribution)
    for size in (3, 6, 9):
        cut = ExpectedF1(max_size=size).answer(distribution)
        loss = exact.expected_f1 - cut.expected_f1
        assert (loss <= cut.tail + 1e-12).all()
        assert cut.tail.max() > 1e-3
        np.testing.assert_allclose(
            cut.tail, 1 - distribution.size_distribution(size).sum(axis=1), atol=1e-12
        )


def test_sizes_are_added_until_the_tail_is_small():
    distribution = Product(np.full((2, 60), 2.0))  # some 53 labels a row
    answer = ExpectedF1().answer(distribution)
    assert answer.tail.max() <= 1e-3
    np.testing.assert_array_equal(answer.Y, np.ones((2, 60)))


def test_a_row_of_many_labels_costs_the_others_nothing(monkeypatch):
    few, many = np.full((5, 60), -6.0), np.full((1, 60), 2.0)
    few[:, :3] = [[0.3, -0.4, 0.1]]
    together, asked = Product(np.concatenate([few[:2], many, few[2:]])), []
    sizes = BernoulliMixture.sizes
    monkeypatch.setattr(
        BernoulliMixture,
        "sizes",
        lambda self, S: (asked.append((self.n_rows, S)), sizes(self, S))[1],
    )
    found = ExpectedF1().answer(together)
    assert asked == [(6, 16), (1, 32), (1, 60)]
    for rows, alone in (([0, 1, 3, 4, 5], Product(few)), ([2], Product(many))):
        own = ExpectedF1().answer(alone)
        np.testing.assert_array_equal(found.Y[rows], own.Y)
        np.testing.assert_allclose(found.expected_f1[rows], own.expected_f1, rtol=1e-12)
    assert found.Y[2].all()


def test_nothing_is_asked_of_no_rows():
    def make(rows):
        assert len(rows)
        return Product(np.zeros((len(rows), 3)))

    lazy = Batched(make, np.arange(5), labels=3, batch_size=2)
    np.testing.assert_array_equal(ExpectedF1().decide(lazy), np.ones((5, 3)))


def test_many_rows_are_decided_in_batches(monkeypatch):
    from setwise.decisions import base

    distribution = Product(np.random.default_rng(1).normal(size=(40, 5)))
    whole = ExpectedF1().answer(distribution)
    monkeypatch.setattr(base, "BATCH_CELLS", 60)
    parts = ExpectedF1().answer(distribution)
    np.testing.assert_array_equal(parts.Y, whole.Y)
    np.testing.assert_array_equal(parts.expected_f1, whole.expected_f1)


def test_permuting_labels_permutes_the_answer():
    random = np.random.default_rng(2)
    logits = random.normal(size=(30, 7))
    order = random.permutation(7)
    decide = ExpectedF1().decide
    np.testing.assert_array_equal(
        decide(Product(logits[:, order])), decide(Product(logits))[:, order]
    )


def test_shapes_that_do_not_fit_get_a_sentence():
    with pytest.raises(DataError, match=r"need sizes of shape \(2, 5\), got \(2, 4\)"):
        maximise_f1(np.zeros((2, 3, 4)), np.zeros((2, 4)))


def test_calibration_mends_size_marginals_that_are_too_sure():
    """Logits three times too large: after calibration the decision is nearly that of the truth."""
    random = np.random.default_rng(3)
    logits = random.normal(-0.5, 1.0, size=(6000, 5))
    truth, sure = Product(logits), Product(3 * logits)
    Y = truth.sample(1, random_state=0)[0]
    held_out, test = slice(0, 4000), slice(4000, 6000)
    tuned = CalibratedF1(max_size=5).tune(sure[held_out], sparse.csr_array(Y[held_out]))
    sizes = truth[test].size_distribution(5)
    best = ExpectedF1().answer(truth[test]).expected_f1.mean()

    def worth(decided):
        """The mean expected F1, under the truth, of some decisions."""
        gain = np.einsum(
            "nls,nls->nl",
            truth[test].size_marginals(5),
            2 / (np.arange(1, 6) + decided.sum(axis=1)[:, None, None]) * np.ones((1, 5, 1)),
        )
        return (gain * decided).sum(axis=1).mean()

    plain = worth(ExpectedF1().decide(sure[test]))
    calibrated = worth(tuned.decide(sure[test]))
    assert plain < calibrated <= best + 1e-9
    assert best - calibrated < 0.25 * (best - plain)
    assert sizes.shape == (2000, 6)


class Steps:
    """A stand-in for a calibration curve that gives fixed numbers."""

    def __init__(self, values):
        self.values = values

    def predict(self, scores):
        return np.resize(self.values, scores.shape)


def test_calibrated_scores_of_one_label_may_exceed_its_share():
    """No other set has a larger score, though these marginals are of no distribution."""
    random = np.random.default_rng(0)
    L, sets = 4, all_sets(4)
    for _ in range(200):
        marginals = random.dirichlet(np.full(L, 0.2), size=L).T * random.random(L)  # (L, S)
        rule = CalibratedF1(max_size=L)
        rule.curves_ = [Steps(marginals[:, s]) for s in range(L)]
        k = sets.sum(axis=1)[:, None, None]
        gain = (2 / (np.arange(1, L + 1) + k) * marginals).sum(axis=2)  # (sets, L)
        score = (gain * sets).sum(axis=1)
        chosen = rule.decide(Product(np.zeros((1, L))))[0]
        np.testing.assert_allclose(score[(sets == chosen).all(axis=1)], score.max(), rtol=1e-12)


def test_weights_in_single_precision_lose_nothing():
    random = np.random.default_rng(0)
    log_pi = np.log(random.dirichlet(np.ones(5), size=50)).astype(np.float32)
    mixture = BernoulliMixture(log_pi, random.normal(size=(50, 5, 4)))
    same = BernoulliMixture(
        log_pi - np.logaddexp.reduce(log_pi.astype(float), axis=1, keepdims=True), mixture.logits
    )
    answers = [ExpectedF1(max_tail=0).answer(each).expected_f1 for each in (mixture, same)]
    np.testing.assert_allclose(*answers, rtol=1e-12)


@pytest.mark.parametrize(("L", "S"), [(60, 20), (37, 7), (9, 9), (20, 1)])
@pytest.mark.parametrize("power", [0.0, 2.0, 6.0])
def test_sizes_that_get_no_look_hold_nothing_better(L, S, power):
    """All sizes k looked at, one by one; labels from alike to a few that matter."""
    random = np.random.default_rng(L)
    n = 50
    joint = random.dirichlet(np.full(S, 0.3), (n, L)) * random.uniform(0, 1, (n, L, 1)) ** power
    # At most one, and no label in more than its share: a set of s labels is counted s times.
    sizes = np.maximum(joint.sum(axis=1) / np.arange(1, S + 1), joint.max(axis=1))  # (n, S)
    scale = sizes.sum(axis=1)
    joint /= scale[:, None, None]
    sizes = np.concatenate([np.zeros((n, 1)), sizes / scale[:, None]], axis=1)
    Y, value = maximise_f1(joint, sizes)
    worth = 2 / (np.arange(1, S + 1)[:, None] + np.arange(1, L + 1))  # (S, k)
    falling = -np.sort(-(joint @ worth), axis=1)  # (n, L, k)
    by_size = np.cumsum(falling, axis=1)[:, np.arange(L), np.arange(L)]  # (n, k)
    np.testing.assert_allclose(value, by_size.max(axis=1), rtol=1e-12)
    own = worth[:, Y.sum(axis=1) - 1].T  # (n, S)
    np.testing.assert_allclose(np.einsum("nl,nls,ns->n", Y, joint, own), value, rtol=1e-12)


def test_calibration_takes_a_row_as_often_as_its_weight():
    random = np.random.default_rng(2)
    logits, Y = random.normal(0, 1.5, (60, 6)), sparse.csr_array(random.integers(0, 2, (60, 6)))
    weights = random.integers(0, 3, 60)
    repeated = np.repeat(np.arange(60), weights)
    weighted = CalibratedF1(max_size=4).tune(Product(logits), Y, sample_weight=weights)
    copied = CalibratedF1(max_size=4).tune(Product(logits[repeated]), Y[repeated])
    plain = CalibratedF1(max_size=4).tune(Product(logits), Y)
    scores = np.linspace(0, 0.3, 50)
    for one, other in zip(weighted.curves_, copied.curves_, strict=True):
        np.testing.assert_allclose(one.predict(scores), other.predict(scores), rtol=0, atol=1e-12)
    assert any(
        np.abs(one.predict(scores) - other.predict(scores)).max() > 1e-3
        for one, other in zip(weighted.curves_, plain.curves_, strict=True)
    )
