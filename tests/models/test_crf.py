"""The pairwise field: gradients, enumeration, the four weights, and what every model must do."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax

import setwise as sw
from setwise.calibration import Reranker, SetCalibrator
from setwise.data.labels import distinct_sets
from setwise.errors import DataError, NotConverged
from setwise.learners.workers import Workers
from setwise.models.crf import listed, model
from setwise.models.crf.listed import OnList
from setwise.models.crf.potentials import all_sets, four_weights, linear_part, of_pairs, pair_scores
from setwise.models.crf.pruned import OnFree, pruned
from setwise.models.crf.solve import Objective, Strength, fit_field

EVERY = np.array(list(product([0, 1], repeat=4)))


def rows(n=90, seed=0):
    """Four labels; the second follows the first, the last two exclude each other, mostly."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    Y = (X @ random.normal(size=(3, 4)) + random.normal(size=(n, 4)) > 0.2).astype(int)
    Y[:, 1] = Y[:, 0] ^ (random.random(n) < 0.1)
    Y[:, 3] *= 1 - Y[:, 2] * (random.random(n) < 0.9)
    return X, Y


def by_hand(fitted, X, sets=EVERY):
    """Log-probabilities (n, m) over listed sets, from the formula with four weights a pair."""
    theta = fitted.pair_weights_
    scores = sets @ (X @ fitted.weights_ + fitted.biases_).T  # (m, n)
    L = sets.shape[1]
    for first in range(L):
        for second in range(first + 1, L):
            scores = scores + theta[first, second, sets[:, first], sets[:, second]][:, None]
    return log_softmax(scores.T, axis=1)


def answers(fitted, X, sets):
    """Log-probabilities (n, m) of sets, as the model tells them."""
    dist = fitted.predict_dist(X)
    return np.column_stack([dist.log_prob(np.tile(one, (len(X), 1))) for one in sets])


def loss_of(likelihood, Z, interactions):
    with Workers(1) as workers:
        return likelihood.evaluate(Z, interactions, workers)


def likelihoods():
    _, Y = rows(12)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(Y))
    support = distinct_sets(Y)
    on_support = OnList(support.sets.toarray().astype(float), support.inverse, weight)
    on_all = OnList(all_sets(4).astype(float), Y @ [1, 2, 4, 8], weight)
    logits = np.random.default_rng(2).normal(size=Y.shape) * 3
    on_free = OnFree(pruned(logits, limit=0.2, max_free=3, Y=Y), Y.astype(float), weight)
    return {"support": on_support, "exact": on_all, "pruned": on_free}


