import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from setwise.errors import DataError
from setwise.learners import (
    AdaptedBank,
    AdaptedGate,
    BoostedBank,
    BoostedSoftmax,
    ElasticNetBank,
    ElasticNetSoftmax,
    LogisticBank,
    SoftmaxRegression,
    make_bank,
    make_gate,
)

SETTINGS = {"C": 2.0, "max_iter": 7, "random_state": 3, "n_jobs": 1}
TREES = {"n_trees": 7, "random_state": 3, "n_jobs": 1}
CLASSIFIER = LogisticRegression(C=5.0)


def assert_has(made, kind, settings):
    assert type(made) is kind
    assert {name: getattr(made, name) for name in settings} == settings


@pytest.mark.parametrize(
    ("learner", "kind", "settings"),
    [
        ("logistic", LogisticBank, SETTINGS),
        ("elastic", ElasticNetBank, {"C": 2.0, "max_iter": 7, "n_jobs": 1}),
        ("boosting", BoostedBank, TREES),
        (LogisticBank(C=5.0, n_jobs=2), LogisticBank, {"C": 5.0, "max_iter": 200, "n_jobs": 2}),
        (CLASSIFIER, AdaptedBank, {"estimator": CLASSIFIER, "n_jobs": 1}),
    ],
)
def test_banks_come_by_name_by_object_and_around_classifiers(learner, kind, settings):
    bank = make_bank(learner, **SETTINGS)
    assert_has(bank, kind, settings)
    assert bank is not learner


@pytest.mark.parametrize("learner", ["Logistic", None, 3, np.array([1, 2])])
def test_other_things_get_a_sentence(learner):
    with pytest.raises(DataError, match="learner must be one of logistic, elastic, boosting, a"):
        make_bank(learner, **SETTINGS)


@pytest.mark.parametrize("learner", [LogisticBank, SoftmaxRegression, LogisticRegression])
def test_a_class_in_place_of_an_object_gets_a_sentence(learner):
    for make in (make_bank, make_gate):
        with pytest.raises(DataError, match=f"the class {learner.__name__}; pass an object"):
            make(learner, **SETTINGS)


@pytest.mark.parametrize(
    ("learner", "kind", "settings"),
    [
        ("logistic", SoftmaxRegression, {"C": 2.0, "max_iter": 7, "n_jobs": 1}),
        ("elastic", ElasticNetSoftmax, {"C": 2.0, "max_iter": 7}),
        ("boosting", BoostedSoftmax, TREES),
        (SoftmaxRegression(C=5.0, n_jobs=2), SoftmaxRegression, {"C": 5.0, "n_jobs": 2}),
        (CLASSIFIER, AdaptedGate, {"estimator": CLASSIFIER}),
    ],
)
def test_gates_come_by_name_by_object_and_around_classifiers(learner, kind, settings):
    gate = make_gate(learner, **SETTINGS)
    assert_has(gate, kind, settings)
    assert gate is not learner


@pytest.mark.parametrize("learner", ["Logistic", None, LogisticBank(), np.array([1, 2])])
def test_what_is_no_gate_gets_a_sentence(learner):
    with pytest.raises(DataError, match="learner must be one of"):
        make_gate(learner, **SETTINGS)


@pytest.mark.parametrize(
    ("make", "learner"), [(make_bank, LogisticBank()), (make_gate, SoftmaxRegression())]
)
def test_a_copy_that_learns_leaves_the_object_as_it_was(make, learner):
    learner.weights_ = np.zeros((1, 2))  # what a fit would start from
    made = make(learner, **SETTINGS)
    made.weights_ += 1
    assert not learner.weights_.any()
