from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from setwise.distributions import Product
from setwise.models.model_average import likeliest_weights
from setwise.pipeline.averaging import averaged
from setwise.pipeline.build import Choice
from setwise.pipeline.judging import Fold, Judged, clearly_better, value_of, worth

N, L = 200, 3


@pytest.fixture
def truth():
    """Labels drawn from known log-odds."""
    random = np.random.default_rng(0)
    z = 2 * random.normal(size=(N, L))
    return z, sparse.csr_array((random.random((N, L)) < 1 / (1 + np.exp(-z))).astype(np.int8))


def folds(groups=None):
    parts = [(np.arange(N // 2, N), np.arange(N // 2)), (np.arange(5), np.arange(N // 2, N))]
    return [Fold(*part, None if groups is None else groups[part[1]]) for part in parts]


def judged(name, z, Y, expected=1.0):
    """A candidate that says these log-odds of the rows, which two folds share."""
    dist = Product(z)
    parts = [dist.rows(fold.judges) for fold in folds()]
    predicted = sparse.csr_array(dist.mode()[0])
    return Judged(
        Choice(name, {}),
        value_of(predicted, Y, folds(), "set_accuracy"),
        predicted,
        dist.log_prob(Y),
        parts,
        expected,
    )


@pytest.mark.parametrize("groups", [None, np.arange(N) // 7])
def test_each_half_is_predicted_with_the_weights_of_the_other(truth, groups):
    z, Y = truth
    noise = np.random.default_rng(1).normal(size=(2, N, L))
    parts = [judged("a", z + noise[0], Y), judged("b", z + noise[1], Y)]
    found = averaged(parts, Y, folds(groups), "hamming", np.inf)
    log_prob = np.stack([part.log_prob for part in parts], axis=1)
    own = (np.arange(N) if groups is None else groups) % 2
    wanted = np.zeros((N, L))
    for half in (0, 1):
        w = likeliest_weights(log_prob[own != half])
        both = [1 / (1 + np.exp(-(z + noise[k]))) for k in (0, 1)]
        wanted[own == half] = ((w[0] * both[0] + w[1] * both[1]) > 0.5)[own == half]
    np.testing.assert_array_equal(found.predicted.toarray(), wanted)
    weights = [member["weight"] for member in found.choice.options["members"]]
    np.testing.assert_allclose(weights, likeliest_weights(log_prob), rtol=1e-9)


def test_what_does_not_fit_into_the_time_is_not_a_part(truth):
    z, Y = truth
    parts = [judged(name, z + shift, Y, expected=cost) for name, shift, cost in
             (("slow", 0.0, 100.0), ("quick", 0.5, 1.0), ("other", -0.5, 2.0))]  # fmt: skip
    found = averaged(parts, Y, folds(), "set_accuracy", 50.0)
    assert [m["model"] for m in found.choice.options["members"]] == ["quick", "other"]
    assert found.expected == 3.0
    assert averaged(parts, Y, folds(), "set_accuracy", 1.5) is None


def test_one_model_that_is_all_that_counts_is_not_averaged(truth):
    z, Y = truth
    parts = [judged("right", z, Y), judged("wrong", -5 * z, Y)]
    assert averaged(parts, Y, folds(), "set_accuracy", np.inf) is None


def test_a_decision_that_is_tuned_is_not_averaged_here(truth):
    z, Y = truth
    parts = [judged("a", z + 0.5, Y), judged("b", z - 0.5, Y)]
    assert averaged(parts, Y, folds(), "macro_f1", np.inf) is None


def test_a_difference_within_chance_is_not_clear(truth):
    z, Y = truth
    right, wrong = judged("right", z, Y), judged("wrong", -z, Y)
    assert clearly_better(right, wrong, Y, folds(), "set_accuracy")
    assert not clearly_better(wrong, right, Y, folds(), "set_accuracy")
    assert not clearly_better(right, right, Y, folds(), "set_accuracy")


@pytest.mark.parametrize(("better", "is_clear"), [(12, False), (22, True)])  # 1.4 and 3 errors
def test_a_difference_of_two_standard_errors_is_clear(truth, better, is_clear):
    z, Y = truth
    one, other = Y.toarray(), Y.toarray()
    one[:6] ^= 1
    other[6 : 6 + better] ^= 1
    found = [
        replace(judged("a", z, Y), predicted=sets, value=value_of(sets, Y, folds(), "set_accuracy"))
        for sets in map(sparse.csr_array, (one, other))
    ]
    assert clearly_better(*found, Y, folds(), "set_accuracy") == is_clear


def test_of_losses_less_is_worth_more():
    assert worth(0.1, "hamming") > worth(0.2, "hamming")
    assert worth(0.1, "f1") < worth(0.2, "f1")
    assert worth(None, "hamming") == -np.inf


def test_what_is_better_on_two_groups_and_worse_on_one_is_not_clearly_better(truth):
    z, Y = truth
    groups = np.arange(N) // 20
    wrong = 1 - Y.toarray()
    one, other = (
        replace(judged("a", z, Y), predicted=sparse.csr_array(np.where(mask, wrong, Y.toarray())))
        for mask in ((groups == 2)[:, None], (groups < 2)[:, None])
    )
    one, other = (replace(each, value=1 - share) for each, share in ((one, 0.1), (other, 0.2)))
    assert clearly_better(one, other, Y, folds(), "set_accuracy")
    assert not clearly_better(one, other, Y, folds(groups), "set_accuracy")
