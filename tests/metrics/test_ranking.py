import warnings
from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from setwise import metrics
from setwise.errors import DataError

SHARES = ("auc_roc", "auc_pr", "average_precision", "one_error", "is_error", "ranking_loss")
SHARES += ("precision_at_k", "ndcg_at_k")
NAMES = (*SHARES, "margin")
HIGHER_IS_BETTER = ("auc_roc", "auc_pr", "average_precision", "ndcg_at_k")
PAIRWISE = ("auc_roc", "ranking_loss", "is_error", "margin")

# What is relevant, best first; letters after the bar are tie groups: equal letters are tied.
BY_HAND = {
    "1010|abcd": {
        "auc_roc": Fraction(3, 4),
        "auc_pr": Fraction(1, 2) + (Fraction(1, 2) + Fraction(2, 3)) / 4,
        "average_precision": (1 + Fraction(2, 3)) / 2,
        "one_error": 0,
        "is_error": 1,
        "margin": 3 - 2,
    },
    "1001|abcd": {"margin": 4 - 2, "is_error": 1, "ranking_loss": Fraction(2, 4)},
    "1100|abcd": {"margin": 0, "is_error": 0, "auc_roc": 1, "auc_pr": 1, "one_error": 0},
    "0001|abcd": {"margin": 4 - 1, "is_error": 1, "auc_roc": 0, "auc_pr": Fraction(1, 4)},
    # Tied relevant candidates alone are no mistake; tied with an irrelevant one they are.
    "1100|aabc": {"margin": 0, "is_error": 0, "auc_roc": 1, "one_error": 0},
    "1100|abbc": {"margin": 3 - 2, "is_error": 1, "auc_roc": Fraction(7, 8)},
    "1100|aaaa": {"margin": 4 - 1, "is_error": 1, "auc_roc": Fraction(1, 2), "auc_pr": 0.5},
    # Precision is held at 2/4 over the first two, then goes from 2/4 to 3/5.
    "01101|abbbc": {"auc_pr": (2 * Fraction(1, 2) + Fraction(11, 20)) / 3},
    # From (1, 0) the false positives come in evenly: precision 1, 2/3, 3/5.
    "11100|abbbb": {"auc_pr": (1 + Fraction(5, 6) + Fraction(19, 30)) / 3},
    "10100|aaabc": {"one_error": Fraction(1, 3), "average_precision": Fraction(2, 3)},
}


def ranking(text):
    """The relevant candidates and scores that a line of the table describes."""
    relevant, groups = text.split("|")
    return np.array([list(relevant)], dtype=int), -np.array([[float(ord(g)) for g in groups]])


@st.composite
def rankings(draw):
    """Relevance and scores with many ties; small whole numbers, so that no rounding merges any."""
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 6)))
    relevant = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1)))
    scores = draw(hnp.arrays(np.float64, shape, elements=st.integers(-3, 3).map(float)))
    return relevant, scores


def measured(relevant, scores, name, **options):
    return getattr(metrics, name)(relevant, scores, per_item=True, **options)


def random_ranking(seed, n=40, L=9):
    random = np.random.default_rng(seed)
    return (random.random((n, L)) < 0.3).astype(int), random.integers(0, 6, (n, L)) / 4


@pytest.mark.parametrize("text", BY_HAND)
def test_tables_worked_by_hand(text):
    for name, expected in BY_HAND[text].items():
        answer = getattr(metrics, name)(*ranking(text))
        assert_allclose(answer, float(expected), rtol=1e-14, atol=1e-15, err_msg=name)


def test_average_precision_equals_scikit_learn():
    relevant, scores = random_ranking(0)
    rows = relevant.any(axis=1)
    expected = theirs.label_ranking_average_precision_score(relevant[rows], scores[rows])
    assert_allclose(metrics.average_precision(relevant, scores), expected, rtol=1e-12)
    expected = theirs.average_precision_score(relevant, scores, average=None)
    answer = metrics.mean_average_precision(relevant, scores, per_item=True)
    assert_allclose(answer, expected, rtol=1e-12)


@pytest.mark.parametrize(("pivot", "average"), [("document", "samples"), ("label", "macro")])
def test_auc_roc_equals_scikit_learn(pivot, average):
    relevant, scores = random_ranking(1)
    kept = relevant.any(axis=1) & ~relevant.all(axis=1)
    relevant, scores = relevant[kept], scores[kept]
    expected = theirs.roc_auc_score(relevant, scores, average=average)
    assert_allclose(metrics.auc_roc(relevant, scores, pivot=pivot), expected, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 4, None])
def test_ndcg_equals_scikit_learn(k):
    relevant, scores = random_ranking(2)
    rows = relevant.any(axis=1)
    expected = theirs.ndcg_score(relevant[rows], scores[rows], k=k)
    assert_allclose(metrics.ndcg_at_k(relevant, scores, k=k), expected, rtol=1e-12)


def test_ranking_loss_equals_scikit_learn_without_ties():
    random = np.random.default_rng(3)
    relevant, _ = random_ranking(3)
    relevant[:, :2] = [0, 1]
    scores = random.random(relevant.shape)
    expected = theirs.label_ranking_loss(relevant, scores)
    assert_allclose(metrics.ranking_loss(relevant, scores), expected, rtol=1e-12)


