"""Data of the shapes that benchmarks need: many rows, labels and components, dense or sparse.

Rows belong to one of K components, chosen by a gate that depends on x; each component has its own
likely labels, and which of them a row has depends on x again. Labels are drawn component by
component for its own rows only: nothing larger than (n, d), (n, K) or a component's (rows, L) is
ever held.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from setwise.data.arguments import check_counts
from setwise.data.labels import binary_csr
from setwise.data.randomness import Seed, as_generator
from setwise.errors import DataError

LABEL_SCALE = 1.5  # deviation, over x, of a label's log-odds within a component
CALIBRATION_ROWS = 2000

Features: TypeAlias = np.ndarray | sparse.csr_array


def make_large(
    n_samples: int,
    n_features: int,
    n_labels: int,
    n_components: int,
    *,
    density: float = 1.0,
    labels_per_row: float = 3.0,
    condition_number: float | None = None,
    active_components: float = 3.0,
    component_spread: float = 1.5,
    random_state: Seed = 0,
    dtype: Any = np.float32,
) -> tuple[Features, sparse.csr_array]:
    """Features X, (n, d), and labels Y, CSR (n, L), of a large random mixture.

    Parameters
    ----------
    n_samples, n_features, n_labels, n_components : int
        n, d, L and K.
    density : float
        Share of X that is not zero. Below 1, X is CSR like tf-idf: features with power-law
        frequencies, rows of length one.
    labels_per_row : float
        Mean number of labels; a few per cent off. Label frequencies follow a power law.
    condition_number : float, optional
        For dense X: the ratio of the largest to the smallest singular value of X itself, whose
        columns have mean 0 and deviation 1; that of X'X is its square. The singular values between
        fall geometrically. Needs more rows than features, and beyond 10,000 float64.
    active_components : float
        How many components a row hesitates between: the mean of exp(entropy of its gate).
    component_spread : float
        Deviation, over components, of a label's log-odds. The more, the better labels tell
        components from each other, and the fewer sets are distinct: 5.5 gives tmc2007's.
    random_state : int, None, RandomState or Generator
        Seeds everything.
    dtype : dtype
        Of X.

    Examples
    --------
    >>> X, Y = make_large(1000, 20, 10, 4, labels_per_row=2, condition_number=100)
    >>> round(float(np.linalg.cond(X)))
    100
    """
    check_counts(
        n_samples=n_samples, n_features=n_features, n_labels=n_labels, n_components=n_components
    )
    _check_range("density", density, 0, 1)
    _check_range("labels_per_row", labels_per_row, 0, n_labels)
    _check_range("component_spread", component_spread, 0, 100)
    _check_range("active_components", active_components, 1, n_components)
    random = as_generator(random_state)
    X = _features(n_samples, n_features, density, condition_number, random).astype(dtype)
    gate_scores = _gate_scores(X, n_components, active_components, random)
    component = (gate_scores + random.gumbel(size=gate_scores.shape)).argmax(axis=1)
    sizes = np.bincount(component, minlength=n_components)
    biases = _label_biases(sizes, n_labels, labels_per_row, component_spread, random)
    return X, _draw_labels(X, component, biases, random)


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high or value == 0:
        raise DataError(
            f"{name} is a number from {low} to {high:g}, zero excluded, not {value!r}; correct it"
        )


def _features(
    n: int, d: int, density: float, condition_number: float | None, random: np.random.Generator
) -> Features:
    if density < 1 and condition_number is not None:
        raise DataError(
            f"condition_number={condition_number} is for dense X, but density is {density}; "
            "leave one of the two out"
        )
    if density < 1:
        return _tfidf(n, d, density, random)
    if condition_number is None:
        return random.normal(size=(n, d))
    return _conditioned(n, d, condition_number, random)


def _conditioned(
    n: int, d: int, condition_number: float, random: np.random.Generator
) -> np.ndarray:
    """Standardised Gaussian rows (n, d) whose singular values are as asked."""
    if n <= d or condition_number < 1:
        raise DataError(
            f"a condition number from 1 up needs more rows than features, not {condition_number} "
            f"with {n} rows and {d} features; add rows or leave it out"
        )
    from scipy.stats import random_correlation  # slow to import

    singular_values = np.geomspace(condition_number, 1, d)
    eigenvalues = singular_values**2 * d / (singular_values**2).sum()
    correlation = random_correlation.rvs(eigenvalues, random_state=random)
    Z = random.normal(size=(n, d))
    Z -= Z.mean(axis=0)
    # Whiten by the sample covariance, not the true one: then the correlation comes out exactly.
    whiten = np.linalg.inv(np.linalg.cholesky(Z.T @ Z / n))
    X: np.ndarray = Z @ (np.linalg.cholesky(correlation) @ whiten).T
    return X


def _tfidf(n: int, d: int, density: float, random: np.random.Generator) -> sparse.csr_array:
    """Rows of words drawn with power-law frequencies, weighted as tf-idf, of length one."""
    frequency = 1 / np.arange(10, d + 10)
    frequency = random.permutation(frequency / frequency.sum())
    # A frequent word is drawn twice and counts once: draw as many as give the distinct ones asked.
    draws = _solve(lambda m: -np.expm1(m * np.log1p(-frequency)).sum(), density * d, 1, 100 * d)
    lengths = np.maximum(1, random.poisson(draws, size=n))
    words = np.searchsorted(np.cumsum(frequency), random.random(lengths.sum()))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ones = np.ones(len(words))
    counts = sparse.csr_array((ones, np.minimum(words, d - 1), starts), shape=(n, d))
    counts.sum_duplicates()
    document_frequency = np.bincount(counts.indices, minlength=d)
    idf = np.log((1 + n) / (1 + document_frequency)) + 1
    counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
    length = np.sqrt(counts.multiply(counts).sum(axis=1))
    counts.data /= np.repeat(length, np.diff(counts.indptr))
    return counts


def _gate_scores(X: Features, K: int, active: float, random: np.random.Generator) -> np.ndarray:
    """Log-weights of the components, up to a constant a row, (n, K), as undecided as asked."""
    scores: np.ndarray = X @ _weights(X, K, random)
    some = scores[:CALIBRATION_ROWS].astype(float)
    return scores * _solve(lambda sharpness: -_perplexity(sharpness * some), -active, 0, 1000)


def _perplexity(scores: np.ndarray) -> float:
    """The mean over rows of exp(entropy of the softmax)."""
    pi = softmax(scores, axis=1)
    entropy = -(pi * np.log(np.maximum(pi, np.finfo(float).tiny))).sum(axis=1)
    return float(np.exp(entropy).mean())


def _label_biases(
    rows: np.ndarray, L: int, labels_per_row: float, spread: float, random: np.random.Generator
) -> np.ndarray:
    """Log-odds of each label in each component, (K, L), at the mean of x."""
    log_frequency = -np.log(random.permutation(np.arange(1, L + 1)))
    taste = spread * random.normal(size=(len(rows), L))
    share = rows / rows.sum()

    def mean_labels(shift: float) -> float:
        return float(share @ _mean_probability(shift + log_frequency + taste).sum(axis=1))

    biases: np.ndarray = _solve(mean_labels, labels_per_row, -50, 50) + log_frequency + taste
    return biases


def _mean_probability(biases: np.ndarray) -> np.ndarray:
    """The mean over x of a label's probability, its score being Gaussian; by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    mean: np.ndarray = expit(biases[..., None] + LABEL_SCALE * nodes) @ (weights / weights.sum())
    return mean


