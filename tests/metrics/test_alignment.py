import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from setwise import metrics
from setwise.errors import DataError, LabelMismatch

TRUTH = np.array([[1, 0, 0], [0, 1, 1]])
PREDICTED = np.array([[1, 0, 0], [0, 1, 0]])
SCORES = np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.7]])
NAMES = ["sea", "sun", "town"]
SETS = [{"sea"}, {"sun", "town"}]


def test_two_lists_of_sets_share_the_union_of_their_labels():
    assert metrics.hamming_loss([{"sea"}, {"sun"}], [{"sea"}, {"town"}]) == 2 / 6
    assert metrics.recall([{"sea"}, {"sun"}], [set(), set()]) == 0


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_are_matched_by_column_name(library):
    frame = library.DataFrame(dict(zip(NAMES, TRUTH.T, strict=True)))
    other = library.DataFrame(dict(zip(NAMES, PREDICTED.T, strict=True)))[["town", "sea", "sun"]]
    assert metrics.set_measures(frame, other) == metrics.set_measures(TRUTH, PREDICTED)
    assert metrics.set_measures(frame, PREDICTED) == metrics.set_measures(TRUTH, PREDICTED)


@pytest.mark.parametrize("library", [pd, pl])
def test_sets_beside_a_frame_are_matched_by_name(library):
    frame = library.DataFrame(dict(zip(NAMES, PREDICTED.T, strict=True)))[["town", "sea", "sun"]]
    expected = metrics.set_measures(TRUTH, PREDICTED)
    assert metrics.set_measures(SETS, frame) == expected
    assert metrics.recall(frame, SETS) == expected["instance_precision"]


def test_sets_beside_an_array_name_columns():
    by_number = [{0}, {1, 2}]
    assert metrics.set_measures(by_number, PREDICTED) == metrics.set_measures(TRUTH, PREDICTED)
    with pytest.raises(LabelMismatch, match="'sea' is not among the 3 labels"):
        metrics.f1([{"sea"}, {"sea"}], PREDICTED)


@pytest.mark.parametrize("library", [pd, pl])
def test_scores_with_names_find_their_labels(library):
    scores = library.DataFrame(dict(zip(NAMES, SCORES.T, strict=True)))[["town", "sea", "sun"]]
    truth = library.DataFrame(dict(zip(NAMES, TRUTH.T, strict=True)))
    expected = metrics.ranking_measures(TRUTH, SCORES)
    assert metrics.ranking_measures(truth, scores) == expected
    assert metrics.ranking_measures(SETS, scores) == expected


def test_scores_rank_labels_given_as_sets_of_columns():
    answer = metrics.ranking_measures([{0}, {1, 2}], SCORES)
    assert answer == metrics.ranking_measures(TRUTH, SCORES)


def test_different_shapes_are_told():
    with pytest.raises(LabelMismatch, match="2 rows and 3 labels but y_pred has 2 rows and 2"):
        metrics.f1(TRUTH, PREDICTED[:, :2])
    with pytest.raises(LabelMismatch, match="2 rows and 3 labels but scores has 1 rows and 3"):
        metrics.auc_roc(TRUTH, SCORES[:1])


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="no rows"):
        metrics.f1([], [])


@pytest.mark.parametrize("scores", [SCORES[0], sparse.csr_array(SCORES), SCORES.astype(str)])
def test_scores_must_be_a_dense_table_of_numbers(scores):
    with pytest.raises(DataError, match="scores must be a dense array of numbers"):
        metrics.auc_roc(TRUTH, scores)


def test_nan_scores_are_refused_with_their_place():
    scores = SCORES.copy()
    scores[1, 2] = np.nan
    with pytest.raises(DataError, match="row 1, column 2"):
        metrics.auc_roc(TRUTH, scores)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_scores_of_any_number_type(dtype):
    scores = (SCORES * 10).astype(dtype)
    expected = metrics.ranking_measures(TRUTH, scores.astype(float))
    assert metrics.ranking_measures(TRUTH, scores) == expected


def test_inputs_are_left_as_they_were():
    truth, scores = sparse.csr_array(TRUTH), SCORES.copy()
    metrics.set_measures(truth, PREDICTED)
    metrics.ranking_measures(truth, scores, pivot="label")
    assert (truth.toarray() == TRUTH).all()
    assert (scores == SCORES).all()
