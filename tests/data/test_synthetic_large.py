from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from setwise.data.synthetic_large import _gate_scores, _mean_probability, _perplexity, make_large
from setwise.errors import DataError


def slope(x, y):
    """The exponent of a power law, by a straight line through the logarithms."""
    return np.polyfit(np.log(x), np.log(y), 1)[0]


@pytest.mark.parametrize("condition_number", [1, 30, 2000])
def test_dense_features_are_standard_and_conditioned_as_asked(condition_number):
    X, _ = make_large(2000, 40, 5, 3, condition_number=condition_number, dtype=np.float64)
    assert X.shape == (2000, 40)
    np.testing.assert_allclose(np.linalg.cond(X), condition_number, rtol=1e-6)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1, rtol=1e-9)


def test_singular_values_fall_geometrically():
    X, _ = make_large(500, 10, 5, 3, condition_number=512, dtype=np.float64)
    singular_values = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(singular_values[:-1] / singular_values[1:], 2, rtol=1e-6)


@pytest.mark.parametrize("density", [0.005, 0.1])
def test_sparse_features_look_like_tfidf(density):
    X, _ = make_large(2000, 1000, 5, 3, density=density)
    assert isinstance(X, sparse.csr_array)
    assert X.dtype == np.float32
    np.testing.assert_allclose(X.nnz / (2000 * 1000), density, rtol=0.05)
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1, rtol=1e-5)
    frequencies = np.sort(np.bincount(X.indices, minlength=1000))[::-1]
    assert -1.3 < slope(np.arange(50, 400), frequencies[50:400]) < -0.6


@pytest.mark.parametrize("density", [1.0, 0.02])
@pytest.mark.parametrize("labels_per_row", [1.5, 6.0])
def test_labels_per_row_are_near_the_request(density, labels_per_row):
    X, Y = make_large(8000, 300, 60, 8, density=density, labels_per_row=labels_per_row)
    assert isinstance(Y, sparse.csr_array)
    assert Y.shape == (8000, 60)
    assert X.shape == (8000, 300)
    np.testing.assert_allclose(Y.nnz / 8000, labels_per_row, rtol=0.1)
    frequencies = np.sort(Y.sum(axis=0))
    assert frequencies[-1] > 10 * frequencies[0]


@pytest.mark.parametrize("active", [1.05, 2.5, 4.0])
def test_the_gate_is_as_undecided_as_asked(active):
    X = np.random.default_rng(0).normal(size=(5000, 20))
    scores = _gate_scores(X, 6, active, np.random.default_rng(1))
    np.testing.assert_allclose(_perplexity(scores), active, rtol=0.02)


def test_perplexity_counts_equal_choices():
    scores = np.array([[0, 0, -800, -800], [5, -800, -800, -800]], dtype=float)
    assert _perplexity(scores) == pytest.approx(1.5, rel=1e-12)


def test_the_mean_probability_agrees_with_simulation():
    scores = np.random.default_rng(0).normal(size=400_000) * 1.5
    for bias in (-4.0, 0.0, 2.0):
        simulated = (1 / (1 + np.exp(-bias - scores))).mean()
        np.testing.assert_allclose(_mean_probability(np.array(bias)), simulated, rtol=0.02)


def test_labels_depend_on_x():
    X, Y = make_large(4000, 10, 4, 1, labels_per_row=2, active_components=1)
    design = np.column_stack([X, np.ones(4000)])
    labels = Y.toarray().astype(float)
    residual = labels - design @ np.linalg.lstsq(design, labels, rcond=None)[0]
    explained = 1 - residual.var(axis=0) / labels.var(axis=0)
    assert explained.mean() > 0.1


def test_same_seed_same_data():
    for density in (1.0, 0.1):
        X, Y = make_large(200, 50, 6, 3, density=density)
        X_again, Y_again = make_large(200, 50, 6, 3, density=density)
        assert abs(X - X_again).max() == 0
        assert abs(Y - Y_again).max() == 0
        assert abs(Y - make_large(200, 50, 6, 3, density=density, random_state=1)[1]).max() == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"density": 0}, "density is a number from 0 to 1, zero excluded, not 0"),
        ({"labels_per_row": 7}, "labels_per_row is a number from 0 to 6"),
        ({"active_components": 4}, "active_components is a number from 1 to 3"),
        ({"density": 0.1, "condition_number": 10}, "leave one of the two out"),
        ({"n_features": 100, "condition_number": 10}, "more rows than features"),
        ({"condition_number": 0.5}, "a condition number from 1 up"),
        ({"n_samples": 0}, "n_samples is a whole number from 1 up, not 0"),
    ],
)
def test_what_is_refused(arguments, sentence):
    shape = {"n_samples": 100, "n_features": 20, "n_labels": 6, "n_components": 3}
    with pytest.raises(DataError, match=sentence):
        make_large(**shape | arguments)


def test_the_spread_of_components_makes_sets_repeat():
    shape = {"density": 0.1, "labels_per_row": 2.0}
    counts = [
        len(
            np.unique(make_large(2000, 50, 12, 8, component_spread=s, **shape)[1].toarray(), axis=0)
        )
        for s in (1.5, 6.0)
    ]
    assert counts[1] < 0.7 * counts[0]
