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


@pytest.mark.parametrize(
    ("learner", "kind"),
    [
        ("logistic", LogisticBank),
        ("elastic", ElasticNetBank),
        ("boosting", BoostedBank),
        (LogisticBank(C=5.0), LogisticBank),
        (LogisticRegression(), AdaptedBank),
    ],
)
def test_banks_come_by_name_by_object_and_around_classifiers(learner, kind):
    bank = make_bank(learner, **SETTINGS)
    assert type(bank) is kind
    assert bank is not learner


@pytest.mark.parametrize("learner", ["Logistic", None, 3, np.array([1, 2])])
def test_other_things_get_a_sentence(learner):
    with pytest.raises(DataError, match="learner must be one of"):
        make_bank(learner, **SETTINGS)


@pytest.mark.parametrize("learner", [LogisticBank, LogisticRegression])
def test_a_class_in_place_of_an_object_gets_a_sentence(learner):
    with pytest.raises(DataError, match="pass an object"):
        make_bank(learner, **SETTINGS)


@pytest.mark.parametrize(
    ("learner", "kind"),
    [
        ("logistic", SoftmaxRegression),
        ("elastic", ElasticNetSoftmax),
        ("boosting", BoostedSoftmax),
        (SoftmaxRegression(C=5.0), SoftmaxRegression),
        (LogisticRegression(), AdaptedGate),
    ],
)
def test_gates_come_by_name_by_object_and_around_classifiers(learner, kind):
    gate = make_gate(learner, **SETTINGS)
    assert type(gate) is kind
    assert gate is not learner


@pytest.mark.parametrize("learner", ["Logistic", None, LogisticBank(), np.array([1, 2])])
def test_what_is_no_gate_gets_a_sentence(learner):
    with pytest.raises(DataError, match="learner must be one of"):
        make_gate(learner, **SETTINGS)
