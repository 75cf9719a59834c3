import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, log_softmax, softmax

from setwise.errors import DataError
from setwise.learners import boosted
from setwise.learners.boosted_trees import BinnedRows
from setwise.learners.boosting import (
    BoostedBank,
    BoostedSoftmax,
    kl_derivatives,
    softmax_derivatives,
    squared_derivatives,
)
from setwise.storage import load, save

# What LightGBM must be told to grow the trees that we grow by default.
THEIRS = {
    "num_leaves": 5,
    "learning_rate": 0.1,
    "min_data_in_leaf": 20,
    "max_bin": 31,
    "min_data_in_bin": 1,
    "feature_pre_filter": False,
    "force_row_wise": True,
    "deterministic": True,
    "num_threads": 1,
    "verbosity": -1,
}


def problem(seed=0, n=300, d=6, L=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    T = (rng.random((n, L)) < expit(2 * X[:, :L] ** 2 - 1)).astype(float)
    return X, T, rng.random(n) + 0.2


def cross_entropy(bank, X, T, weight):
    scores = bank.logits(X)
    loss = np.logaddexp(0, scores) - T * scores
    return (weight[:, None] * loss).sum(axis=0) / weight.sum()


def trained(objective, X, label, weight, n_trees, **more):
    rows = lightgbm.Dataset(X, label=label, weight=weight)
    return lightgbm.train(THEIRS | {"objective": objective, **more}, rows, n_trees)


def test_each_target_is_lightgbms_own_binary_problem():
    X, T, weight = problem()
    bank = BoostedBank(25).fit(X, T, weight)
    for number in range(3):
        theirs = trained("binary", X, T[:, number], weight, 25)
        np.testing.assert_allclose(
            bank.logits(X)[:, number], theirs.predict(X, raw_score=True), rtol=0, atol=1e-6
        )


def test_squared_error_is_lightgbms_own_regression():
    X, _, weight = problem()
    values = 10 * X[:, 0] + X[:, 1] ** 2
    bank = BoostedBank(25, objective="squared").fit(X, values, weight)
    theirs = trained("regression", X, values, weight, 25).predict(X)
    np.testing.assert_allclose(bank.scores(X)[:, 0], theirs, rtol=1e-6, atol=1e-6)
    assert np.isfinite(bank.logits(X)).all()


def test_softmax_is_lightgbms_own_multiclass_problem():
    X, T, weight = problem()
    classes = T.argmax(axis=1)
    gate = BoostedSoftmax(25).fit(X, np.eye(3)[classes], weight)
    theirs = trained("multiclass", X, classes, weight, 25, num_class=3).predict(X)
    np.testing.assert_allclose(np.exp(gate.log_proba(X)), theirs, rtol=1e-6)


def test_gradient_steps_fit_the_mean_residual_of_a_leaf():
    X = np.repeat([0.0, 1.0], 30)[:, None]
    T = np.r_[np.zeros(20), np.ones(10), np.ones(25), np.zeros(5)]
    weight = np.random.default_rng(0).random(60) + 0.5
    bank = BoostedBank(1, newton=False, shrinkage=0.5, n_leaves=2).fit(X, T, weight)
    mean = np.average(T, weights=weight)
    for value in (0.0, 1.0):
        leaf = X[:, 0] == value
        step = 0.5 * np.average(T[leaf] - mean, weights=weight[leaf])
        expected = np.log(mean / (1 - mean)) + step
        np.testing.assert_allclose(bank.logits([[value]])[0, 0], expected, rtol=1e-6)


def test_loss_falls_as_trees_are_added():
    X, T, weight = problem()
    T = 0.1 + 0.8 * T
    bank = BoostedBank(1).fit(X, T, weight)
    losses = [cross_entropy(bank, X, T, weight)]
    for _ in range(10):
        bank.add_trees(X, T, weight, n_trees=2)
        losses.append(cross_entropy(bank, X, T, weight))
    assert (np.diff(losses, axis=0) < 0).all()
    assert bank.n_rounds_ == 21


@pytest.mark.parametrize("learner", [BoostedBank, BoostedSoftmax])
def test_a_single_row_does_not_carry_its_neighbours_away(learner):
    random = np.random.default_rng(0)
    X = random.random((3000, 5))
    T = np.zeros((3000, 2))
    T[7, 0] = 1
    T[:, 1] = 1 - T[:, 0]
    model = learner(n_trees=30).fit(X, T)
    start = model.base_[0] - model.base_[1] if learner is BoostedSoftmax else model.base_[0]
    scores = model.scores(X)
    log_odds = scores[:, 0] - scores[:, 1] if learner is BoostedSoftmax else scores[:, 0]
    assert log_odds[7] > start + 1  # it does learn
    assert (np.delete(log_odds, 7) > 0).sum() < 5  # hundreds without a limit
    loss = np.logaddexp(0, log_odds).sum() - log_odds[7]
    assert loss < np.logaddexp(0, np.full(3000, start)).sum() - start


def test_values_of_any_size_have_no_limit():
    X = np.repeat([[0.0], [1.0]], 100, axis=0)
    bank = BoostedBank(n_trees=200, objective="squared").fit(X, 1000 * X)
    np.testing.assert_allclose(bank.scores([[0.0], [1.0]]).ravel(), [0, 1000], atol=1)


def test_trees_added_in_parts_are_those_grown_at_once():
    X, T, weight = problem()
    at_once = BoostedBank(12).fit(X, T, weight)
    in_parts = BoostedBank(5).fit(X, T, weight).add_trees(X, T, weight, 7)
    np.testing.assert_array_equal(in_parts.logits(X), at_once.logits(X))
    elsewhere = BoostedBank(5).fit(X, T, weight).add_trees(X.copy(), T, weight, 7)
    assert len(elsewhere.trees_) == 1  # another booster, whose trees are written behind the first
    np.testing.assert_allclose(elsewhere.logits(X), at_once.logits(X), rtol=0, atol=1e-6)


def test_warm_start_adds_and_fit_starts_anew():
    X, T, weight = problem()
    bank = BoostedBank(5).fit(X, 1 - T, weight).fit(X, T, weight)
    np.testing.assert_array_equal(bank.logits(X), BoostedBank(5).fit(X, T, weight).logits(X))
    warm = BoostedBank(5, warm_start=True).fit(X, T, weight).fit(X, T, weight)
    np.testing.assert_array_equal(warm.logits(X), BoostedBank(10).fit(X, T, weight).logits(X))


def test_new_targets_and_weights_correct_what_the_trees_said():
    X, T, weight = problem()
    bank = BoostedBank(20).fit(X, T, weight)
    before = cross_entropy(bank, X, 1 - T, weight[::-1])
    bank.add_trees(X, 1 - T, weight[::-1], 20)
    assert (cross_entropy(bank, X, 1 - T, weight[::-1]) < before - 0.1).all()


def test_rows_are_binned_once_for_all_banks_and_subsets():
    X, T, weight = problem()
    binned = BinnedRows(X)
    shared = BoostedBank(8).fit(binned, T, weight)
    other = BoostedBank(8, n_leaves=3, min_rows_in_leaf=5).fit(binned, T, weight)
    np.testing.assert_array_equal(shared.logits(X), BoostedBank(8).fit(X, T, weight).logits(X))
    alone = BoostedBank(8, n_leaves=3, min_rows_in_leaf=5).fit(X, T, weight)
    np.testing.assert_array_equal(other.logits(X), alone.logits(X))
    rows = np.arange(0, len(X), 2)
    part = BoostedBank(8).fit(binned.subset(rows), T[rows], weight[rows])
    assert (cross_entropy(part, X, T, weight) < 0.69).all()


@pytest.mark.parametrize("quantized", [False, True])
def test_monotone_constraint_holds(quantized):
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    T = (rng.random(400) < 0.5 + 0.4 * np.sin(9 * X[:, 0])).astype(float)
    grid = np.c_[np.linspace(0, 1, 200), np.full(200, 0.5)]
    free = BoostedBank(40).fit(X, T).logits(grid)[:, 0]
    constrained = BoostedBank(
        40, monotone=[1, 0], quantized=quantized, n_leaves=16, min_rows_in_leaf=2
    )
    rising = constrained.fit(X, T).logits(grid)[:, 0]
    assert (np.diff(free) < -0.1).any()
    assert (np.diff(rising) >= 0).all()
    assert rising[-1] > rising[0]


def test_doubled_row_is_weight_two():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(200, 4)).astype(float)  # few values: the bins are the same
    T = (rng.random(200) < expit(X[:, 0] - 3)).astype(float)
    twice = np.where(np.arange(200) % 2, 2, 1)
    rows = np.repeat(np.arange(200), twice)
    weighted = BoostedBank(10, min_rows_in_leaf=1).fit(X, T, twice)
    doubled = BoostedBank(10, min_rows_in_leaf=1).fit(X[rows], T[rows])
    np.testing.assert_allclose(weighted.logits(X), doubled.logits(X), rtol=0, atol=1e-5)


