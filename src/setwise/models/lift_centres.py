"""Centres of rows by Lloyd's algorithm, of dense and of sparse rows, and distances to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def squared_distances(X: Any, centres: Any, squares: np.ndarray | None = None) -> np.ndarray:
    """Squared Euclidean distances of rows (n, d) to centres (m, d): (n, m).

    ``squares`` (n,) are the rows' own, for callers that ask again and again.

    >>> squared_distances(np.array([[3.0, 4.0]]), np.zeros((1, 2)))
    array([[25.]])
    """
    cross = X @ centres.T
    cross = cross.toarray() if sparse.issparse(cross) else np.asarray(cross)
    own = squared_lengths(X) if squares is None else squares
    squared: np.ndarray = own[:, None] - 2 * cross + squared_lengths(centres)
    np.maximum(squared, 0, out=squared)
    return squared


def squared_lengths(X: Any) -> np.ndarray:
    """The squared length of each row, (n,)."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("nd,nd->n", X, X))


def k_means(
    X: Any,
    n_centres: int,
    weight: np.ndarray,
    random: np.random.Generator,
    max_iter: int = 30,
) -> np.ndarray:
    """Centres (n_centres, d) of weighted rows, after a start that spreads them (k-means++).

    A centre that no row is nearest to moves to the row that is farthest from its own.
    """
    squares = squared_lengths(X)
    centres = _start(X, squares, n_centres, weight, random)
    nearest = np.full(X.shape[0], -1)
    for _ in range(max_iter):
        squared = squared_distances(X, centres, squares)
        now = squared.argmin(axis=1)
        _fill_empty(now, squared, n_centres)
        if (now == nearest).all():
            break
        nearest = now
        members = sparse.csr_array(
            (weight, (nearest, np.arange(len(nearest)))), shape=(n_centres, len(nearest))
        )
        sums = members @ X
        sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
        centres = sums / np.bincount(nearest, weights=weight, minlength=n_centres)[:, None]
    return centres


def _start(
    X: Any, squares: np.ndarray, n_centres: int, weight: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Rows drawn one after another, likelier the farther they are from those drawn."""
    chosen = [int(random.choice(len(weight), p=weight / weight.sum()))]
    left = squared_distances(X, _dense(X[chosen]), squares)[:, 0]
    while len(chosen) < n_centres:
        chance = left * weight
        if not chance.any():  # fewer different rows than centres: the rest repeat
            chance = weight
        ends = np.cumsum(chance)
        pick = int(np.searchsorted(ends, random.random() * ends[-1], side="right"))
        chosen.append(min(pick, len(weight) - 1))
        left = np.minimum(left, squared_distances(X, _dense(X[chosen[-1:]]), squares)[:, 0])
    return _dense(X[chosen]).astype(np.float64)


def _fill_empty(nearest: np.ndarray, squared: np.ndarray, n_centres: int) -> None:
    """Give every centre a row, in place; one whose rows are all needed elsewhere keeps them."""
    counts = np.bincount(nearest, minlength=n_centres)
    empty = np.flatnonzero(counts == 0)
    if not len(empty):
        return
    own = squared[np.arange(len(nearest)), nearest]
    for row in np.argsort(-own, kind="stable"):
        if counts[nearest[row]] > 1:
            counts[nearest[row]] -= 1
            nearest[row] = empty[-1]
            empty = empty[:-1]
            if not len(empty):
                return


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)
