"""A binary tree whose leaves are the components of a mixture, similar ones close together.

A gate that decides node by node decides easily where the two sides of a node differ in their
features, and a node that is sure prunes much where they also differ in their labels. So components
are described by the mean features and the mean labels of their rows; both descriptions count the
same: the components differ by one unit in each, in the mean square. Only inner products of them are
needed, a Gram matrix (K, K).

From the root down, the components of a node are sorted along the direction in which they differ
most, and cut there where the two sides differ most while neither has less than a quarter of the
rows: like a Shannon-Fano code, where a row that belongs to a heavy component has a short way down.

A tree is an array ``children`` (K - 1, 2): the left and the right child of each inner node, another
node's number or ``~k`` (which is below zero) for component k. Node 0 is the root, and parents come
before their children.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from setwise.models.cbm.rows import TrainingRows

LEAST_SIDE = 0.25  # of a node's mass
ROUNDING = 1e-10  # of the mean square
LEAST_SHARE = 1e-6  # of all mass: a component without rows is nowhere else


def tree_of_components(training: TrainingRows, T: np.ndarray) -> np.ndarray:
    """The children (K - 1, 2), from responsibilities T (n, K)."""
    shares = sparse.csr_array((T * training.weight[:, None]).T)  # (K, n)
    mass = np.maximum(shares.sum(axis=1) / training.total, LEAST_SHARE)
    gram = _gram(shares, mass, training.X) + _gram(shares, mass, training.Y)
    return grow(gram, mass / mass.sum())


def _gram(shares: sparse.csr_array, mass: np.ndarray, table: Any) -> np.ndarray:
    """Inner products of the components' mean rows of a table, in units of how they differ."""
    sums = shares @ table.astype(np.float64)  # (K, columns)
    products = sums @ sums.T
    gram = products.toarray() if sparse.issparse(products) else products
    gram /= np.outer(mass, mass)
    size = float(mass @ np.diag(gram))
    gram = _centred(gram, mass / mass.sum())
    spread = float(mass @ np.diag(gram))
    # What differs by no more than rounding does not differ: it must not be blown up.
    return gram / spread if spread > ROUNDING * size else np.zeros_like(gram)


def _centred(gram: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Inner products after the weighted mean has been taken from all."""
    across = gram @ share
    centred: np.ndarray = gram - across[:, None] - across + share @ across
    return centred


def grow(gram: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The children (K - 1, 2), from inner products (K, K) and shares (K,) of the components.

    >>> at = np.array([0.0, 10.0, 1.0, 11.0])
    >>> grow(np.outer(at, at), np.full(4, 0.25)).tolist()
    [[1, 2], [-1, -3], [-2, -4]]
    """
    children = np.empty((len(mass) - 1, 2), np.int32)
    groups = [np.arange(len(mass))][: len(children)]
    for node in range(len(children)):
        for side, half in enumerate(_halves(gram, mass, groups[node])):
            if len(half) == 1:
                children[node, side] = ~half[0]
            else:
                children[node, side] = len(groups)
                groups.append(half)
    return children


def _halves(gram: np.ndarray, mass: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two parts of a group of components, of those with the least number first."""
    share = mass[group] / mass[group].sum()
    near, root = _centred(gram[np.ix_(group, group)], share), np.sqrt(share)
    *_, direction = linalg.eigh(near * np.outer(root, root))[1].T
    order = np.argsort(direction / root, kind="stable")
    share, near = share[order], near[np.ix_(order, order)]
    left = np.cumsum(share)[:-1]  # (m - 1,) what is left of each cut
    side = np.minimum(left, 1 - left)
    # The two means are apart by |sum on the left|, as the whole sums to nothing.
    sums = np.diag((near * np.outer(share, share)).cumsum(axis=0).cumsum(axis=1))[:-1]
    apart = sums / (left * (1 - left))
    balanced = side >= LEAST_SIDE
    cut = int(np.argmax(np.where(balanced, apart, -np.inf) if balanced.any() else side)) + 1
    one, other = np.sort(group[order[:cut]]), np.sort(group[order[cut:]])
    return (one, other) if one[0] < other[0] else (other, one)


def sides(children: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which components are below the left, and below the right, of each node, bool (K - 1, K)."""
    nodes = len(children)
    below = np.zeros((2, nodes, nodes + 1), dtype=bool)
    for node in range(nodes - 1, -1, -1):
        for side, child in enumerate(children[node]):
            if child < 0:
                below[side, node, ~child] = True
            else:
                below[side, node] = below[:, child].any(axis=0)
    return below[0], below[1]