def test_sparse_rows_give_what_dense_ones_give():
    X, T, weight = problem()
    X = np.where(X > 0, X, 0.0)
    dense = BoostedBank(8).fit(X, T, weight).logits(X)
    thin = BoostedBank(8).fit(sparse.csr_array(X), sparse.csr_array(T), weight)
    np.testing.assert_allclose(thin.logits(sparse.csr_array(X)), dense, rtol=0, atol=1e-9)


@pytest.mark.parametrize("learner", [BoostedBank, BoostedSoftmax])
def test_threads_do_not_matter(learner):
    X, T, weight = problem()
    T = softmax(T, axis=1)
    one, two = (learner(8, n_jobs=jobs).fit(X, T, weight).scores(X) for jobs in (1, 2))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)


def test_weights_per_target_are_those_of_single_fits():
    X, T, _ = problem()
    weight = np.random.default_rng(1).random(T.shape) + 0.1
    bank = BoostedBank(8).fit(X, T, weight)
    single = BoostedBank(8).fit(X, T[:, 1], weight[:, 1])
    np.testing.assert_allclose(bank.logits(X)[:, [1]], single.logits(X), rtol=0, atol=1e-12)


def test_constant_targets_get_their_smoothed_mean():
    X, _, _ = problem(n=60)
    bank = BoostedBank(5).fit(X, np.c_[np.zeros(60), np.ones(60)])
    np.testing.assert_allclose(expit(bank.logits(X)), [[0.5 / 61, 60.5 / 61]] * 60, rtol=1e-9)
    gate = BoostedSoftmax(5).fit(X, [[1.0, 0.0]] * 60)
    np.testing.assert_allclose(np.exp(gate.log_proba(X)), [[60.5 / 61, 0.5 / 61]] * 60, rtol=1e-9)


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.arange(5.0)[:, None], np.zeros((2, 1))])
def test_little_data_gives_the_mean(X):
    T = np.arange(len(X)) % 2
    logits = BoostedBank(3).fit(X, T).logits(X)
    np.testing.assert_allclose(expit(logits[:, 0]), T.mean(), rtol=1e-6)