def test_undefined_items_are_nan_and_left_out():
    relevant = np.array([[0, 0], [1, 1], [1, 0]])
    scores = np.array([[0.2, 0.1], [0.2, 0.1], [0.2, 0.1]])
    for name in NAMES:
        undefined = np.isnan(measured(relevant, scores, name))
        assert_array_equal(undefined, [True, name in PAIRWISE, False], err_msg=name)
    assert metrics.auc_roc(relevant, scores) == 1


@pytest.mark.parametrize("name", NAMES)
def test_nothing_defined_is_nan_without_a_warning(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(getattr(metrics, name)(np.zeros((2, 3), dtype=int), np.ones((2, 3))))


def test_infinite_scores_have_their_order():
    scores = np.array([[np.inf, 0.0, -np.inf, -np.inf]])
    assert metrics.auc_roc(np.array([[1, 0, 1, 0]]), scores) == 1 - 1.5 / 4


def test_counts_of_pairs_do_not_overflow():
    relevant = (np.arange(100_000) % 2)[:, None]
    scores = np.arange(100_000.0)[:, None]
    answer = metrics.auc_roc(relevant, scores, pivot="label")
    assert_allclose(answer, 0.5 + 0.5 / 50_000, rtol=1e-12)


def test_precision_beyond_the_last_candidate_keeps_its_divisor():
    assert metrics.precision_at_k(np.array([[1, 1]]), np.array([[0.2, 0.1]]), k=4) == 0.5


def test_all_at_once_equals_one_by_one():
    relevant, scores = random_ranking(4)
    for pivot in ("document", "label"):
        together = metrics.ranking_measures(relevant, scores, pivot=pivot, k=[2])
        for name in NAMES:
            options = {"k": 2} if name.endswith("_k") else {}
            alone = getattr(metrics, name)(relevant, scores, pivot=pivot, **options)
            assert together[name.replace("_k", "_2")] == alone


@pytest.mark.parametrize("k", [0, -1, 2.5, "all"])
def test_k_must_be_a_positive_number(k):
    for measure in (metrics.precision_at_k, metrics.ndcg_at_k):
        with pytest.raises(DataError, match="k must be a whole number of at least 1"):
            measure(np.array([[1]]), np.array([[0.5]]), k=k)


def test_unknown_pivot_lists_the_choices():
    with pytest.raises(DataError, match="'document', 'label'; got 'row'"):
        metrics.auc_roc(np.array([[1]]), np.array([[0.5]]), pivot="row")


@settings(max_examples=40, deadline=None)
@given(rankings())
def test_bounds(pair):
    for name in SHARES:
        values = measured(*pair, name)
        assert ((values >= 0) & (values <= 1) | np.isnan(values)).all(), name
    margins = measured(*pair, "margin")
    assert ((margins >= 0) & (margins < pair[0].shape[1]) | np.isnan(margins)).all()


@settings(max_examples=40, deadline=None)
@given(rankings(), st.randoms(use_true_random=False))
def test_order_of_items_and_candidates_does_not_matter(pair, random):
    n, L = pair[0].shape
    rows, columns = random.sample(range(n), n), random.sample(range(L), L)
    shuffled = [values[np.ix_(rows, columns)] for values in pair]
    for name in NAMES:
        expected = measured(*pair, name)[rows]
        assert_allclose(measured(*shuffled, name), expected, rtol=1e-12, atol=1e-14, err_msg=name)


@settings(max_examples=40, deadline=None)
@given(rankings())
def test_label_pivot_is_the_document_pivot_of_the_transpose(pair):
    for name in NAMES:
        by_label = measured(*pair, name, pivot="label")
        assert_array_equal(by_label, measured(*(values.T for values in pair), name))


@settings(max_examples=40, deadline=None)
@given(rankings())
def test_sparse_equals_dense(pair):
    for name in NAMES:
        assert_array_equal(
            measured(sparse.csc_matrix(pair[0]), pair[1], name), measured(*pair, name)
        )


@settings(max_examples=40, deadline=None)
@given(rankings())
def test_only_the_order_of_scores_matters(pair):
    relevant, scores = pair
    for name in NAMES:
        changed = measured(relevant, np.exp(scores) * 10 - 5, name)
        assert_array_equal(changed, measured(relevant, scores, name))


@settings(max_examples=40, deadline=None)
@given(rankings())
def test_perfect_rankings(pair):
    relevant, _ = pair
    for name in set(NAMES) - {"precision_at_k"}:
        values = measured(relevant, relevant.astype(float), name)
        best = 1 if name in HIGHER_IS_BETTER else 0
        # Only the discounts of nDCG need rounding.
        rtol = 1e-14 if name == "ndcg_at_k" else 0
        assert_allclose(values[~np.isnan(values)], best, rtol=rtol, err_msg=name)


@settings(max_examples=40, deadline=None)
@given(rankings())
def test_worst_rankings(pair):
    relevant, _ = pair
    worst = {"auc_roc": 0, "ranking_loss": 1, "is_error": 1, "margin": relevant.shape[1] - 1}
    for name, value in worst.items():
        values = measured(relevant, -relevant.astype(float), name)
        assert_array_equal(values[~np.isnan(values)], value, err_msg=name)
