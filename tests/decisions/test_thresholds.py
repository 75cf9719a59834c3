import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from setwise import metrics
from setwise.decisions import decision_for
from setwise.decisions.thresholds import best_f1_thresholds
from setwise.distributions import Product
from setwise.errors import DataError

MEASURES = {
    "micro_f1": lambda Y, P: metrics.f1(Y, P, average="micro"),
    "f1_threshold": lambda Y, P: metrics.f1(Y, P),
    "jaccard": lambda Y, P: metrics.jaccard(Y, P),
}

# Few different values, so that ties are common.
logits = hnp.arrays(np.float64, (6, 4), elements=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0]))
truths = hnp.arrays(np.int8, (6, 4), elements=st.integers(0, 1))


@pytest.mark.parametrize("target", MEASURES)
@given(logits, truths)
def test_no_shared_threshold_is_better_on_the_held_out_rows(target, logits, Y):
    distribution = Product(logits)
    marginals = distribution.marginals()
    tuned = decision_for(target).tune(distribution, sparse.csr_array(Y))
    decided = tuned.decide(distribution)
    np.testing.assert_array_equal(decided, marginals >= tuned.threshold_)
    cuts = np.append(np.unique(marginals), 2.0)
    best = max(MEASURES[target](Y, (marginals >= cut).astype(int)) for cut in cuts)
    np.testing.assert_allclose(MEASURES[target](Y, decided), best, rtol=1e-12)


@given(logits, truths)
def test_no_other_thresholds_are_better_for_the_label_averaged_f1(logits, Y):
    distribution = Product(logits)
    marginals = distribution.marginals()
    decided = decision_for("macro_f1").tune(distribution, sparse.csr_array(Y)).decide(distribution)
    for label in range(4):
        column = marginals[:, [label]]
        cuts = np.append(np.unique(column), 2.0)
        truth = Y[:, [label]]
        best = max(metrics.f1(truth, (column >= c).astype(int), average="label") for c in cuts)
        found = metrics.f1(truth, decided[:, [label]], average="label")
        np.testing.assert_allclose(found, best, rtol=1e-12)
    assert not decided[:, Y.sum(axis=0) == 0].any()


TUNED = [*MEASURES, "macro_f1"]
weights = hnp.arrays(np.int64, 6, elements=st.integers(0, 3)).filter(np.any)


@pytest.mark.parametrize("target", TUNED)
@given(logits, truths, weights)
def test_a_weight_is_a_number_of_copies(target, logits, Y, weights):
    weighted = decision_for(target).tune(Product(logits), sparse.csr_array(Y), weights)
    copied = np.repeat(Y, weights, axis=0)
    distribution = Product(np.repeat(logits, weights, axis=0))
    repeated = decision_for(target).tune(distribution, sparse.csr_array(copied))
    if target in ("micro_f1", "macro_f1"):  # sums of whole numbers: ties are broken alike
        np.testing.assert_array_equal(weighted.threshold_, repeated.threshold_)
    else:
        found, expected = (
            MEASURES[target](copied, rule.decide(distribution)) for rule in (weighted, repeated)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("target", TUNED)
def test_weights_move_the_threshold_as_copies_do(target):
    random = np.random.default_rng(0)
    logits = random.normal(size=(40, 3))
    Y = sparse.csr_array((logits + random.normal(size=(40, 3)) > 0.5).astype(np.int8))
    weights = random.integers(0, 9, size=40) * (random.random(40) < 0.5)
    rows = np.repeat(np.arange(40), weights)
    weighted = decision_for(target).tune(Product(logits), Y, sample_weight=weights).threshold_
    repeated = decision_for(target).tune(Product(logits[rows]), Y[rows]).threshold_
    plain = decision_for(target).tune(Product(logits), Y).threshold_
    np.testing.assert_array_equal(weighted, repeated)
    assert not np.array_equal(weighted, plain)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1.0], "has shape .1,., but there are 2 held-out rows"),
        ([1.0, -1.0], "finite and not negative"),
        ([1.0, np.nan], "finite and not negative"),
        ([0.0, 0.0], "zero for all held-out rows"),
    ],
)
def test_weights_that_cannot_be_used_get_a_sentence(weights, sentence):
    with pytest.raises(DataError, match=sentence):
        decision_for("micro_f1").tune(
            Product(np.zeros((2, 1))), sparse.csr_array(np.ones((2, 1))), weights
        )


def test_a_threshold_lies_halfway_between_two_scores():
    scores = np.array([[0.8], [0.4], [0.1]])
    np.testing.assert_allclose(
        best_f1_thresholds(scores, np.array([[1], [0], [0]])), 0.6, rtol=1e-12
    )


@pytest.mark.parametrize("above", [1.0, 1 - 2.0**-53, 1 - 2.0**-52, 5e-324])
def test_a_threshold_parts_neighbouring_floats(above):
    scores = np.array([[above], [np.nextafter(above, 0)]])
    threshold = best_f1_thresholds(scores, np.array([[1], [0]]))
    np.testing.assert_array_equal(scores >= threshold, [[True], [False]])


def test_a_rule_that_was_not_tuned_says_so():
    for target in ("micro_f1", "f1_calibrated"):
        with pytest.raises(DataError, match=f"'{target}' learns from held-out rows"):
            decision_for(target).decide(Product(np.zeros((1, 2))))
