import sys

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from setwise.errors import MissingDependency, StorageError
from setwise.learners.foreign import from_bytes, to_bytes


class Homemade(LogisticRegression):
    pass


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3),
        MLPClassifier(3, solver="lbfgs", max_iter=500, random_state=0),
    ],
)
def test_what_is_read_predicts_what_was_written(estimator):
    X = np.random.default_rng(0).normal(size=(60, 3))
    estimator.fit(X, X[:, 0] > 0)
    again = from_bytes(to_bytes(estimator))
    np.testing.assert_array_equal(again.predict_proba(X), estimator.predict_proba(X))


@pytest.mark.parametrize("estimator", [Homemade(), FunctionTransformer(np.testing.assert_equal)])
def test_types_beyond_the_list_are_neither_written_nor_read(estimator):
    with pytest.raises(StorageError, match="only known parts of scikit-learn"):
        to_bytes(estimator)
    with pytest.raises(StorageError, match="only known parts of scikit-learn"):
        from_bytes(skops.io.dumps(estimator))


def test_damaged_bytes_get_a_sentence():
    with pytest.raises(StorageError, match="not a readable estimator"):
        from_bytes(b"PK nonsense")


def test_a_missing_skops_gets_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(MissingDependency, match="needs skops"):
        to_bytes(LogisticRegression())
