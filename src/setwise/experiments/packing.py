"""Values of single rows as short texts, so that two runs can be compared row by row."""

from __future__ import annotations

import zlib
from base64 import b85decode, b85encode
from collections.abc import Mapping

import numpy as np


def packed(rows: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Arrays (n,) of one length as text: yes and no in bits, other values in half precision."""
    return {
        name: _text(np.packbits(value) if value.dtype == bool else value.astype(np.float16))
        for name, value in rows.items()
    }


def unpacked(text: str, n: int, is_binary: bool) -> np.ndarray:
    """The values that a text stands for.

    >>> text = packed({"right": np.array([True, False, True])})["right"]
    >>> unpacked(text, 3, is_binary=True)
    array([1., 0., 1.])
    """
    content = zlib.decompress(b85decode(text))
    if is_binary:
        return np.unpackbits(np.frombuffer(content, np.uint8), count=n).astype(np.float64)
    return np.frombuffer(content, np.float16).astype(np.float64)


def _text(values: np.ndarray) -> str:
    return b85encode(zlib.compress(values.tobytes(), 9)).decode()
