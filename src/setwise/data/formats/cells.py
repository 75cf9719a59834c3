"""The cells of a DataFrame's column as plain Python values, whatever library it is of."""

from __future__ import annotations

from typing import Any

import narwhals as nw


def plain_cells(column: nw.Series[Any]) -> list[Any]:
    """The cells, with None for each library's own way of saying that there is no value."""
    is_null = column.is_null().to_list()
    return [
        None if null or cell != cell else cell
        for cell, null in zip(_listed(column), is_null, strict=True)
    ]


def _listed(column: nw.Series[Any]) -> list[Any]:
    """The cells, those that are lists as lists: arrays would be compared entry by entry."""
    return [cell.tolist() if hasattr(cell, "tolist") else cell for cell in column.to_list()]
