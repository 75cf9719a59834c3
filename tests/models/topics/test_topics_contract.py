"""scikit-learn's own checks, with their real numbers rounded to counts on the way in."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from setwise.models.topics import DependencyLDA, FlatLDA, base, documents

LABELS = "passes a target that is no matrix of 0 and 1, or expects a flat one"
WEIGHTS = "asks for seven equal digits, but other rows are held out, and weights are not whole"
EXPECTED_FAILURES = {
    "check_positive_only_tag_during_fit": "its negative numbers are made positive here",
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
} | dict.fromkeys(
    [
        "check_classifier_data_not_an_array",
        "check_classifiers_classes",
        "check_classifiers_multilabel_representation_invariance",
        "check_classifiers_one_label_sample_weights",
        "check_classifiers_train",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_dtypes",
        "check_sample_weights_not_an_array",
        "check_sample_weights_not_overwritten",
        "check_sample_weights_pandas_series",
        "check_sample_weights_shape",
    ],
    LABELS,
)


@pytest.fixture(autouse=True)
def rounded(monkeypatch):
    def counts(X):
        return documents.word_counts(np.rint(np.abs(sparse.csr_array(X).toarray())))

    monkeypatch.setattr(base, "word_counts", counts)


@parametrize_with_checks(
    [FlatLDA(), DependencyLDA()], expected_failed_checks=lambda _: EXPECTED_FAILURES
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