@pytest.mark.parametrize("way", ["file", "pickle", "copy"])
@pytest.mark.parametrize("learner", [BoostedBank, BoostedSoftmax])
def test_stored_learner_predicts_the_same_and_grows_on(learner, way, tmp_path):
    X, T, weight = problem()
    T = softmax(T, axis=1)
    fitted = learner(6).fit(X, T, weight)
    if way == "file":
        save(fitted, tmp_path / "learner")
        other = load(tmp_path / "learner")
    else:
        other = copy.deepcopy(fitted) if way == "copy" else pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(other.scores(X), fitted.scores(X))
    grown = [each.add_trees(X, T, weight, 3).scores(X) for each in (fitted, other)]
    np.testing.assert_allclose(grown[0], grown[1], rtol=0, atol=1e-6)


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_derivatives_match_finite_differences(seed):
    rng = np.random.default_rng(seed)
    scores, T = 2 * rng.normal(size=(3, 4)), softmax(rng.normal(size=(3, 4)), axis=1)
    everything, step = slice(0, 4), 1e-5
    losses = {
        kl_derivatives: lambda s: np.logaddexp(0, s) - T * s,
        squared_derivatives: lambda s: (s - T) ** 2 / 2,
    }
    for derivatives, loss in losses.items():
        first, second = derivatives(scores, T)
        up, here, down = loss(scores + step), loss(scores), loss(scores - step)
        np.testing.assert_allclose(first, (up - down) / (2 * step), rtol=0, atol=1e-8)
        np.testing.assert_allclose(second, (up - 2 * here + down) / step**2, rtol=0, atol=1e-4)
    first, second = softmax_derivatives(scores, T, everything)
    for k in range(4):
        shift = step * np.eye(4)[k]
        up, here, down = (
            -(T * log_softmax(scores + sign * shift, axis=1)).sum(axis=1) for sign in (1, 0, -1)
        )
        np.testing.assert_allclose(first[:, k], (up - down) / (2 * step), rtol=0, atol=1e-8)
        numeric = 4 / 3 * (up - 2 * here + down) / step**2
        np.testing.assert_allclose(second[:, k], numeric, rtol=0, atol=1e-4)


