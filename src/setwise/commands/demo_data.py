"""The packages that ``setwise demo`` learns from and is judged on, as tables of named columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from setwise.data import Dataset
from setwise.pipeline import Table


def some_packages(dataset: Dataset, n_train: int, n_test: int) -> tuple[Table, Table]:
    """Training and test packages, always the same ones, whole source packages of each.

    About so many rows, or all if there are fewer; the columns are package, source, words, tags.
    """
    parts = (
        ("training", dataset.X_train, dataset.Y_train, dataset.row_names_train, n_train),
        ("test", dataset.X_test, dataset.Y_test, dataset.row_names_test, n_test),
    )
    tables = []
    for (part, X, Y, names, n), groups in zip(
        parts, (dataset.groups_train, dataset.groups_test), strict=True
    ):
        sources = np.asarray(groups)
        rows = whole_groups(sources, n)
        columns = {
            "package": [str(name) for name in np.asarray(names)[rows]],
            "source": [str(name) for name in sources[rows]],
            "words": words_of(X[rows], np.array(dataset.feature_names, dtype=object)),
            "tags": [", ".join(map(str, tags)) for tags in dataset.labels.decode(Y[rows])],
        }
        places = (rows + 1).tolist()
        tables.append(Table(columns, places, f"debtags, {part} packages", unit="row"))
    return tables[0], tables[1]


def whole_groups(groups: np.ndarray, n: int) -> np.ndarray:
    """Rows of groups drawn one after another, always alike, until there are n rows or all.

    >>> whole_groups(np.array(["a", "b", "a", "c"]), 1000).tolist()
    [0, 1, 2, 3]
    """
    names, number = np.unique(groups, return_inverse=True)
    order = np.random.default_rng(0).permutation(len(names))
    rows_so_far = np.bincount(number)[order].cumsum()
    drawn = order[: np.searchsorted(rows_so_far, n) + 1]
    return np.flatnonzero(np.isin(number, drawn))


def words_of(counts: sparse.csr_array, words: np.ndarray) -> list[str]:
    """Bags of words as texts: each word as often as it is counted, its place being lost.

    >>> counts = sparse.csr_array(np.array([[2, 0, 1]]))
    >>> words_of(counts, np.array(["to", "be", "or"], dtype=object))
    ['to to or']
    """
    often = counts.data.astype(np.int64)
    flat = np.repeat(words[counts.indices], often)
    ends = np.concatenate([[0], often.cumsum()])[counts.indptr]
    return [" ".join(flat[a:b]) for a, b in pairwise(ends)]
