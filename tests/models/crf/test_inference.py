"""Probabilities of sets, against the list of all of them."""

import numpy as np
import pytest
from scipy.special import log_softmax

import setwise as sw
from setwise.models.crf import model
from setwise.models.crf.pruned import pruned


def test_exact_inference_agrees_with_the_list_of_all_sets(rows, by_hand, answers, every):
    X, Y = rows()
    fitted = sw.PairwiseCRF(inference="exact").fit(X, Y)
    expected = by_hand(fitted, X)
    np.testing.assert_allclose(answers(fitted, X, every), expected, atol=1e-9)
    dist, p = fitted.predict_dist(X), np.exp(expected)
    np.testing.assert_allclose(dist.marginals(), p @ every, atol=1e-9)
    np.testing.assert_array_equal(dist.mode()[0], every[p.argmax(axis=1)])


def test_support_inference_is_the_same_given_a_set_of_training(rows, by_hand, answers, every):
    X, Y = rows()
    fitted = sw.PairwiseCRF().fit(X, Y)
    assert len(fitted.sets_.toarray()) < 16
    known = np.array([(one == fitted.sets_.toarray()).all(axis=1).any() for one in every])
    told = answers(fitted, X, every)
    np.testing.assert_array_equal(told[:, ~known], -np.inf)
    np.testing.assert_allclose(told[:, known], by_hand(fitted, X, every[known]), atol=1e-9)


def test_pruned_inference_is_the_same_given_what_is_settled(rows, by_hand, answers, every):
    X, Y = rows()
    free = sw.PairwiseCRF(inference="pruned", prune=1e-9, max_free=4).fit(X, Y)
    exact = sw.PairwiseCRF(inference="exact").fit(X, Y)
    np.testing.assert_allclose(answers(free, X, every), answers(exact, X, every), atol=1e-6)
    fitted = sw.PairwiseCRF(inference="pruned", prune=0.3, max_free=2).fit(X, Y)
    doubts = pruned(fitted.bank_.logits(X), limit=0.3, max_free=2)
    assert set(doubts.counts) == {1, 2}
    told, joint = answers(fitted, X, every), by_hand(fitted, X)
    for row in range(len(X)):
        loose = doubts.free[row, : doubts.counts[row]]
        settled = np.delete(np.arange(4), loose)
        possible = (every[:, settled] == doubts.fixed[row, settled]).all(axis=1)
        assert possible.sum() == 2 ** doubts.counts[row]
        np.testing.assert_array_equal(told[row, ~possible], -np.inf)
        expected = log_softmax(joint[row, possible])
        np.testing.assert_allclose(told[row, possible], expected, atol=1e-9)


def test_what_is_settled_wrongly_is_free_while_learning():
    logits = np.array([[9.0, 0.1, -9.0, -9.0]])
    Y = np.array([[1, 1, 0, 1]])
    known = pruned(logits, limit=0.01, max_free=4, Y=Y)
    assert sorted(known.free[0, : known.counts[0]]) == [1, 3]
    np.testing.assert_array_equal(known.fixed, [[1, 0, 0, 0]])
    unknown = pruned(logits, limit=0.01, max_free=4)
    assert unknown.free[0, : unknown.counts[0]].tolist() == [1]
    sure = pruned(np.array([[9.0, -8.0]]), limit=0.01, max_free=4)
    assert sure.free[0, : sure.counts[0]].tolist() == [1]


@pytest.mark.parametrize("inference", ["support", "pruned"])
def test_many_rows_are_answered_in_batches(inference, monkeypatch, rows):
    X, Y = rows()
    fitted = sw.PairwiseCRF(inference=inference).fit(X, Y)
    whole = fitted.predict_dist(X)
    for module in (model, sw.models.crf.pruned):
        monkeypatch.setattr(module, "BATCH_CELLS", 200)
    parts = fitted.predict_dist(X)
    assert type(parts).__name__ == "Batched"
    np.testing.assert_allclose(parts.log_prob(Y), whole.log_prob(Y), atol=1e-12)
    np.testing.assert_array_equal(parts.mode()[0], whole.mode()[0])


def test_pairs_tell_what_binary_relevance_cannot():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    first = random.random(300) < 0.5  # nothing in x tells
    Y = np.column_stack([first, ~first]).astype(int)
    p = np.exp(sw.PairwiseCRF(inference="exact").fit(X, Y).predict_dist(X).log_prob(Y))
    apart = np.exp(sw.BinaryRelevance().fit(X, Y).predict_dist(X).log_prob(Y))
    assert p.mean() > 0.45 > 0.35 > apart.mean()