def test_nothing_is_printed(capfd):
    X, T, weight = problem()
    BoostedBank(3, n_jobs=2).fit(X, T, weight).add_trees(X, T, weight, 2).logits(X)
    BoostedBank(3).fit(np.ones((30, 2)), T[:30]).logits(np.ones((3, 2)))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_trees": 0}, "n_trees and min_rows_in_leaf must be at least 1"),
        ({"n_leaves": 1}, "n_leaves at least 2"),
        ({"shrinkage": 0}, "shrinkage must lie in"),
        ({"monotone": [1]}, "for each of the 6 features"),
        ({"objective": "hinge"}, 'must be "kl" or "squared"'),
    ],
)
def test_meaningless_settings_get_a_sentence(parameters, message):
    X, T, _ = problem()
    with pytest.raises(DataError, match=message):
        BoostedBank(**parameters).fit(X, T)


def test_other_shapes_than_in_fit_get_a_sentence():
    X, T, _ = problem()
    bank = BoostedBank(2, warm_start=True).fit(X, T)
    with pytest.raises(DataError, match="2 features but the learner was fitted on 6"):
        bank.logits(X[:, :2])
    with pytest.raises(DataError, match="2 targets but the fitted state has 3"):
        bank.fit(X, T[:, :2])


@pytest.mark.parametrize("changed", [{"shrinkage": 0.5}, {"n_leaves": 2}, {"min_rows_in_leaf": 90}])
def test_later_trees_follow_changed_settings(changed):
    """As they do from a stored bank, which has no live booster."""
    X, T, weight = problem()
    bank = BoostedBank(n_trees=3, warm_start=True).fit(X, T, weight)
    stored = pickle.loads(pickle.dumps(bank))
    for each in (bank, stored):
        vars(each).update(changed)
        each.fit(X, T, weight)
    np.testing.assert_allclose(bank.scores(X), stored.scores(X), atol=1e-6)


def test_a_changed_number_of_bins_bins_anew():
    X, T, _ = problem()
    bank = BoostedBank(n_trees=3, max_bins=3).fit(X, T)
    bank.max_bins = 31
    anew = BoostedBank(n_trees=3, max_bins=31).fit(X, T)
    np.testing.assert_array_equal(bank.fit(X, T).scores(X), anew.scores(X))


def test_no_rows_and_no_bins_get_a_sentence():
    X, T, _ = problem()
    with pytest.raises(DataError, match="no rows to learn from"):
        BoostedBank().fit(X[:0], T[:0])
    with pytest.raises(DataError, match="max_bins must be at least 2"):
        BoostedBank(max_bins=1).fit(X, T)


def test_threads_may_ask_for_scores_at_once():
    """Each reads the trees, and none counts those that another has read."""
    X, T, _ = problem()
    bank = BoostedBank(n_trees=100, n_jobs=1).fit(X, T)
    stored = pickle.loads(pickle.dumps(bank))
    meeting = Barrier(4)

    def ask(_):
        meeting.wait()
        return stored.scores(X)

    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(ask, range(4)):
            np.testing.assert_array_equal(scores, bank.scores(X))


def test_trees_that_fail_leave_the_bank_as_it_was(monkeypatch):
    X, T, _ = problem()
    bank = BoostedBank(n_trees=3, n_jobs=2).fit(X, T)
    before = bank.scores(X)

    def fail(scores, T, group):
        if group.start > 0:
            raise ZeroDivisionError
        return kl_derivatives(scores[:, group], T[:, group])

    monkeypatch.setattr(bank, "_derivatives", fail, raising=False)
    for rows in (X, X.copy()):
        with pytest.raises(ZeroDivisionError):
            bank.add_trees(rows, T)
        np.testing.assert_array_equal(bank.scores(X), before)


