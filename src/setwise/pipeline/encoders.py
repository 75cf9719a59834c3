"""How one column of a table becomes features: texts, numbers, categories.

Each encoder learns from the training rows what it needs, and is stored with the model: words with
their weights, medians and scales, known values.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import Any, Self

import numpy as np
from scipy import sparse

from setwise.errors import DataError
from setwise.pipeline.cells import numbers, text, word
from setwise.pipeline.table import Table
from setwise.storage import storable

# Words of two letters and more, as scikit-learn has them, single ones as in c++ and c#, and marks
# that say something by themselves: ! ? and whatever lies beyond letters, such as faces.
TOKEN = r"(?u)\b\w\w+\b|[!?]|\b\w[+#]{1,2}(?!\w)|[^\w\s\u0000-\u00bf\u2000-\u206f]"


@storable
class TextColumn:
    """Texts as tf-idf, (1 + log count) idf, each row of length one; or as counts of words.

    Parameters
    ----------
    name : str
        Of the column.
    max_words, min_rows : int
        The most frequent words are known, of those that are in so many rows.
    ngrams : int
        So many words in a row count as one word too.
    counts : bool
        Counts as they are, for models of word counts.

    Attributes
    ----------
    words_ : array (d,) of the known words; idf_ : array (d,), log((1 + n) / (1 + rows)) + 1.
    """

    kind = "text"
    words_: np.ndarray
    idf_: np.ndarray

    def __init__(
        self,
        name: str,
        max_words: int = 50_000,
        min_rows: int = 2,
        ngrams: int = 1,
        counts: bool = False,
    ) -> None:
        self.name = name
        self.counts = counts
        self.max_words = max_words
        self.min_rows = min_rows
        self.ngrams = ngrams
        self._known: dict[str, int] | None = None

    def fit(self, table: Table) -> Self:
        """Learn the words."""
        counter = self._vectorizer(max_features=self.max_words, min_df=self.min_rows)
        texts = [text(cell) for cell in table.column(self.name)]
        try:
            counts = counter.fit_transform(texts)
        except ValueError:
            raise DataError(
                f"column {self.name!r} has no word that occurs in {self.min_rows} rows; "
                "leave the column out with --ignore, or lower --min-rows"
            ) from None
        in_rows = np.bincount(counts.indices, minlength=counts.shape[1])
        self.words_ = np.array(counter.get_feature_names_out(), dtype=object)
        self.idf_ = np.log((1 + len(texts)) / (1 + in_rows)) + 1
        self._known = None
        return self

    def transform(self, table: Table) -> sparse.csr_array:
        """Rows of features; words that are not known count for nothing."""
        X = self._counts(list(map(text, table.column(self.name))))
        if self.counts:
            return X
        X.data = (1 + np.log(X.data)) * self.idf_[X.indices]
        length = np.sqrt(np.bincount(_rows_of(X), weights=X.data**2, minlength=X.shape[0]))
        X.data /= length[_rows_of(X)]
        return X

    def feature_names(self) -> list[str]:
        """The words."""
        return [str(known) for known in self.words_]

    def summary(self) -> str:
        """What was learnt, in a few words."""
        return f"{len(self.words_):,} words"

    def _counts(self, texts: list[str]) -> sparse.csr_array:
        """How often each known word is in each text, as ``CountVectorizer`` has it, but faster."""
        if self._known is None:
            self._known = {known: place for place, known in enumerate(self.words_.tolist())}
        if self.ngrams == 1:
            find = re.compile(TOKEN).findall
            words = [find(one.lower()) for one in texts]
        else:
            words = list(map(self._vectorizer().build_analyzer(), texts))
        rows = np.repeat(np.arange(len(texts)), list(map(len, words)))
        place_of = self._known.get
        places = np.array([place_of(one, -1) for one in chain.from_iterable(words)], dtype=np.int64)
        is_known = places >= 0
        ones = np.ones(int(is_known.sum()))
        shape = (len(texts), len(self.words_))
        counts = sparse.coo_array((ones, (rows[is_known], places[is_known])), shape=shape).tocsr()
        counts.sort_indices()
        return counts

    def _vectorizer(self, **options: Any) -> Any:
        from sklearn.feature_extraction.text import CountVectorizer

        return CountVectorizer(ngram_range=(1, self.ngrams), token_pattern=TOKEN, **options)


@storable
class NumberColumn:
    """Numbers, standardised; the median where one is missing, and a feature that says so.

    Attributes
    ----------
    median_, mean_, scale_ : float; can_be_missing_ : bool, whether it was in training.
    """

    kind = "number"
    median_: float
    mean_: float
    scale_: float
    can_be_missing_: bool

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, table: Table) -> Self:
        """Learn the middle and the spread."""
        values = self._values(table)
        missing = np.isnan(values)
        there = values[~missing]
        self.can_be_missing_ = bool(missing.any())
        self.median_ = float(np.median(there)) if len(there) else 0.0
        filled = np.where(missing, self.median_, values)
        self.mean_ = float(filled.mean()) if len(filled) else 0.0
        spread = float(filled.std()) if len(filled) else 0.0
        self.scale_ = spread if spread > 1e-12 * max(1.0, abs(self.mean_)) else 1.0
        return self

    def transform(self, table: Table) -> sparse.csr_array:
        """One feature, and a second one where numbers were missing in training."""
        values = self._values(table)
        missing = np.isnan(values)
        scaled = (np.where(missing, self.median_, values) - self.mean_) / self.scale_
        columns = [scaled, missing.astype(np.float64)] if self.can_be_missing_ else [scaled]
        return sparse.csr_array(np.column_stack(columns))

    def feature_names(self) -> list[str]:
        """The column, and that it is missing."""
        return [self.name, f"{self.name} is missing"][: 2 if self.can_be_missing_ else 1]

    def summary(self) -> str:
        """What was learnt, in a few words."""
        gaps = ", some missing" if self.can_be_missing_ else ""
        return f"{self.mean_:.4g} ± {self.scale_:.4g}{gaps}"

    def _values(self, table: Table) -> np.ndarray:
        cells = table.column(self.name)
        values, bad = numbers(cells)
        if bad is not None:
            raise table.problem(
                bad,
                f"column {self.name!r} holds {cells[bad]!r}, where a number was expected",
                "write a number, or leave the cell empty",
            )
        return values


@storable
class CategoryColumn:
    """One feature for each value that was seen in training; other values count for nothing.

    Attributes
    ----------
    values_ : tuple of the known values, the most frequent first.
    """

    kind = "category"
    values_: tuple[str, ...]

    def __init__(self, name: str, max_values: int = 1000) -> None:
        self.name = name
        self.max_values = max_values

    def fit(self, table: Table) -> Self:
        """Learn the values."""
        counts = Counter(value for value in map(word, table.column(self.name)) if value is not None)
        order = sorted(counts, key=lambda value: (-counts[value], value))
        self.values_ = tuple(order[: self.max_values])
        return self

    def transform(self, table: Table) -> sparse.csr_array:
        """A one where the value is that of the feature."""
        known = {value: place for place, value in enumerate(self.values_)}
        cells = table.column(self.name)
        places = np.array([known.get(word(cell) or "", -1) for cell in cells], dtype=np.int64)
        rows = np.flatnonzero(places >= 0)
        shape = (len(cells), len(self.values_))
        return sparse.csr_array((np.ones(len(rows)), (rows, places[rows])), shape=shape)

    def feature_names(self) -> list[str]:
        """The column with each of its values."""
        return [f"{self.name} = {value}" for value in self.values_]

    def summary(self) -> str:
        """What was learnt, in a few words."""
        return f"{len(self.values_)} values"


ColumnEncoder = TextColumn | NumberColumn | CategoryColumn


def _rows_of(X: sparse.csr_array) -> np.ndarray:
    """The row of each entry."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
