"""Features of any kind as numbers, learnt on training rows: a user's data may be tables or text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
from sklearn.feature_extraction.text import TfidfVectorizer

from setwise.data import Dataset
from setwise.data.labels import is_frame
from setwise.data.sparse_rows import canonical_csr
from setwise.pipeline.roles import roles_of
from setwise.pipeline.table import Table
from setwise.pipeline.table_encoder import TableEncoder


def as_numbers(dataset: Dataset) -> Dataset:
    """The data set with an array or a sparse matrix as features: texts and tables are encoded."""
    X, X_test = dataset.X_train, dataset.X_test
    if isinstance(X, list):
        words = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(X)
        train, test = (canonical_csr(words.transform(part)) for part in (X, X_test))
        return replace(dataset, X_train=train, X_test=test)
    if is_frame(X):
        table = _table(X)
        encoder = TableEncoder().fit(table, roles_of(table, {}, ()))
        train, test = encoder.transform(table), encoder.transform(_table(X_test))
        return replace(dataset, X_train=train, X_test=test)
    return dataset


def _table(frame: Any) -> Table:
    columns = nw.from_native(frame, eager_only=True).to_dict(as_series=False)
    return Table(columns, range(1, len(frame) + 1), unit="row")
