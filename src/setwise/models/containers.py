"""Labels go out in the kind of container in which they came in."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from setwise.data.labels import LabelSpace, is_frame


def container_of(Y: Any) -> str:
    """The kind of ``Y``, as a word that can be stored: lists of sets count as arrays."""
    if sparse.issparse(Y):
        return "csr_array" if isinstance(Y, sparse.sparray) else "csr_matrix"
    if is_frame(Y):
        return str(nw.from_native(Y).implementation.name).lower()
    return "array"


def in_container(Y: np.ndarray, container: str, space: LabelSpace) -> Any:
    """A 0/1 array (n, L) as a container of that kind."""
    if container == "array":
        return Y
    if container in ("csr_array", "csr_matrix"):
        return getattr(sparse, container)(Y)
    return space.to_frame(Y, backend=container)
