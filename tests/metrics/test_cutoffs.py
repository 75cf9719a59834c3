from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from setwise import metrics
from setwise.errors import DataError, LabelMismatch
from setwise.metrics import ranked

TRUTH = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
SCORES = np.array([[0.9, 0.6, 0.5, 0.1], [0.7, 0.2, 0.8, 0.1], [0.4, 0.3, 0.2, 0.1]])


@st.composite
def rankings(draw):
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 6)))
    relevant = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1)))
    return relevant, draw(hnp.arrays(np.float64, shape, elements=st.integers(-2, 2).map(float)))


def best_first(scores):
    return sorted(range(len(scores)), key=lambda j: (-scores[j], j))


def f1_after(relevant, scores, count):
    taken = best_first(scores)[:count]
    return Fraction(2 * int(relevant[taken].sum()), max(1, count + int(relevant.sum())))


def test_proportional_documents_get_the_median_size_rounded_up():
    sizes_1_1_3 = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1]])
    assert metrics.proportional_cutoff(sizes_1_1_3, n_test=2).tolist() == [1, 1]
    sizes_1_2 = np.array([[1, 0], [1, 1]])
    assert metrics.proportional_cutoff(sizes_1_2, n_test=3).tolist() == [2, 2, 2]


def test_proportional_labels_get_the_exact_ceiling():
    Y_train = np.zeros((100, 3), dtype=int)
    Y_train[:7, 0] = Y_train[:1, 1] = 1
    # 100 / 100 * 7 = 7 and 0; as floats 7 / 100 * 100 would become 8.
    assert metrics.proportional_cutoff(Y_train, 100, "label").tolist() == [7, 1, 0]
    assert metrics.proportional_cutoff(Y_train, 50, "label").tolist() == [4, 1, 0]


def test_calibrated_is_the_truth():
    assert metrics.calibrated_cutoff(TRUTH).tolist() == [2, 1, 0]
    assert metrics.calibrated_cutoff(TRUTH, "label").tolist() == [1, 1, 1, 0]


def test_break_even_worked_by_hand():
    # Document 1, order 1 0 1 0: F1 2/3, 2/4, 4/5, 4/6. Document 2, order 0 0 1 0: 0, 0, 2/4, 2/5.
    assert metrics.break_even_cutoff(TRUTH, SCORES).tolist() == [3, 3, 0]


def test_break_even_takes_the_smallest_of_equals():
    # Order 1 0 0 1: F1 2/3, 2/4, 2/5, 4/6.
    answer = metrics.break_even_cutoff(np.array([[1, 0, 0, 1]]), SCORES[:1])
    assert answer.tolist() == [1]


@settings(max_examples=40, deadline=None)
@given(rankings())
def test_break_even_equals_the_loop(pair):
    relevant, scores = pair
    slow = [
        max(range(len(r) + 1), key=lambda count, r=r, s=s: (f1_after(r, s, count), -count))
        for r, s in zip(relevant, scores, strict=True)
    ]
    assert metrics.break_even_cutoff(relevant, scores).tolist() == slow
    assert_array_equal(metrics.break_even_cutoff(relevant.T, scores.T, "label"), slow)


@settings(max_examples=40, deadline=None)
@given(rankings(), st.integers(0, 8))
def test_top_n_equals_the_loop(pair, count):
    _, scores = pair
    slow = np.zeros(scores.shape, dtype=int)
    for row, values in enumerate(scores):
        slow[row, best_first(values)[:count]] = 1
    assert_array_equal(metrics.top_n(scores, count).toarray(), slow)
    assert_array_equal(metrics.top_n(scores.T, count, "label").toarray(), slow.T)


@settings(max_examples=40, deadline=None)
@given(rankings())
def test_no_cutoff_beats_break_even(pair):
    relevant, scores = pair
    best = metrics.cutoff_f1(relevant, scores, "bep")
    for count in range(relevant.shape[1] + 1):
        assert metrics.f1(relevant, metrics.top_n(scores, count)) <= best + 1e-12


