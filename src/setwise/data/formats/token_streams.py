"""MATLAB files of token streams, as Rubin et al. (2012) published their Yahoo! splits.

A part (``traindata``, ``testdata``) lists one word id and document id per token (``widx``,
``wdidx``), and one label id and document id per label (``cidx``, ``cdidx``), all counted from 1.
Some of the published files name one or two words fewer than they use: the last words get a name
that says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.dataset import Dataset
from setwise.data.formats.files import StrPath
from setwise.data.sparse_rows import canonical_csr
from setwise.errors import FormatError

MOST_UNNAMED = 0.001  # of the words; with more, names are missing because the file is damaged


def read_token_streams(path: StrPath) -> Dataset:
    """Word counts and label sets of a MATLAB v5 file with a train and a test part."""
    from scipy.io import loadmat

    if not Path(path).is_file():
        raise FormatError(path, "no such file", remedy="check the path")
    try:
        contents = loadmat(path)
        label_names = _names(contents["clabels"])
        word_names = _with_unnamed(
            _names(contents["wlabels"]), (contents["traindata"], contents["testdata"])
        )
        train = _part(path, contents["traindata"], len(word_names), len(label_names))
        test = _part(path, contents["testdata"], len(word_names), len(label_names))
    except FormatError:
        raise
    except Exception as error:  # a damaged file makes scipy's reader fail in many ways
        raise FormatError(
            path,
            f"not a MATLAB file of token streams ({type(error).__name__}: {error})",
            remedy="it must hold traindata, testdata, wlabels and clabels",
        ) from error
    return Dataset(
        name=Path(path).stem,
        X_train=train[0],
        Y_train=train[1],
        X_test=test[0],
        Y_test=test[1],
        label_names=label_names,
        feature_names=word_names,
    )


def _with_unnamed(names: tuple[str, ...], parts: tuple[Any, Any]) -> tuple[str, ...]:
    """The names, and names for the few words beyond them that are used."""
    used = max(int(part["widx"][0, 0].max()) for part in parts)
    if not 0 < used - len(names) <= MOST_UNNAMED * used:
        return names
    return names + tuple(f"unnamed word {word}" for word in range(len(names) + 1, used + 1))


def _part(
    path: StrPath, part: Any, n_words: int, n_labels: int
) -> tuple[sparse.csr_array, sparse.csr_array]:
    stream = {name: part[name][0, 0].ravel().astype(np.int64) - 1 for name in part.dtype.names}
    n_documents = int(max(stream["wdidx"].max(), stream["cdidx"].max())) + 1
    n_entries = len(stream["wdidx"]) + len(stream["cdidx"])  # each document has one at least
    for ids, size in (
        *(("widx", n_words), ("cidx", n_labels)),
        *(("wdidx", n_entries), ("cdidx", n_entries)),
    ):
        if stream[ids].min() < 0 or stream[ids].max() >= size:
            raise FormatError(
                path, f"{ids} must lie between 1 and {size}", remedy="is the file complete?"
            )
    X = _counts(stream["wdidx"], stream["widx"], (n_documents, n_words)).astype(np.float64)
    Y = _counts(stream["cdidx"], stream["cidx"], (n_documents, n_labels))
    Y.data[:] = 1
    return canonical_csr(X), canonical_csr(Y.astype(np.int8))


def _counts(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """How often each (row, column) occurs."""
    ones = np.ones(len(rows), dtype=np.int64)
    return sparse.csr_array(sparse.coo_array((ones, (rows, columns)), shape=shape))


def _names(cells: np.ndarray) -> tuple[str, ...]:
    return tuple(str(np.ravel(cell)[0]) if np.size(cell) else "" for cell in cells.ravel())
