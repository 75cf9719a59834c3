import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.errors import DataError
from setwise.models.kernel_features import KernelFeatures, gaussian, inverse_root, spread_of


def rings(n=300, seed=0):
    """Rows in the plane; labels tell how far from the middle they are, which no line does."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    far = np.hypot(*X.T)
    return X, np.column_stack([far < 1.0, far > 0.7]).astype(int)


def fitted_features(X, **options):
    random = np.random.default_rng(0)
    return KernelFeatures(**options).fit(X, np.ones(X.shape[0]), random)


def test_the_kernel_is_one_at_its_centre_and_falls_with_distance():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(gaussian(X, X[:1], 5.0).ravel(), [1, np.exp(-0.5)], rtol=1e-12)


def test_the_root_inverts_where_the_kernel_is_more_than_rounding():
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.normal(size=(5, 5)))[0]
    values = np.array([4.0, 2.0, 1.0, 0.5, 1e-14])
    root = inverse_root((basis * values) @ basis.T)
    np.testing.assert_allclose(root, root.T, atol=1e-10)
    expected = (basis[:, :4] / values[:4]) @ basis[:, :4].T
    np.testing.assert_allclose(root @ root, expected, atol=1e-8)


def test_products_of_features_are_the_kernel_where_one_is_a_landmark():
    X, _ = rings(60)
    features = fitted_features(X, n_landmarks=20, width=0.5)
    landmarks = features.landmarks_ / features.scaling_.factor_ + features.scaling_.mean_
    kernel = gaussian(features.scaling_.transform(X), features.landmarks_, 0.5)
    found = features.transform(X) @ features.transform(landmarks).T
    np.testing.assert_allclose(found, kernel, atol=1e-6)


def test_two_rows_are_a_typical_distance_apart_after_scaling():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 100, 0.01] + 7
    scaled = fitted_features(X).scaling_.transform(X)
    squared = ((scaled[:, None] - scaled) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared.mean(), 2.0, rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 3.0, 10.0])
def test_the_width_is_a_typical_distance_of_sparse_rows_too(offset):
    X, Y = rings()
    rows = sparse.csr_array(X + offset)  # which are not centred, so that they stay sparse
    features = fitted_features(rows, width=1.5)
    scaled = features.scaling_.transform(rows).toarray()
    squared = ((scaled[:, None] - scaled) ** 2).sum(axis=2)
    np.testing.assert_allclose(2 * features.width_**2 / 1.5**2, squared.mean(), rtol=1e-6)
    assert sw.KernelModel(sw.PowerSet(C=10), n_landmarks=50).fit(rows, Y).score(rows, Y) > 0.9


def test_rows_that_are_all_alike_have_a_width():
    assert spread_of(np.full((4, 2), 0.5), np.ones(4)) == 1.0
    assert fitted_features(np.ones((4, 2))).width_ == 1.0


def test_there_are_at_most_half_as_many_landmarks_as_rows():
    X, _ = rings(41)
    assert fitted_features(X).landmarks_.shape == (20, 2)
    assert fitted_features(X, n_landmarks=5).landmarks_.shape == (5, 2)
    assert fitted_features(X[:1]).landmarks_.shape == (1, 2)


@pytest.mark.parametrize("inside", [sw.PowerSet(C=10), sw.BinaryRelevance(C=10), sw.CBM(C=10)])
def test_it_learns_what_no_linear_model_can(inside):
    X, Y = rings()
    X_new, Y_new = rings(seed=1)
    linear = inside.fit(X, Y).score(X_new, Y_new)
    bent = sw.KernelModel(inside, n_landmarks=50).fit(X, Y).score(X_new, Y_new)
    assert linear < 0.6
    assert bent > 0.9


def test_it_is_its_model_on_the_kernels_features():
    X, Y = rings()
    model = sw.KernelModel(sw.PowerSet(C=3), n_landmarks=30).fit(X, Y)
    features = fitted_features(X, n_landmarks=30)
    twin = sw.PowerSet(C=3).fit(features.transform(X), Y)
    np.testing.assert_allclose(
        model.predict_proba(X), twin.predict_proba(features.transform(X)), atol=1e-8
    )


def test_sparse_rows_are_answered_as_dense_ones_of_the_same_scale():
    X, Y = rings(80)
    rows = sparse.csr_array(np.abs(X))
    model = sw.KernelModel(sw.PowerSet(), n_landmarks=10).fit(rows, Y)
    assert model.predict_proba(rows).shape == (80, 2)
    np.testing.assert_allclose(
        model.predict_proba(rows), model.predict_proba(rows.toarray()), rtol=1e-9
    )


def test_rows_without_weight_are_as_if_absent():
    X, Y = rings(100)
    weight = np.r_[np.ones(80), np.zeros(20)]
    model = sw.KernelModel(sw.PowerSet(), n_landmarks=10)
    some = model.fit(X, Y, weight).predict_proba(X)
    np.testing.assert_allclose(some, model.fit(X[:80], Y[:80]).predict_proba(X), atol=1e-4)


def test_what_its_model_has_chosen_is_told():
    X, Y = rings()
    Y ^= np.random.default_rng(0).random(Y.shape) < 0.2
    assert sw.KernelModel(sw.PowerSet(C="auto")).fit(X, Y).chosen_["C"] < 10
    assert sw.KernelModel(sw.PowerSet(C=2.0)).fit(X, Y).chosen_ == {}
    assert "C" in sw.KernelModel().fit(X, Y).chosen_
    assert sw.KernelModel().fit(X[:6], Y[:6]).chosen_ == {}  # too few to hold rows out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_landmarks": 0}, "n_landmarks is a whole number from 1 up"),
        ({"width": 0}, "width is a number over zero, not 0; one is a typical distance"),
        ({"width": 1e-200}, "width is from 0.001 to 1000 typical distances, not 1e-200"),
        ({"width": 1e200}, "width is from 0.001 to 1000 typical distances"),
        ({"estimator": "PowerSet"}, "estimator is a model of setwise"),
        ({"estimator": sw.CLEMS()}, "with a probability of sets, and CLEMS has none"),
    ],
)
def test_settings_without_a_meaning_get_a_sentence(options, words):
    with pytest.raises(DataError, match=words):
        sw.KernelModel(**options).fit(*rings(20))
