import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from setwise.learners.ridge import RidgeRegression


@pytest.mark.parametrize(("n", "d"), [(30, 5), (5, 30), (7, 7)])
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weighted", [True, False])
def test_it_is_scikit_learns(n, d, as_given, weighted):
    random = np.random.default_rng(n)
    X, Z = random.normal(size=(n, d)) + 1, random.normal(size=(n, 3)) - 2
    weight = random.integers(0, 3, size=n).astype(float) + (np.arange(n) == 0) if weighted else None
    ours = RidgeRegression(C=0.7).fit(as_given(X), Z, weight)
    theirs = Ridge(alpha=1 / 1.4).fit(X, Z, sample_weight=weight)
    np.testing.assert_allclose(ours.weights_, theirs.coef_.T, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)
    np.testing.assert_allclose(ours.predict(as_given(X)), theirs.predict(X), rtol=1e-8)
