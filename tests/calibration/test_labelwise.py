import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit

import setwise as sw
from setwise.calibration import LabelCalibrator
from setwise.distributions import Product, Support
from setwise.errors import DataError
from setwise.learners.isotonic import Isotonic
from setwise.learners.platt import Platt
from setwise.storage import load, save

kinds = pytest.mark.parametrize("kind", ["isotonic", "platt"])


@pytest.fixture(scope="module")
def rows():
    """Probabilities whose log-odds are thrice too large, and what came true."""
    random = np.random.default_rng(0)
    z = random.normal(size=(3000, 3))
    return expit(3 * z), (random.random(z.shape) < expit(z)).astype(int)


@kinds
def test_claims_become_frequencies(rows, kind):
    claimed, truth = rows
    fitted = LabelCalibrator(kind).fit(claimed[:2000], truth[:2000])
    honest = expit(logit(claimed[2000:]) / 3)
    assert np.abs(fitted.predict(claimed[2000:]) - honest).mean() < 0.05
    assert np.abs(claimed[2000:] - honest).mean() > 0.1


@pytest.mark.parametrize(
    ("kind", "alone"), [("isotonic", Isotonic(probabilities=True)), ("platt", Platt())]
)
def test_each_label_has_its_own_curve_on_log_odds(rows, kind, alone):
    claimed, truth = rows[0][:200], rows[1][:200]
    found = LabelCalibrator(kind).fit(claimed, sparse.csr_array(truth)).predict(claimed)
    for label in range(3):
        z = logit(claimed[:, label])
        expected = alone.fit(z, truth[:, label]).predict(z)
        np.testing.assert_allclose(found[:, label], expected, rtol=1e-9)


@kinds
def test_weights_count_rows(rows, kind):
    claimed, truth = rows[0][:300], rows[1][:300]
    weights = np.random.default_rng(1).integers(0, 3, size=300)
    weighted = LabelCalibrator(kind).fit(claimed, truth, weights).predict(claimed)
    repeated = LabelCalibrator(kind).fit(
        np.repeat(claimed, weights, 0), np.repeat(truth, weights, 0)
    )
    np.testing.assert_allclose(weighted, repeated.predict(claimed), rtol=1e-6)


def test_the_labels_themselves_are_calibrated_and_then_conditioned(rows):
    """Where no set is empty, curves are of the labels before that is known."""
    claimed, truth = rows
    fitted = LabelCalibrator().fit(claimed, truth)
    plain = Product(logit(claimed[:50]), allow_empty=True, n_jobs=1)
    conditioned = Product(logit(claimed[:50]), allow_empty=False, n_jobs=1)
    expected = fitted.predict(claimed[:50])
    np.testing.assert_allclose(fitted.calibrated(plain).marginals(), expected, rtol=1e-9)
    found = fitted.calibrated(conditioned)
    assert not found.allow_empty
    assert found.n_jobs == 1
    np.testing.assert_allclose(Product(found.logits).marginals(), expected, rtol=1e-9)


def test_marginals_of_any_distribution_can_be_calibrated(rows):
    claimed, truth = rows
    listed = Support(np.array([[1, 0, 1], [0, 1, 1]]), np.log([[0.3, 0.7], [0.9, 0.1]]))
    fitted = LabelCalibrator("platt").fit(claimed, truth)
    found = fitted.calibrated(listed)
    np.testing.assert_allclose(found.marginals(), fitted.predict(listed.marginals()), rtol=1e-9)


@kinds
def test_certain_claims_stay_probabilities(rows, kind):
    fitted = LabelCalibrator(kind).fit(*rows)
    p = fitted.predict([[0.0, 1.0, 0.5]])
    assert ((p > 0) & (p < 1)).all()


@kinds
def test_saved_curves_are_the_same(rows, kind, tmp_path):
    fitted = LabelCalibrator(kind).fit(*rows)
    save(fitted, tmp_path / "curves.setwise")
    again = load(tmp_path / "curves.setwise")
    np.testing.assert_array_equal(again.predict(rows[0]), fitted.predict(rows[0]))


def test_it_takes_what_a_model_says(data):
    X, Y = data
    model = sw.PowerSet().fit(X[:120], Y[:120])
    fitted = LabelCalibrator().fit(model.predict_proba(X[120:]), Y[120:])
    assert fitted.predict(model.predict_proba(X)).shape == Y.shape


@pytest.mark.parametrize(
    ("kind", "claimed", "sentence"),
    [
        ("magic", [[0.5]], "one of .*isotonic.*, not 'magic'"),
        ("platt", [[1.5]], "between 0 and 1"),
        ("platt", [[np.nan]], "between 0 and 1"),
        ("platt", [0.5], r"got shape \(1,\)"),
    ],
)
def test_bad_input_gets_a_sentence(kind, claimed, sentence):
    with pytest.raises(DataError, match=sentence):
        LabelCalibrator(kind).fit(claimed, [[1]])
