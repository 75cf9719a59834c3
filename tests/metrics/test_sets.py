from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from scipy import sparse

from setwise import metrics
from setwise.errors import DataError

RATIOS = {
    "precision": theirs.precision_score,
    "recall": theirs.recall_score,
    "f1": theirs.f1_score,
    "jaccard": theirs.jaccard_score,
}
SYNONYMS = {"instance": "samples", "label": "macro", "micro": "micro"}

# The example of Li 2019, section 2.1.
TRUTH = np.array([[1, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]])
PREDICTED = np.array([[1, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 0], [0, 1, 1, 1], [1, 0, 1, 0]])

# Rows:    tp 2 1 0 3 2, predicted 3 2 1 3 2, relevant 3 2 0 4 2, errors 2 2 1 1 0.
# Columns: tp 2 2 3 1,   predicted 3 3 4 1,   relevant 3 2 3 3.
BY_HAND = {
    "set_accuracy": Fraction(1, 5),
    "hamming_loss": Fraction(2 + 2 + 1 + 1 + 0, 20),
    "instance_precision": (Fraction(2, 3) + Fraction(1, 2) + 0 + 1 + 1) / 5,
    "instance_recall": (Fraction(2, 3) + Fraction(1, 2) + 0 + Fraction(3, 4) + 1) / 5,
    "instance_f1": (Fraction(4, 6) + Fraction(2, 4) + 0 + Fraction(6, 7) + 1) / 5,
    "instance_jaccard": (Fraction(2, 4) + Fraction(1, 3) + 0 + Fraction(3, 4) + 1) / 5,
    "label_precision": (Fraction(2, 3) + Fraction(2, 3) + Fraction(3, 4) + 1) / 4,
    "label_recall": (Fraction(2, 3) + 1 + 1 + Fraction(1, 3)) / 4,
    "label_f1": (Fraction(4, 6) + Fraction(4, 5) + Fraction(6, 7) + Fraction(2, 4)) / 4,
    "label_jaccard": (Fraction(2, 4) + Fraction(2, 3) + Fraction(3, 4) + Fraction(1, 3)) / 4,
    "micro_precision": Fraction(8, 11),
    "micro_recall": Fraction(8, 11),
    "micro_f1": Fraction(16, 22),
    "micro_jaccard": Fraction(8, 14),
}


@st.composite
def pairs(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 5)))
    bits = hnp.arrays(np.int8, shape, elements=st.integers(0, 1))
    return draw(bits), draw(bits)


def random_pair(seed, n=60, L=7):
    """Two random label matrices with empty rows and empty columns."""
    random = np.random.default_rng(seed)
    truth, predicted = (random.random((2, n, L)) < 0.3).astype(int)
    truth[:5] = predicted[3:8] = 0
    truth[:, 0] = predicted[:, 1] = truth[:, 2] = predicted[:, 2] = 0
    return truth, predicted, random.random(n)


def test_the_worked_example_of_the_thesis():
    measures = metrics.set_measures(TRUTH, PREDICTED)
    assert measures.keys() == BY_HAND.keys()
    for name, value in BY_HAND.items():
        assert_allclose(measures[name], float(value), rtol=1e-14, err_msg=name)


def test_the_worked_example_with_the_papers_zero_division():
    expected = (Fraction(2, 3) + Fraction(1, 2) + 1 + Fraction(3, 4) + 1) / 5
    assert_allclose(metrics.recall(TRUTH, PREDICTED, zero_division=1), float(expected), rtol=1e-14)


def test_zero_division_nan_leaves_the_row_out():
    expected = (Fraction(2, 3) + Fraction(1, 2) + Fraction(3, 4) + 1) / 4
    answer = metrics.recall(TRUTH, PREDICTED, zero_division=np.nan)
    assert_allclose(answer, float(expected), rtol=1e-14)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("average", SYNONYMS)