@pytest.mark.parametrize("kind", ["support", "exact", "pruned"])
def test_gradients_match_finite_differences(kind, monkeypatch):
    monkeypatch.setattr(listed, "BATCH_CELLS", 50)  # several batches
    likelihood = likelihoods()[kind]
    random = np.random.default_rng(3)
    Z, pairs = random.normal(size=(12, 4)), random.normal(size=(4, 4))
    Q = np.triu(pairs, 1) + np.triu(pairs, 1).T
    _, R, by_pair = loss_of(likelihood, Z, Q)
    np.testing.assert_array_equal(by_pair, by_pair.T)
    step = 1e-5
    for place in np.ndindex(Z.shape):
        move = np.zeros_like(Z)
        move[place] = step
        slope = (loss_of(likelihood, Z + move, Q)[0] - loss_of(likelihood, Z - move, Q)[0]) / (
            2 * step
        )
        np.testing.assert_allclose(R[place], slope, rtol=1e-6, atol=1e-8)
    for place in zip(*np.triu_indices(4, 1)):
        move = np.zeros_like(Q)
        move[place] = move[place[::-1]] = step
        slope = (loss_of(likelihood, Z, Q + move)[0] - loss_of(likelihood, Z, Q - move)[0]) / (
            2 * step
        )
        np.testing.assert_allclose(by_pair[place], slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize("of_sparse", [False, True])
def test_the_gradient_of_the_objective_in_its_own_variables(l1_ratio, of_sparse, monkeypatch):
    seen = {}
    X, Y = rows(20)
    X[:, 0] = 0  # no row has this feature
    support = distinct_sets(Y)
    likelihood = OnList(support.sets.toarray().astype(float), support.inverse, np.ones(20))
    evaluate = Objective.evaluate

    def recorded(self, V):
        seen.setdefault("objective", self)
        return evaluate(self, V)

    monkeypatch.setattr(Objective, "evaluate", recorded)
    data = sparse.csr_array(X) if of_sparse else X
    field = fit_field(data, Y.astype(float), np.ones(20), likelihood, Strength(2.0, 3.0, l1_ratio))
    np.testing.assert_array_equal(field.weights[0], 0)
    objective = seen["objective"]
    size = (objective.products.X.shape[1] + 1) * 4 + 6
    V = np.random.default_rng(0).normal(size=(size, 1)) / 3
    with Workers(1):
        gradient = evaluate(objective, V)[1][:, 0]
        for place in range(size):
            move = np.zeros_like(V)
            move[place] = 1e-5
            up, down = evaluate(objective, V + move)[0], evaluate(objective, V - move)[0]
            slope = (up[0] - down[0]) / 2e-5
            np.testing.assert_allclose(gradient[place], slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("inference", ["support", "exact"])
def test_the_optimum_is_that_of_four_free_weights_a_pair(inference):
    """The objective of the thesis, minimised by scipy with all four weights, is the same field."""
    X, Y = rows(40)
    C = 2.0
    fitted = sw.PairwiseCRF(inference=inference, C=C).fit(X, Y)
    sets = fitted.sets_.toarray() if inference == "support" else EVERY
    which = np.array([int(np.flatnonzero((sets == y).all(axis=1))[0]) for y in Y])
    pairs = list(zip(*np.triu_indices(4, 1)))
    indicators = np.zeros((len(sets), len(pairs), 4))
    for number, (first, second) in enumerate(pairs):
        value = 2 * sets[:, first] + sets[:, second]
        indicators[np.arange(len(sets)), number, value] = 1
    indicators = indicators.reshape(len(sets), -1)

    def scores(v):
        W, b, theta = v[:12].reshape(3, 4), v[12:16], v[16:]
        return (X @ W + b) @ sets.T + indicators @ theta

    def objective(v):
        log_p = log_softmax(scores(v), axis=1)
        R = np.exp(log_p)
        R[np.arange(len(Y)), which] -= 1
        by_label = R @ sets
        free = np.concatenate([v[:12], np.zeros(4), v[16:]])
        gradient = C * np.concatenate(
            [(X.T @ by_label).ravel(), by_label.sum(axis=0), indicators.T @ R.sum(axis=0)]
        )
        loss = -C * log_p[np.arange(len(Y)), which].sum() + free @ free / 2
        return loss, gradient + free

    best = minimize(objective, np.zeros(16 + 24), jac=True, options={"gtol": 1e-8, "maxiter": 5000})
    np.testing.assert_allclose(fitted.objective_, best.fun, rtol=1e-5)
    np.testing.assert_allclose(
        by_hand(fitted, X, sets), log_softmax(scores(best.x), axis=1), atol=0.03
    )
    theta = best.x[16:].reshape(-1, 2, 2)
    np.testing.assert_allclose(of_pairs(fitted.interactions_) / 4, theta[:, 0, 0], atol=0.01)
    np.testing.assert_allclose(theta[:, 0, 0], -theta[:, 0, 1], atol=1e-5)


def test_four_weights_add_up_to_the_interaction():
    random = np.random.default_rng(0)
    Q = np.triu(random.normal(size=(4, 4)), 1)
    theta = four_weights(Q + Q.T)
    q = theta[:, :, 0, 0] - theta[:, :, 0, 1] - theta[:, :, 1, 0] + theta[:, :, 1, 1]
    np.testing.assert_allclose(q, Q, rtol=1e-12)
    np.testing.assert_allclose(
        pair_scores(EVERY.astype(float), Q + Q.T),
        [
            sum(Q[i, j] * y[i] * y[j] for i in range(4) for j in range(i)) + (y @ Q @ y)
            for y in EVERY
        ],
        rtol=1e-12,
    )


def test_exact_inference_agrees_with_the_list_of_all_sets():
    X, Y = rows()
    fitted = sw.PairwiseCRF(inference="exact").fit(X, Y)
    expected = by_hand(fitted, X)
    np.testing.assert_allclose(answers(fitted, X, EVERY), expected, atol=1e-9)
    dist, p = fitted.predict_dist(X), np.exp(expected)
    np.testing.assert_allclose(dist.marginals(), p @ EVERY, atol=1e-9)
    np.testing.assert_array_equal(dist.mode()[0], EVERY[p.argmax(axis=1)])


def test_support_inference_is_the_same_given_a_set_of_training():
    X, Y = rows()
    fitted = sw.PairwiseCRF().fit(X, Y)
    assert len(fitted.sets_.toarray()) < 16
    known = np.array([(one == fitted.sets_.toarray()).all(axis=1).any() for one in EVERY])
    told = answers(fitted, X, EVERY)
    np.testing.assert_array_equal(told[:, ~known], -np.inf)
    np.testing.assert_allclose(told[:, known], by_hand(fitted, X, EVERY[known]), atol=1e-9)


def test_pruned_inference_is_the_same_given_what_is_settled():
    X, Y = rows()
    free = sw.PairwiseCRF(inference="pruned", prune=1e-9, max_free=4).fit(X, Y)
    exact = sw.PairwiseCRF(inference="exact").fit(X, Y)
    np.testing.assert_allclose(answers(free, X, EVERY), answers(exact, X, EVERY), atol=1e-6)
    fitted = sw.PairwiseCRF(inference="pruned", prune=0.3, max_free=2).fit(X, Y)
    doubts = pruned(fitted.bank_.logits(X), limit=0.3, max_free=2)
    assert set(doubts.counts) == {1, 2}
    told, joint = answers(fitted, X, EVERY), by_hand(fitted, X)
    for row in range(len(X)):
        loose = doubts.free[row, : doubts.counts[row]]
        settled = np.delete(np.arange(4), loose)
        possible = (EVERY[:, settled] == doubts.fixed[row, settled]).all(axis=1)
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
def test_many_rows_are_answered_in_batches(inference, monkeypatch):
    X, Y = rows()
    fitted = sw.PairwiseCRF(inference=inference).fit(X, Y)
    whole = fitted.predict_dist(X)
    for module in (model, sw.models.crf.pruned):
        monkeypatch.setattr(module, "BATCH_CELLS", 200)
    parts = fitted.predict_dist(X)
    assert type(parts).__name__ == "Batched"
    np.testing.assert_allclose(parts.log_prob(Y), whole.log_prob(Y), atol=1e-12)
    np.testing.assert_array_equal(parts.mode()[0], whole.mode()[0])


@pytest.mark.parametrize("inference", ["support", "exact", "pruned"])
def test_a_doubled_row_is_one_of_weight_two(inference):
    X, Y = rows(50)
    weight = np.random.default_rng(0).integers(0, 3, size=50)
    repeated = np.repeat(np.arange(50), weight)
    heavy = sw.PairwiseCRF(inference=inference).fit(X, Y, sample_weight=weight)
    doubled = sw.PairwiseCRF(inference=inference).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(heavy.predict_proba(X), doubled.predict_proba(X), atol=1e-4)


def test_an_elastic_net_has_zeros_and_meets_its_optimality_conditions():
    X, Y = rows(60)
    X = np.hstack([X, np.random.default_rng(4).normal(size=(60, 5))])
    C, ratio = 0.2, 0.7
    fitted = sw.PairwiseCRF("elastic", C=C, l1_ratio=ratio, inference="exact").fit(X, Y)
    W, Q = fitted.weights_, fitted.interactions_
    assert 0.2 < (W == 0).mean() < 1
    likelihood = OnList(all_sets(4).astype(float), Y @ [1, 2, 4, 8], np.ones(60))
    biases = fitted.biases_ + linear_part(Q)
    _, R, by_pair = loss_of(likelihood, X @ W + biases, Q)
    slack = 0.02  # of the largest slope that a zero weight may have
    for weights, slopes, square in (
        (W, C * X.T @ R, 1 - ratio),
        (of_pairs(Q), C * of_pairs(by_pair), (1 - ratio) / 4),
    ):
        slopes = slopes + square * weights
        there = weights != 0
        assert there.any()
        np.testing.assert_allclose(slopes[there], -ratio * np.sign(weights[there]), atol=slack)
        assert (np.abs(slopes[~there]) <= ratio + slack).all()
    np.testing.assert_allclose(R.sum(axis=0), 0, atol=0.05)


def test_dense_sparse_single_and_framed_features_agree():
    X, Y = rows()
    plain = sw.PairwiseCRF().fit(X, Y)
    of_sparse = sw.PairwiseCRF().fit(sparse.csr_array(X), sparse.csr_array(Y))
    np.testing.assert_allclose(of_sparse.predict_proba(X), plain.predict_proba(X), atol=1e-3)
    assert sparse.issparse(of_sparse.predict(sparse.csr_array(X)))
    single = sw.PairwiseCRF().fit(X.astype(np.float32), Y)
    assert single.weights_.dtype == np.float32
    np.testing.assert_allclose(single.predict_proba(X), plain.predict_proba(X), atol=2e-3)
    frame = pd.DataFrame(Y, columns=list("abcd"))
    framed = sw.PairwiseCRF().fit(pd.DataFrame(X, columns=list("xyz")), frame)
    assert list(framed.predict(pd.DataFrame(X, columns=list("xyz"))).columns) == list("abcd")


def test_labels_that_all_rows_have_or_none_keep_their_smoothed_odds():
    X, Y = rows()
    Y[:, 0], Y[:, 1] = 1, 0
    for inference in ("support", "exact", "pruned"):
        fitted = sw.PairwiseCRF(inference=inference).fit(X, Y)
        p = fitted.predict_proba(X)
        assert (p[:, 0] > 0.97).all()
        assert (p[:, 1] < 0.03).all()
        np.testing.assert_array_equal(fitted.weights_[:, :2], 0)
        np.testing.assert_array_equal(fitted.interactions_[:2], 0)


@pytest.mark.parametrize("inference", ["support", "exact", "pruned"])
def test_the_empty_set_may_be_forbidden(inference):
    X, Y = rows()
    Y[:20] = 0
    free = sw.PairwiseCRF(inference=inference).fit(X, Y)
    never = sw.PairwiseCRF(inference=inference, allow_empty=False).fit(X, Y)
    assert (free.predict(X).sum(axis=1) == 0).any()
    assert (never.predict(X).sum(axis=1) > 0).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"learner": "boosting"}, "learner is one of logistic, elastic"),
        ({"inference": "loopy"}, "inference is one of support, pruned, exact"),
        ({"C": 0}, "C is a number over zero"),
        ({"C": "best"}, "C is a number over zero"),
        ({"C_pairs": -1}, "C_pairs is a number over zero"),
        ({"l1_ratio": 0}, 'learner="logistic"'),
        ({"prune": 0.7}, "prune is between 0 and 0.5"),
        ({"max_free": 0}, "max_free is a whole number from 1 up"),
        ({"max_free": 40}, "max_free is at most 16"),
        ({"max_iter": 0}, "max_iter is a whole number from 1 up"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(DataError, match=words):
        sw.PairwiseCRF(**parameters).fit(*rows(10))


def test_exact_inference_is_for_few_labels():
    X, _ = rows(10)
    Y = np.random.default_rng(0).integers(0, 2, size=(10, 16))
    with pytest.raises(DataError, match='up to 15 labels, but there are 16; use inference="supp'):
        sw.PairwiseCRF(inference="exact").fit(X, Y)


def test_features_whose_squares_overflow_are_refused():
    X, Y = rows()
    with pytest.raises(DataError, match="scale the features"):
        sw.PairwiseCRF().fit(X * 1e200, Y)


def test_a_solver_that_stops_short_says_so():
    with pytest.warns(NotConverged, match="raise max_iter"):
        sw.PairwiseCRF(max_iter=2).fit(*rows())


@pytest.mark.parametrize("inference", ["support", "exact", "pruned"])
def test_it_is_saved_and_loaded(inference, tmp_path):
    X, Y = rows()
    fitted = sw.PairwiseCRF(inference=inference).fit(X, [set(np.flatnonzero(y)) for y in Y])
    fitted.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(loaded.pair_weights_, fitted.pair_weights_)


def test_each_decision_a_calibrator_and_a_reranker_take_it():
    X, Y = rows()
    for target in ("set_accuracy", "f1", "hamming", "jaccard", "micro_f1", "macro_f1"):
        assert sw.PairwiseCRF(target=target).fit(X, Y).predict(X).shape == Y.shape
    for wrapper in (Reranker, SetCalibrator):
        wrapped = wrapper(sw.PairwiseCRF(), kind="isotonic_by_size", n_folds=2).fit(X, Y)
        sets, confidence = wrapped.predict_with_confidence(X)
        assert np.asarray(sets).shape == Y.shape
        assert ((confidence >= 0) & (confidence <= 1)).all()


def test_the_f1_decision_has_the_largest_expected_f1():
    X, Y = rows()
    fitted = sw.PairwiseCRF(inference="exact", target="f1").fit(X, Y)
    p = np.exp(by_hand(fitted, X))
    both = EVERY @ EVERY.T
    total = EVERY.sum(axis=1)[:, None] + EVERY.sum(axis=1)
    f1 = np.where(total > 0, 2 * both / np.maximum(total, 1), 0)  # (chosen, true)
    expected = p @ f1.T  # (n, chosen)
    chosen = fitted.predict(X) @ [8, 4, 2, 1]
    np.testing.assert_allclose(expected[np.arange(len(X)), chosen], expected.max(axis=1), rtol=1e-9)


def test_pairs_tell_what_binary_relevance_cannot():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    first = random.random(300) < 0.5  # nothing in x tells
    Y = np.column_stack([first, ~first]).astype(int)
    p = np.exp(sw.PairwiseCRF(inference="exact").fit(X, Y).predict_dist(X).log_prob(Y))
    apart = np.exp(sw.BinaryRelevance().fit(X, Y).predict_dist(X).log_prob(Y))
    assert p.mean() > 0.45 > 0.35 > apart.mean()


@pytest.mark.data
def test_scene_is_within_two_points_of_the_published_set_accuracy():
    """Li 2016, Table 2: 68.8, with a prior variance of 1."""
    scene = sw.load_dataset("scene")
    fitted = sw.PairwiseCRF(C=1.0).fit(scene.X_train, scene.Y_train)
    assert fitted.score(scene.X_test, scene.Y_test) > 0.668