def test_quantized_gradients_fit_as_well():
    X, T, weight = problem(n=2000)
    exact, quantized = (BoostedBank(50, quantized=q).fit(X, T, weight) for q in (False, True))
    assert np.abs(exact.logits(X) - quantized.logits(X)).max() > 1e-3
    losses = [cross_entropy(bank, X, T, weight) for bank in (exact, quantized)]
    np.testing.assert_allclose(losses[1], losses[0], rtol=0.02)
    again = BoostedBank(50, quantized=True, n_jobs=1).fit(X, T, weight)
    np.testing.assert_allclose(again.logits(X), quantized.logits(X), rtol=0, atol=1e-12)


def test_quantized_gradients_may_be_all_zero():
    X, T, _ = problem()
    values = np.c_[np.zeros(300), np.full(300, 0.5), T[:, 0]]
    scores = BoostedBank(5, objective="squared", quantized=True).fit(X, values).scores(X)
    np.testing.assert_allclose(scores[:, :2], values[:, :2], rtol=0, atol=1e-12)
    assert np.ptp(scores[:, 2]) > 0.1


@pytest.mark.parametrize("n_jobs", [None, 1, 3])
def test_lightgbm_is_never_asked_for_another_number_of_threads(monkeypatch, n_jobs):
    # It is one for the process: changed by one thread while another predicts, LightGBM crashes.
    asked = []
    plain = lightgbm.basic._param_dict_to_str
    monkeypatch.setattr(
        lightgbm.basic, "_param_dict_to_str", lambda given: (asked.append(given), plain(given))[1]
    )
    random = np.random.default_rng(0)
    X = sparse.random_array((200, 5), density=0.5, rng=random, format="csr")
    Y = (random.random((200, 2)) < 0.4).astype(float)
    binned = BinnedRows(X).subset(np.arange(100))
    bank = BoostedBank(n_trees=2, n_jobs=n_jobs)
    bank.fit(binned, Y[:100])
    bank.logits(X)
    ours = [given for given in asked if given != {"objective": "none"}]  # it says that to itself
    assert len(ours) >= 5
    assert {given.get("num_threads") for given in ours} == {1}


def test_rows_alone_in_their_bins_keep_sparse_columns_and_learn_the_same(monkeypatch):
    random = np.random.default_rng(0)
    X = sparse.random_array((300, 600), density=0.02, rng=random, format="csr")
    Y = ((X @ random.normal(size=(600, 2))) > 0).astype(float)
    made = []

    class Recorded(BinnedRows):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            made.append(self)

    with monkeypatch.context() as patched:
        patched.setattr(boosted, "BinnedRows", Recorded)
        alone = BoostedBank(5, n_jobs=1).fit(X, Y)
    shared = BoostedBank(5, n_jobs=1).fit(BinnedRows(X), Y)
    assert [rows.parameters["is_enable_sparse"] for rows in made] == [True]
    assert not BinnedRows(X).parameters["is_enable_sparse"]
    np.testing.assert_allclose(alone.logits(X), shared.logits(X), rtol=1e-12)
    for share in (lambda: made[0].subset(np.arange(9)), lambda: made[0].others(X[:9])):
        with pytest.raises(DataError, match="alone in their bins"):
            share()


def test_a_part_of_the_rows_may_be_denser_than_all(tmp_path):
    """LightGBM wrote outside its buffers; what happens then may be anything, so in a process."""
    program = tmp_path / "grow.py"
    program.write_text(DENSER_PART)
    ended = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.stdout == "the trees say the same of both\n", ended.stderr


DENSER_PART = """
import numpy as np
from scipy import sparse
from setwise.learners.boosted_trees import BinnedRows
from setwise.learners.boosting import BoostedBank

random = np.random.default_rng(0)
here = np.vstack([random.random((1500, 400)) < 0.15, random.random((3500, 400)) < 0.025])
X = sparse.csr_array(here.astype(float))  # 90,000 entries in the part, 37,500 by the whole
binned = BinnedRows(X)
T = (X[:1500] @ random.normal(size=(400, 3)) > 0).astype(float)
for part in (binned.subset(np.arange(1500)), binned.others(X[:1500])):
    bank = BoostedBank(n_jobs=1).add_trees(part, T, None, 10)
    np.testing.assert_allclose(bank.scores(part), bank.scores(X[:1500]), atol=1e-5)
print("the trees say the same of both")
"""
