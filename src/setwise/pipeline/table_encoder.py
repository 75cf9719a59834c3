"""All columns of a table as one matrix of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from scipy import sparse

from setwise.errors import DataError
from setwise.pipeline.cells import word
from setwise.pipeline.encoders import CategoryColumn, ColumnEncoder, NumberColumn, TextColumn
from setwise.pipeline.roles import Role
from setwise.pipeline.table import Table
from setwise.storage import storable

SHOWN = 40  # letters of an example
DENSE_WIDTH = 500  # columns up to which features that are all numbers are kept dense


@storable
class TableEncoder:
    """Rows of a table as rows of X.

    Parameters
    ----------
    text_options : dict, optional
        ``max_words``, ``min_rows`` and ``ngrams`` of ``TextColumn``.
    counts : bool
        For models of word counts: texts and categories are counted, numbers refused.

    Attributes
    ----------
    encoders_ : list of the columns' encoders, in the order of their features.
    """

    encoders_: list[ColumnEncoder]

    def __init__(self, text_options: dict[str, Any] | None = None, counts: bool = False) -> None:
        self.text_options = text_options
        self.counts = counts

    def fit(self, table: Table, roles: Sequence[Role]) -> Self:
        """Learn all columns that have a role."""
        self.encoders_ = [
            self._encoder(role).fit(table) for role in roles if role.kind != "ignored"
        ]
        return self

    def transform(self, table: Table) -> Any:
        """X (n, d): CSR, or an array where all columns are numbers or few categories."""
        table.check_columns(self.columns)
        parts = [encoder.transform(table) for encoder in self.encoders_]
        X = sparse.csr_array(sparse.hstack(parts, format="csr"))
        has_text = any(encoder.kind == "text" for encoder in self.encoders_)
        return X if has_text or X.shape[1] > DENSE_WIDTH else X.toarray()

    @property
    def columns(self) -> list[str]:
        """The columns that a table must have."""
        return [encoder.name for encoder in self.encoders_]

    def feature_names(self) -> list[str]:
        """A name for each feature; the column is named before a word where there are several."""
        n_texts = sum(encoder.kind == "text" for encoder in self.encoders_)
        return [
            f"{encoder.name}: {name}" if encoder.kind == "text" and n_texts > 1 else name
            for encoder in self.encoders_
            for name in encoder.feature_names()
        ]

    def strangers(self, table: Table) -> dict[str, str]:
        """Columns with words or values of which none is known, and an example of each."""
        found: dict[str, str] = {}
        for encoder in self.encoders_:
            if encoder.kind != "number" and not encoder.transform(table).nnz:
                cells = map(word, table.column(encoder.name))
                example = next((cell for cell in cells if cell is not None), None)
                found |= {} if example is None else {encoder.name: example[:SHOWN]}
        return found

    def _encoder(self, role: Role) -> ColumnEncoder:
        if role.kind == "text":
            return TextColumn(role.column, counts=self.counts, **(self.text_options or {}))
        if role.kind == "category":
            return CategoryColumn(role.column)
        if self.counts:
            raise DataError(
                f"the model reads counts of words, but column {role.column!r} holds numbers; leave "
                "it out with --ignore, call its values categories with --category, or choose "
                "another --model"
            )
        return NumberColumn(role.column)
