"""A short name for data and settings: the same for the same, on every machine."""

from __future__ import annotations

from datetime import date, time, timedelta
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

#: Told apart by how they are written: those of pandas have attributes, but they say nothing.
_MOMENTS = (date, time, timedelta)


def fingerprint(*things: Any) -> str:
    """A hash of arrays, sparse matrices, plain values, and objects by their attributes.

    >>> fingerprint(np.arange(3), {"C": 1.0}) == fingerprint(np.arange(3), {"C": 1.0})
    True
    >>> fingerprint(np.arange(3)) == fingerprint(np.arange(3.0))
    False
    """
    digest = blake2b(digest_size=16)
    for thing in things:
        _add(digest, thing)
    return digest.hexdigest()


def _add(digest: Any, thing: Any) -> None:
    if isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
        digest.update(f"array {thing.dtype.str} {thing.shape}".encode())
        # As bytes: the buffers of some types, such as dates, cannot be had.
        digest.update(np.ascontiguousarray(thing).reshape(-1).view(np.uint8).data)
    elif sparse.issparse(thing):
        rows = sparse.csr_array(thing)
        digest.update(f"sparse {rows.shape}".encode())
        # The width of the indices says nothing, and may differ between equal matrices.
        wide = (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)
        _add_all(digest, wide)
    elif isinstance(thing, np.ndarray | list | tuple):
        digest.update(f"list {len(thing)}".encode())
        _add_all(digest, thing)
    elif isinstance(thing, dict):
        digest.update(f"dict {len(thing)}".encode())
        for name in sorted(thing, key=str):
            _add_all(digest, (name, thing[name]))
    elif hasattr(thing, "__dict__") and not isinstance(thing, (type, *_MOMENTS)):
        digest.update(f"object {type(thing).__qualname__}".encode())
        _add(digest, vars(thing))
    else:
        digest.update(f"value {thing!r};".encode())


def _add_all(digest: Any, things: Any) -> None:
    for thing in things:
        _add(digest, thing)
