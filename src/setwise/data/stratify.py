"""Iterative stratification: rows dealt to parts so that each part has its share of every label.

Sechidis, Tsoumakas and Vlahavas, "On the stratification of multi-label data", 2011, algorithm 1:
the label with the fewest positives left goes first, each of its rows to the part that lacks most
of it, for a rare label dealt late can no longer be mended. Two additions of ours. A *unit* is a row
or a whole group of rows, so that siblings stay together. And what the greedy deal leaves uneven is
mended by moves and swaps that lower

    sum over labels l and parts p of  (have_lp - want_lp)² / want_lp,

Pearson's statistic of the split; single rows are also levelled, so that parts have the sizes asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

Flat = tuple[np.ndarray, np.ndarray, np.ndarray]

# Outweighs all that a label may gain: parts of single rows are levelled exactly.
SIZE_FIRST = 1e12
# Yeast and bibtex, 5 and 10 folds: further sweeps find nothing, more offers gain under a tenth.
MAX_SWEEPS = 5
N_OFFERS = 32


def stratify(
    Y: sparse.csr_array,
    wanted_rows: np.ndarray,
    *,
    groups: Any = None,
    random: np.random.Generator,
) -> np.ndarray:
    """The part of each row, int64 (n,), none empty where there are as many units as parts.

    Parameters
    ----------
    Y : csr_array (n, L)
        Canonical 0/1 labels.
    wanted_rows : array (parts,)
        How many rows each part should have, as fractions if need be; sums to n.
    groups : array (n,), optional
        Rows of one group go to one part.
    random : Generator
        Decides between labels, units and parts that are otherwise equal.

    Examples
    --------
    >>> Y = sparse.csr_array(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.int8))
    >>> part = stratify(Y, np.array([2.0, 2.0]), random=np.random.default_rng(0))
    >>> int(part[0] + part[1])
    1
    """
    unit_of_row, positives, sizes = _units(Y, groups)
    # Shuffled, then largest first: a big group finds its place while every part is still open.
    order = random.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    labels = random.permutation(Y.shape[1])
    units = _with_size_column(positives[order][:, labels], sizes[order])
    part = np.empty(len(order), dtype=np.int64)
    part[order] = _parts_of_units(units, wanted_rows, random, level=groups is None)
    part_of_row: np.ndarray = part[unit_of_row]
    return part_of_row


def _units(Y: sparse.csr_array, groups: Any) -> tuple[np.ndarray, sparse.csr_array, np.ndarray]:
    """Unit of each row (n,), positives of each unit (m, L), rows of each unit (m,)."""
    n = Y.shape[0]
    if groups is None:
        return np.arange(n), Y, np.ones(n, dtype=np.int64)
    _, unit_of_row, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    ones = np.ones(n, dtype=np.int64)
    gather = sparse.csr_array((ones, (unit_of_row, np.arange(n))), shape=(len(sizes), n))
    return unit_of_row, sparse.csr_array(gather @ Y), sizes


def _with_size_column(positives: sparse.csr_array, sizes: np.ndarray) -> sparse.csr_array:
    """The units with the number of their rows as a last label, which each of them has."""
    column = sparse.csr_array(sizes[:, None])
    units: sparse.csr_array = sparse.hstack([positives, column], format="csr")
    units.sort_indices()
    return units


def _parts_of_units(
    units: sparse.csr_array, wanted_rows: np.ndarray, random: np.random.Generator, *, level: bool
) -> np.ndarray:
    from setwise.data._stratify_kernel import deal

    n_parts = len(wanted_rows)
    by_label = units.tocsc()
    flat = _flat(units)
    wanted = np.outer(units.sum(axis=0), wanted_rows / wanted_rows.sum())  # (L + 1, parts)
    wanted[-1] = wanted_rows  # whole numbers stay whole
    part: np.ndarray = deal(*flat, *_flat(by_label)[:2], -wanted, random.random(units.shape[0]))
    _fill_empty_parts(part, units.data[units.indptr[1:] - 1], n_parts)
    have = by_label.T @ (part[:, None] == np.arange(n_parts))  # (L + 1, parts)
    mend = _mend_rows if level else _mend_groups
    mend(flat, wanted, have, part)
    return part


def _fill_empty_parts(part: np.ndarray, sizes: np.ndarray, n_parts: int) -> None:
    """Give each part without a unit the smallest one of the part that has most units."""
    for empty in np.flatnonzero(np.bincount(part, minlength=n_parts) == 0):
        donors = np.flatnonzero(part == np.bincount(part).argmax())
        part[donors[sizes[donors].argmin()]] = empty


def _mend_rows(flat: Flat, wanted: np.ndarray, have: np.ndarray, part: np.ndarray) -> None:
    """Level the sizes of the parts, then swap single rows, which keeps the sizes."""
    from setwise.data._stratify_kernel import move

    excess, weight = have - wanted, _pearson_weights(wanted)
    excess[-1] = have[-1] - np.floor(wanted[-1])
    weight[-1] = SIZE_FIRST
    # One sweep suffices: a part two rows above another gives up each row that is met there.
    move(*flat, weight, 1, excess, part)
    weight[-1] = 0
    _swap(flat, weight, excess, part)


def _mend_groups(flat: Flat, wanted: np.ndarray, have: np.ndarray, part: np.ndarray) -> None:
    """Move and swap groups; the size of a part counts as much as all its labels together."""
    from setwise.data._stratify_kernel import move

    excess, weight = have - wanted, _pearson_weights(wanted)
    weight[-1] *= len(wanted)
    move(*flat, weight, MAX_SWEEPS, excess, part)
    _swap(flat, weight, excess, part)


def _swap(flat: Flat, weight: np.ndarray, excess: np.ndarray, part: np.ndarray) -> None:
    from setwise.data._stratify_kernel import swap

    members = np.argsort(part, kind="stable")
    first = np.searchsorted(part[members], np.arange(excess.shape[1] + 1))
    swap(*flat, weight, first, members, MAX_SWEEPS, N_OFFERS, excess, part)


def _pearson_weights(wanted: np.ndarray) -> np.ndarray:
    """One over what is wanted; zero for labels that no row has."""
    weight: np.ndarray = np.divide(1.0, wanted, out=np.zeros_like(wanted), where=wanted > 0)
    return weight


def _flat(matrix: sparse.csr_array | sparse.csc_array) -> Flat:
    """The three arrays of a matrix in fixed types, so that each kernel is compiled once."""
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.float64),
    )
