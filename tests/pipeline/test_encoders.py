import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from setwise.errors import DataError, FormatError
from setwise.pipeline.encoders import TOKEN, CategoryColumn, NumberColumn, TextColumn
from setwise.pipeline.roles import Role
from setwise.pipeline.table import Table
from setwise.pipeline.table_encoder import TableEncoder


def table(**columns):
    (first, *_) = columns.values()
    return Table(columns, range(2, len(first) + 2), "some.csv")


TEXTS = [
    "the cat sat! on the mat",
    "the dog sat",
    "a dog and a cat",
    "",
    "Cat cat cat 😀",
    "😀 sat",
]


@pytest.mark.parametrize("ngrams", [1, 2])
def test_text_is_the_tf_idf_of_scikit_learn(ngrams):
    rows = table(text=TEXTS)
    column = TextColumn("text", min_rows=2, ngrams=ngrams).fit(rows)
    peer = TfidfVectorizer(
        sublinear_tf=True, min_df=2, token_pattern=TOKEN, ngram_range=(1, ngrams)
    ).fit(TEXTS)
    assert column.feature_names() == peer.get_feature_names_out().tolist()
    new = table(text=["cat sat on unknown dog", None])
    wanted = peer.transform(["cat sat on unknown dog", ""]).toarray()
    np.testing.assert_allclose(column.transform(new).toarray(), wanted, rtol=1e-12)
    assert "😀" in column.feature_names()


def test_text_can_be_counts_of_words():
    column = TextColumn("text", min_rows=2, counts=True).fit(table(text=TEXTS))
    X = column.transform(table(text=["cat cat sat unknown", None])).toarray()
    counted = {name: count for name, count in zip(column.feature_names(), X[0]) if count}
    assert counted == {"cat": 2, "sat": 1}
    assert not X[1].any()


def test_letters_with_signs_behind_are_words():
    texts = ["C++ and c#, graded a+", "c++, gtk+", "c#: not a+b or 1+1"] * 2
    words = TextColumn("text").fit(table(text=texts)).feature_names()
    assert words == sorted(["c++", "and", "c#", "graded", "a+", "gtk", "not", "or"])


def test_text_without_words_gets_a_sentence():
    with pytest.raises(DataError, match="column 'text' has no word that occurs in 2 rows"):
        TextColumn("text").fit(table(text=["one", "two"]))


def test_numbers_are_standardised_and_missing_ones_are_the_median():
    rows = table(age=["1", "2", "", "9", "NA"])
    column = NumberColumn("age").fit(rows)
    X = column.transform(rows).toarray()
    assert column.feature_names() == ["age", "age is missing"]
    np.testing.assert_allclose(X[:, 0].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(X[:, 0].std(), 1, rtol=1e-12)
    assert X[2, 0] == X[1, 0] == X[4, 0]  # the median of 1, 2 and 9
    assert X[:, 1].tolist() == [0, 0, 1, 0, 1]


def test_a_constant_number_and_numbers_of_json():
    column = NumberColumn("age").fit(table(age=[3, 3.0, True * 3]))
    assert column.transform(table(age=[3, 4])).toarray().tolist() == [[0], [1]]


def test_a_column_that_is_no_longer_numeric_is_told_with_its_line():
    column = NumberColumn("age").fit(table(age=["1", "2"]))
    with pytest.raises(FormatError, match=r"some.csv, line 3: column 'age' holds 'old'.*number"):
        column.transform(table(age=["1", "old"]))
    with pytest.raises(FormatError, match="holds 'inf'"):
        column.transform(table(age=["inf", "1"]))


def test_categories_are_one_hot_and_unknown_values_count_for_nothing():
    column = CategoryColumn("plan").fit(table(plan=["gold", "basic", "basic", "", None]))
    assert column.feature_names() == ["plan = basic", "plan = gold"]
    X = column.transform(table(plan=["gold ", "basic", "new", ""])).toarray()
    assert X.tolist() == [[0, 1], [1, 0], [0, 0], [0, 0]]


def test_only_the_most_frequent_categories_are_kept():
    column = CategoryColumn("plan", max_values=1).fit(table(plan=["a", "b", "b"]))
    assert column.values_ == ("b",)


def test_columns_that_hold_nothing_known_are_found():
    known = table(text=["red car", "red"], kind=["a", "b"], size=[1, 2])
    roles = [Role("text", "text", ""), Role("kind", "category", ""), Role("size", "number", "")]
    encoder = TableEncoder({"min_rows": 1}).fit(known, roles)
    assert encoder.strangers(known) == {}
    changed = table(text=[None, "17"], kind=["", "1.5"], size=[7, 8])
    assert encoder.strangers(changed) == {"text": "17", "kind": "1.5"}
    some = table(text=["red", "17"], kind=[None, ""], size=[7, 8])
    assert encoder.strangers(some) == {}