def test_top_n_is_canonical():
    chosen = metrics.top_n(SCORES, [3, 1, 0], "document")
    assert chosen.dtype == np.int8
    assert chosen.indices.dtype == np.int32
    assert chosen.has_sorted_indices
    assert chosen.sum(axis=1).tolist() == [3, 1, 0]


def test_cutoff_f1_worked_by_hand():
    # Calibrated: 2 of document 1 hold 1 relevant, 1 of document 2 holds none, document 3 is 0/0.
    assert_allclose(metrics.cutoff_f1(TRUTH, SCORES, "calibrated"), (2 / 4) / 3, rtol=1e-14)
    answer = metrics.cutoff_f1(TRUTH, SCORES, "calibrated", zero_division=1)
    assert_allclose(answer, (2 / 4 + 0 + 1) / 3, rtol=1e-14)
    micro = metrics.cutoff_f1(TRUTH, SCORES, "calibrated", average="micro")
    assert_allclose(micro, 2 * 1 / (3 + 3), rtol=1e-14)
    # Break-even takes 3, 3 and 0.
    assert_allclose(metrics.cutoff_f1(TRUTH, SCORES, "bep"), (4 / 5 + 2 / 4 + 0) / 3, rtol=1e-14)
    # The median training size is 1: documents 1, 2, 3 find 1, 0, 0 relevant labels.
    proportional = metrics.cutoff_f1(TRUTH, SCORES, Y_train=TRUTH)
    assert_allclose(proportional, (2 / 3 + 0 + 0) / 3, rtol=1e-14)


def test_cutoff_f1_of_labels():
    # Each label takes its one true document: label 1 finds it, 2 takes document 1, 3 document 2.
    answer = metrics.cutoff_f1(TRUTH, SCORES, "calibrated", pivot="label")
    assert_allclose(answer, 1 / 4, rtol=1e-14)
    answer = metrics.cutoff_f1(TRUTH, SCORES, "proportional", pivot="label", Y_train=TRUTH)
    assert_allclose(answer, 1 / 4, rtol=1e-14)


def test_batches_do_not_change_the_cutoffs(monkeypatch):
    random = np.random.default_rng(0)
    relevant, scores = random.integers(0, 2, (23, 5)), random.integers(0, 3, (23, 5)) / 2
    whole = metrics.break_even_cutoff(relevant, scores), metrics.top_n(scores, 2).toarray()
    monkeypatch.setattr(ranked, "BATCH_CELLS", 12)
    assert_array_equal(metrics.break_even_cutoff(relevant, scores), whole[0])
    assert_array_equal(metrics.top_n(scores, 2).toarray(), whole[1])


def test_what_is_missing_or_wrong_is_told():
    with pytest.raises(DataError, match="pass Y_train"):
        metrics.cutoff_f1(TRUTH, SCORES)
    with pytest.raises(LabelMismatch, match="Y_train has 2 labels but y_true has 4"):
        metrics.cutoff_f1(TRUTH, SCORES, Y_train=TRUTH[:, :2])
    with pytest.raises(DataError, match="'proportional', 'calibrated', 'bep'; got 'best'"):
        metrics.cutoff_f1(TRUTH, SCORES, "best")
    with pytest.raises(DataError, match="'macro', 'micro'; got 'samples'"):
        metrics.cutoff_f1(TRUTH, SCORES, "bep", average="samples")
    with pytest.raises(DataError, match="no rows to count"):
        metrics.proportional_cutoff(TRUTH[:0], 3)


@pytest.mark.parametrize("counts", [[1, 2], -1, 1.5, [1, 2, -1]])
def test_counts_are_whole_numbers_one_an_item(counts):
    with pytest.raises(DataError, match="for each of the 3 items"):
        metrics.top_n(SCORES, counts)
