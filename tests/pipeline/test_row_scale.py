"""Rows as they are, or of length one: what training rows say, and who goes by it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize

from setwise.experiments.peers.models import OneVsRest
from setwise.experiments.peers.ours import AutoDefault
from setwise.pipeline import choose as choosing
from setwise.pipeline import row_scale
from setwise.pipeline.build import Choice
from setwise.pipeline.candidates import Candidate
from setwise.pipeline.row_scale import LikeliestScale


def rows_whose_direction_tells(n=300):
    """Labels tell the sign of features; how long a row is, is luck, of a wide range."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 4))
    Y = (X[:, :2] + 0.2 * random.normal(size=(n, 2)) > 0).astype(np.int8)
    return sparse.csr_array(X * np.exp(2 * random.normal(size=(n, 1)))), sparse.csr_array(Y)


def rows_whose_length_tells(n=300):
    """Labels tell how large a feature is, of which nothing is left at length one."""
    random = np.random.default_rng(1)
    X = np.column_stack([random.uniform(0.1, 3, size=n)] * 2)
    Y = (X[:, :1] + 0.2 * random.normal(size=(n, 2)) > [[1.0, 2.0]]).astype(np.int8)
    return sparse.csr_array(X), sparse.csr_array(Y)


def test_rows_are_brought_to_length_one_where_that_is_likelier():
    X, Y = rows_whose_direction_tells()
    scale = LikeliestScale().fit(X, Y)
    assert scale.length_one_
    np.testing.assert_allclose(
        scale.transform(X).toarray(), normalize(X).toarray(), rtol=0, atol=1e-12
    )


def test_rows_stay_as_they_are_where_length_tells_something():
    X, Y = rows_whose_length_tells()
    scale = LikeliestScale().fit(X, Y)
    assert not scale.length_one_
    assert scale.transform(X) is X


def test_held_out_rows_of_groups_say_it(monkeypatch):
    X, Y = rows_whose_direction_tells()
    groups, seen = np.arange(300) // 3, []
    watched = row_scale.judging_folds
    monkeypatch.setattr(
        row_scale, "judging_folds", lambda *given: (seen.append(given[1]), watched(*given))[1]
    )
    assert LikeliestScale().fit(X, Y, groups).length_one_
    assert all(given is groups for given in seen)
    assert len(seen) == 2


def test_nothing_is_tried_where_it_would_make_no_difference(monkeypatch):
    monkeypatch.setattr(row_scale, "judging_folds", None)  # whoever tries something needs them
    X, Y = rows_whose_direction_tells()
    X = normalize(X)
    X[0] = 0  # a row without words has no length
    assert not LikeliestScale().fit(sparse.csr_array(X), Y).length_one_
    dense = X.toarray() + 5
    scale = LikeliestScale().fit(dense, Y)
    found = scale.transform(dense)
    np.testing.assert_allclose(found.mean(axis=0), 0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.std(axis=0), 1, rtol=0, atol=1e-9)


@pytest.mark.parametrize("make", [rows_whose_direction_tells, rows_whose_length_tells])
def test_our_default_predicts_on_the_scale_it_has_chosen(make, monkeypatch):
    candidates = [Candidate(Choice("BinaryRelevance", {"C": 1.0}))]
    monkeypatch.setattr(choosing, "candidates_for", lambda *_, **__: candidates)
    X, Y = make()
    model = AutoDefault(("hamming",)).fit(X[:200], Y[:200])
    is_one = model.scale_.length_one_
    assert is_one == (make is rows_whose_direction_tells)
    assert (model.chosen_["hamming"].get("rows") == "of length one") == is_one
    (fitted,) = model.models_.values()
    scaled = normalize(X[200:]) if is_one else X[200:]
    np.testing.assert_array_equal(
        model.predict_for(X[200:], "hamming"), fitted.predict_proba(scaled) > 0.5
    )


@pytest.mark.parametrize("make", [rows_whose_direction_tells, rows_whose_length_tells])
def test_peers_are_given_the_same_scale(make):
    X, Y = make()
    peer = OneVsRest([{"C": 1.0}]).fit(X[:200], Y[:200])
    is_one = make is rows_whose_direction_tells
    assert peer.scale_.length_one_ == is_one
    scaled = sparse.csr_array(normalize(X)) if is_one else X
    again = OneVsRest([{"C": 1.0}]).fit(scaled[:200], Y[:200])
    np.testing.assert_array_equal(peer.predict(X[200:]), again.predict(scaled[200:]))


def test_counts_of_few_bits_are_measured_as_numbers():
    _, Y = rows_whose_direction_tells()
    counts = sparse.csr_array(np.random.default_rng(0).integers(0, 200, (300, 4)).astype(np.uint8))
    seen = LikeliestScale().fit(counts, Y)
    as_floats = LikeliestScale().fit(counts.astype(np.float64), Y)
    assert seen.length_one_ == as_floats.length_one_
    np.testing.assert_allclose(
        seen.transform(counts).toarray(),
        as_floats.transform(counts.astype(float)).toarray(),
        rtol=1e-12,
    )