@pytest.mark.parametrize(
    ("name", "zero_division"),
    # scikit-learn's jaccard_score takes no nan.
    [(n, z) for n in RATIOS for z in (0.0, 1.0, np.nan) if not (n == "jaccard" and np.isnan(z))],
)
def test_ratios_equal_scikit_learn(name, average, zero_division, weighted, form):
    truth, predicted, weights = random_pair(0)
    options = {"zero_division": zero_division, "sample_weight": weights if weighted else None}
    answer = getattr(metrics, name)(form(truth), form(predicted), average=average, **options)
    expected = RATIOS[name](truth, predicted, average=SYNONYMS[average], **options)
    assert_allclose(answer, expected, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_losses_equal_scikit_learn(weighted):
    truth, predicted, weights = random_pair(1)
    predicted[10:20] = truth[10:20]
    weights = weights if weighted else None
    for ours, reference in (
        (metrics.hamming_loss, theirs.hamming_loss),
        (metrics.subset_accuracy, theirs.accuracy_score),
    ):
        expected = reference(truth, predicted, sample_weight=weights)
        assert_allclose(ours(truth, predicted, sample_weight=weights), expected, rtol=1e-12)


def test_synonyms():
    for ours, synonym in SYNONYMS.items():
        assert metrics.f1(TRUTH, PREDICTED, average=ours) == metrics.f1(
            TRUTH, PREDICTED, average=synonym
        )
    assert metrics.set_accuracy is metrics.exact_match is metrics.subset_accuracy


def test_all_at_once_equals_one_by_one():
    truth, predicted, weights = random_pair(2)
    options = {"zero_division": 0.25, "sample_weight": weights}
    together = metrics.set_measures(truth, predicted, **options)
    for average in SYNONYMS:
        for name in RATIOS:
            alone = getattr(metrics, name)(truth, predicted, average=average, **options)
            assert together[f"{average}_{name}"] == alone


def test_all_undefined_is_nan():
    nothing = np.zeros((3, 2), dtype=int)
    measures = metrics.set_measures(nothing, nothing, zero_division=np.nan)
    assert np.isnan(measures["micro_f1"])
    assert measures["set_accuracy"] == 1


def test_sets_without_any_label():
    assert metrics.subset_accuracy([set()], [set()]) == 1
    assert metrics.hamming_loss([set()], [set()]) == 0


@pytest.mark.parametrize("wrong", [-0.1, 1.5, "warn", None])
def test_zero_division_must_be_a_share(wrong):
    with pytest.raises(DataError, match="zero_division must be a number from 0 to 1, or nan"):
        metrics.f1(TRUTH, PREDICTED, zero_division=wrong)
    with pytest.raises(DataError, match="zero_division"):
        metrics.set_measures(TRUTH, PREDICTED, zero_division=wrong)


def test_unknown_average_lists_the_choices():
    with pytest.raises(ValueError, match=r"'instance', 'label', 'micro', .* got 'weighted'"):
        metrics.f1(TRUTH, PREDICTED, average="weighted")


@settings(max_examples=40, deadline=None)
@given(pairs())
def test_measures_lie_between_0_and_1(pair):
    assert all(0 <= value <= 1 for value in metrics.set_measures(*pair).values())


@settings(max_examples=40, deadline=None)
@given(pairs(), st.randoms(use_true_random=False))
def test_order_of_rows_and_labels_does_not_matter(pair, random):
    n, L = pair[0].shape
    rows, columns = random.sample(range(n), n), random.sample(range(L), L)
    shuffled = metrics.set_measures(*(Y[np.ix_(rows, columns)] for Y in pair))
    for name, value in metrics.set_measures(*pair).items():
        assert_allclose(shuffled[name], value, rtol=1e-12, err_msg=name)


@settings(max_examples=40, deadline=None)
@given(pairs())
def test_perfect_and_worst_predictions(pair):
    truth, _ = pair
    best = metrics.set_measures(truth, truth, zero_division=1)
    worst = metrics.set_measures(truth, 1 - truth, zero_division=0)
    assert best.pop("hamming_loss") == 0
    assert worst.pop("hamming_loss") == 1
    assert set(best.values()) == {1}
    assert set(worst.values()) == {0}


@settings(max_examples=40, deadline=None)
@given(pairs())
def test_sparse_equals_dense(pair):
    assert metrics.set_measures(*map(sparse.csr_array, pair)) == metrics.set_measures(*pair)


@settings(max_examples=40, deadline=None)
@given(pairs())
def test_a_doubled_row_is_a_row_of_weight_two(pair):
    weights = np.ones(len(pair[0]))
    weights[0] = 2
    doubled = metrics.set_measures(*(np.vstack([Y[:1], Y]) for Y in pair))
    for name, value in metrics.set_measures(*pair, sample_weight=weights).items():
        assert_allclose(value, doubled[name], rtol=1e-12, err_msg=name)
