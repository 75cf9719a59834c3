"""The weights of a field: the largest conditional likelihood under a penalty.

In scikit-learn's terms, for weights W of features, interactions q of pairs and free biases b,

    L2            C sum_i w_i [-log p(y_i|x_i)] + |W|^2 / 2 + (C / C_pairs) |q|^2 / 8
    elastic net   ... + a (|W|_1 + (C / C_pairs) |q|_1) + (1 - a) (the squares above)

with a the ``l1_ratio``. The pairs' penalties are those of their four weights (see ``potentials``).
L-BFGS, or OWL-QN where there are magnitudes, works in variables that give the loss a curvature of
about one. A label that all rows have, or none, keeps the smoothed log-odds as its bias and gets no
weights: its bias would have no finite optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from setwise.learners.bank_inputs import is_constant, smoothed_log_odds
from setwise.learners.lbfgs import minimise
from setwise.learners.owlqn import minimise_sparse
from setwise.learners.solution import warn_if_short
from setwise.learners.whitening import Whitening
from setwise.learners.workers import Workers
from setwise.models.crf.listed import Likelihood
from setwise.models.crf.potentials import SHARE_OF_SQUARE, as_matrix, of_pairs
from setwise.models.crf.products import Products
from setwise.models.crf.variables import LEAST_SPREAD, CentredScales, whitening_of
from setwise.models.used_columns import put_back, with_used_columns

TOL = 1e-6  # how far the objective may be above its minimum, relatively, by the solver's estimate


class Field(NamedTuple):
    """A fitted field, and how it was reached."""

    weights: np.ndarray  # (d, L)
    biases: np.ndarray  # (L,)
    interactions: np.ndarray  # (L, L), symmetric
    objective: float
    n_iter: int


class Strength(NamedTuple):
    """Of the penalties."""

    C: float
    C_pairs: float
    l1_ratio: float = 0.0


@dataclass(frozen=True)
class Objective:
    """The penalised loss, over C, as a function of (W, q) in one column, in fitting variables.

    Magnitudes are not in it: they are the solver's.
    """

    products: Products
    likelihood: Likelihood
    free: np.ndarray  # (L,) bool, which labels may move
    strength: Strength
    whitening: Whitening
    pair_scales: np.ndarray  # (L (L - 1) / 2,)

    def evaluate(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The value (1,) and the gradient (D, 1)."""
        W, q = self.weights(V[:, 0])
        Z = self.products.scores(W)
        pairs = as_matrix(q, W.shape[1])
        value, R, by_pair = self.likelihood.evaluate(Z, pairs, self.products.workers)
        R *= self.free
        by_pair *= self.free[:, None] & self.free
        G, g = self.products.gradient(R), of_pairs(by_pair)
        ridge, pair_ridge = self.ridges
        G[:-1] += np.asarray(ridge, W.dtype) * W[:-1]
        value += ridge / 2 * float(np.square(W[:-1], dtype=np.float64).sum())
        value += pair_ridge / 2 * float(np.square(q, dtype=np.float64).sum())
        g = g + np.asarray(pair_ridge, q.dtype) * q
        slopes = np.concatenate([self.whitening.gradient(G).ravel(), self.pair_scales * g])
        return np.array([value]), slopes[:, None]

    def taken(self, columns: np.ndarray) -> Objective:
        """Itself: there is but one problem."""
        return self

    def weights(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W (d + 1, L), the biases last, and the interactions of the pairs."""
        L = len(self.free)
        size = (self.products.X.shape[1] + 1) * L
        W = self.whitening.weights(v[:size].reshape(-1, L))
        return W, self.pair_scales * v[size:]

    def variables(self, W: np.ndarray) -> np.ndarray:
        """Those of weights W and no interactions, (D,)."""
        nothing = np.zeros(len(self.pair_scales), W.dtype)
        return np.concatenate([self.whitening.inverse(W).ravel(), nothing])

    @cached_property
    def ridges(self) -> tuple[float, float]:
        """Of the weights and of the interactions."""
        return ridges_of(self.strength)


def ridges_of(strength: Strength) -> tuple[float, float]:
    """Factors of the halved squares of weights and of interactions, where the loss has none."""
    smooth = 1 - strength.l1_ratio
    return smooth / strength.C, smooth * SHARE_OF_SQUARE / strength.C_pairs


def fit_field(
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray,
    likelihood: Likelihood,
    strength: Strength,
    *,
    max_iter: int = 200,
    tol: float = TOL,
    n_jobs: int | None = None,
    warn: bool = True,
) -> Field:
    """The field of rows X (n, d) with sets Y (n, L), 0 and 1, and weights (n,)."""
    n_features, (X, used) = X.shape[1], with_used_columns(X)
    total, positive = weight.sum(), weight @ Y
    W = np.zeros((X.shape[1] + 1, Y.shape[1]), X.dtype)
    W[-1] = smoothed_log_odds(positive, total)
    free = ~is_constant(positive, total)
    if not free.any():
        weights = put_back(W[:-1], used, n_features)
        return Field(weights, W[-1], np.zeros((len(free), len(free))), 0.0, 0)
    with Workers(n_jobs) as workers:
        products = Products(X, workers)
        objective = Objective(
            products,
            likelihood,
            free,
            strength,
            _whitening(products, positive / total, weight, strength),
            _pair_scales(Y, weight, strength).astype(X.dtype),
        )
        v, value, converged, n_iter = _solved(objective, W, max_iter, tol)
    W, q = objective.weights(v)
    if warn:
        warn_if_short(np.array([converged]), n_iter=n_iter, tol=tol, what="fields")
    weights = put_back(W[:-1] * free, used, n_features)
    return Field(weights, W[-1], as_matrix(q, Y.shape[1]), strength.C * value, n_iter)


def _solved(
    objective: Objective, W: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, float, bool, int]:
    start = objective.variables(W)
    C, C_pairs, l1 = objective.strength
    whitening = objective.whitening
    if l1 == 0 or not isinstance(whitening, CentredScales):
        found = minimise(objective, start[:, None], max_iter=max_iter, tol=tol)
        return found.V[:, 0], float(found.values[0]), bool(found.converged[0]), found.n_iter
    scales = whitening.scale * (l1 / C)
    scales[-1] = 0  # biases are free
    magnitudes = np.concatenate([scales.ravel(), objective.pair_scales * (l1 / C_pairs)])

    def smooth(v: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = objective.evaluate(v[:, None])
        return float(value[0]), slopes[:, 0]

    return minimise_sparse(smooth, start, magnitudes, max_iter=max_iter, tol=tol)


def _whitening(
    products: Products, shares: np.ndarray, weight: np.ndarray, strength: Strength
) -> Whitening:
    return whitening_of(
        products.rows,
        shares,
        weight,
        ridges_of(strength)[0],
        products.workers,
        scales_alone=strength.l1_ratio > 0,
    )


def _pair_scales(Y: np.ndarray, weight: np.ndarray, strength: Strength) -> np.ndarray:
    """One over the root of the curvature by each interaction, were its pair the only one."""
    total, each = weight.sum(), weight @ Y
    # As often as they would meet by chance, at least: pairs never seen are not flat.
    share = of_pairs(np.maximum((Y.T * weight) @ Y, np.outer(each, each) / total)) / total
    bound = total * share * (1 - share) + ridges_of(strength)[1]
    scales: np.ndarray = 1 / np.sqrt(np.maximum(bound, LEAST_SPREAD))
    return scales