def _draw_labels(
    X: Features, component: np.ndarray, biases: np.ndarray, random: np.random.Generator
) -> sparse.csr_array:
    """Labels of each row from the logistic models of its component: CSR (n, L)."""
    K, L = biases.shape
    found = []
    for k in range(K):
        rows = np.flatnonzero(component == k)
        scores = LABEL_SCALE * (X[rows] @ _weights(X, L, random)) + biases[k]  # (rows, L)
        row, label = np.nonzero(random.logistic(size=scores.shape) < scores)
        found.append((rows[row], label))
    rows, labels = (np.concatenate(part) for part in zip(*found, strict=True))
    ones = np.ones(len(rows), dtype=np.int8)
    return binary_csr(sparse.csr_array((ones, (rows, labels)), shape=(len(component), L)))


def _weights(X: Features, m: int, random: np.random.Generator) -> np.ndarray:
    """Weights (d, m) of X's type whose scores deviate by about one."""
    d = X.shape[1]
    weights = random.standard_normal(size=(d, m), dtype=np.float32).astype(X.dtype)
    # Sparse rows have length one; dense ones about sqrt(d).
    return weights if sparse.issparse(X) else weights / np.sqrt(d, dtype=X.dtype)


def _solve(rising: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where a rising function reaches its target, by halving; an end where it never does."""
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < target else (low, middle)
    return (low + high) / 2
