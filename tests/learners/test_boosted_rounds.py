"""Rounds as generalised EM adds them: other targets, weights and rows each time, and taken back."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax

from setwise.errors import DataError
from setwise.learners import boosted
from setwise.learners.boosted_trees import BinnedRows
from setwise.learners.boosting import BoostedBank, BoostedSoftmax
from setwise.storage import load, save

LEARNERS = [BoostedBank, BoostedSoftmax]


def problem(seed=0, n=300, d=6, L=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    T = softmax(2 * rng.normal(size=(n, L)) + 3 * X[:, :L] ** 2, axis=1)
    return X, T, rng.random(n) + 0.2


def changing_rounds(n, L, n_rounds):
    """Targets and weights of each round; about a third of the rows is left out, anew each time."""
    rng = np.random.default_rng(1)
    for _ in range(n_rounds):
        weight = rng.random(n) * (rng.random(n) < 0.7)
        yield softmax(2 * rng.normal(size=(n, L)), axis=1), weight


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("factor", [1000.0, 1e-9, 1e300])
def test_a_common_factor_on_the_weights_does_not_matter(learner, factor):
    X, T, weight = problem()
    plain = learner(8).fit(X, T, weight).scores(X)
    assert np.ptp(plain, axis=0).min() > 0.1
    scaled = learner(8).fit(X, T, factor * weight).scores(X)
    np.testing.assert_allclose(scaled, plain, rtol=0, atol=1e-6)


def test_a_factor_on_the_weights_of_one_target_does_not_matter():
    X, T, _ = problem()
    T[:, 2] = 0  # smoothed by half a row
    weight = np.random.default_rng(1).random(T.shape)
    plain = BoostedBank(8).fit(X, T, weight).scores(X)
    scaled = BoostedBank(8).fit(X, T, weight * [1e-8, 1.0, 1e5]).scores(X)
    np.testing.assert_allclose(scaled, plain, rtol=0, atol=1e-6)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_of_weight_zero_are_as_if_absent(learner, container):
    X, T, weight = problem()
    more = np.random.default_rng(1).normal(size=(500, 6)) + 2  # they would change every bin
    plain = learner(8).fit(container(X), T, weight).scores(container(X))
    rows, targets = container(np.r_[X, more]), np.r_[T, T, T[:200]]
    with_more = learner(8).fit(rows, targets, np.r_[weight, np.zeros(500)])
    np.testing.assert_array_equal(with_more.scores(container(X)), plain)


def test_rows_of_weight_zero_for_every_target_are_as_if_absent():
    X, T, _ = problem()
    weight = np.random.default_rng(1).random(T.shape)
    plain = BoostedBank(8).fit(X, T, weight).scores(X)
    zeros = np.zeros((300, 3))
    with_more = BoostedBank(8).fit(np.r_[X, X + 1], np.r_[T, T], np.r_[weight, zeros])
    np.testing.assert_array_equal(with_more.scores(X), plain)


@pytest.mark.parametrize("learner", LEARNERS)
def test_binned_rows_of_weight_zero_are_as_if_left_out(learner):
    X, T, weight = problem()
    binned, rows = BinnedRows(X), np.arange(0, 300, 2)
    part = learner(8).fit(binned.subset(rows), T[rows], weight[rows])
    thinned = learner(8).fit(binned, T, np.where(np.arange(300) % 2, 0, weight))
    np.testing.assert_array_equal(thinned.scores(X), part.scores(X))


@pytest.mark.parametrize("learner", LEARNERS)
def test_scores_of_binned_rows_are_kept_whatever_changes(learner):
    X, T, weight = problem()
    binned = BinnedRows(X)
    model = learner(3).fit(binned, T, weight)
    for targets, weights in changing_rounds(*T.shape, 4):
        model.add_trees(binned, targets, weights, 2)
        kept = model.scores(binned)
        np.testing.assert_allclose(kept, model.scores(X), rtol=0, atol=1e-9)
        kept += 1  # the caller's own copy
    np.testing.assert_allclose(model.scores(binned), model.scores(X), rtol=0, atol=1e-9)
    assert (model.n_rounds_, len(model.sizes_), len(model.trees_)) == (11, 11, 1)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_round_reads_none_of_the_older_trees(learner, monkeypatch):
    X, T, weight = problem()
    binned = BinnedRows(X)
    model = learner(3).fit(binned, T, weight)
    monkeypatch.setattr(boosted, "read_trees", None)
    for targets, weights in changing_rounds(*T.shape, 3):
        model.add_trees(binned, targets, weights)
        before = model.scores(binned)
        model.add_trees(binned, targets, weights).truncate(model.n_rounds_ - 1)
        np.testing.assert_array_equal(model.scores(binned), before)


def test_the_same_rows_go_on_in_the_same_booster():
    X, T, weight = problem()
    binned, weight = BinnedRows(X), np.where(X[:, 0] > 0, weight, 0)
    bank = BoostedBank(2).fit(binned, T, weight)
    live = bank._growing
    assert bank.add_trees(binned, 1 - T, 2 * weight)._growing is live
    np.testing.assert_allclose(bank.scores(binned), bank.scores(X), rtol=0, atol=1e-9)
    assert bank.add_trees(binned, T, weight[::-1])._growing is not live


@pytest.mark.parametrize("given", [BinnedRows, np.asarray])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_rejected_round_leaves_no_trace(learner, given):
    X, T, weight = problem()
    rows = given(X)
    model, other = (learner(3).fit(rows, T, weight) for _ in range(2))
    before = model.scores(X)
    model.add_trees(rows, T[::-1], weight[::-1], 2).truncate(3)
    assert model.n_rounds_ == 3
    assert model.trees_ == other.trees_
    np.testing.assert_array_equal(model.scores(X), before)
    np.testing.assert_allclose(model.scores(rows), before, rtol=0, atol=1e-12)
    for each in (model, other):
        each.add_trees(rows, T, weight, 4)
    np.testing.assert_allclose(model.scores(X), other.scores(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("way", ["live", "file", "pickle"])
def test_every_earlier_round_can_be_gone_back_to(way, tmp_path):
    """Across rows that cannot be split, targets that need no tree, and other groups of targets."""
    X, T, _ = problem(L=4)
    T[:, :2] = [0, 1]
    bank = BoostedBank(2, n_jobs=2, warm_start=True).fit(X, T)
    said = [None, None, bank.scores(X)]
    for n_jobs, rows in ((2, X), (1, X), (1, np.ones_like(X)), (2, X.copy())):
        bank.n_jobs = n_jobs
        said.append(bank.add_trees(rows, T).scores(X))
    assert [len(counts) for counts in bank.sizes_] == [1, 1, 1, 2, 2, 3]
    assert len(set(bank.sizes_[2][0])) == 2
    if way == "file":
        save(bank, tmp_path / "bank")
        bank = load(tmp_path / "bank")
    bank = pickle.loads(pickle.dumps(bank)) if way == "pickle" else bank
    for n_rounds in range(6, 1, -1):
        scores = bank.truncate(n_rounds).scores(X)
        np.testing.assert_allclose(scores, said[n_rounds], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(bank.truncate(0).scores(X[:1])[0], bank.base_)
    assert expit(bank.base_[0]) < 0.01


def test_rounds_that_are_not_there_get_a_sentence():
    X, T, weight = problem()
    with pytest.raises(DataError, match="cannot keep 1 rounds where there are 0"):
        BoostedBank().truncate(1)
    bank = BoostedBank(2).fit(X, T, weight)
    for n_rounds in (-1, 3):
        with pytest.raises(DataError, match="where there are 2; pass 0 to 2"):
            bank.truncate(n_rounds)


def test_new_fits_forget_kept_scores():
    X, T, weight = problem()
    binned = BinnedRows(X)
    bank = BoostedBank(2).fit(binned, T, weight).fit(binned, T[::-1], weight)
    np.testing.assert_allclose(bank.scores(binned), bank.scores(X), rtol=0, atol=1e-9)
    bank.add_trees(X, T, weight)  # not on the binned rows
    np.testing.assert_allclose(bank.scores(binned), bank.scores(X), rtol=0, atol=1e-9)
    bank.truncate(2)
    np.testing.assert_allclose(bank.scores(binned), bank.scores(X), rtol=0, atol=1e-9)


def test_a_bank_goes_on_with_other_targets():
    """A target's trees do not depend on which others there are."""
    X, T, weight = problem()
    binned = BinnedRows(X)
    bank = BoostedBank(n_jobs=1).start_at(np.zeros(2), 6)
    bank.add_trees(binned, T[:, :2], weight, 3).retarget([1, -1], np.array([9.0, 0.5]))
    bank.add_trees(binned, T[:, 1:], weight, 3)
    old = BoostedBank(n_jobs=1).start_at(np.zeros(1), 6)
    new = BoostedBank(n_jobs=1).start_at(np.full(1, 0.5), 6)
    old.add_trees(binned, T[:, [1]], weight, 6)
    new.add_trees(binned, T[:, [2]], weight, 3)
    np.testing.assert_allclose(bank.scores(X)[:, [0]], old.scores(X), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(bank.scores(X)[:, [1]], new.scores(X), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(bank.scores(binned), bank.scores(X), rtol=1e-9)


def test_targets_that_grew_in_several_groups_cannot_be_exchanged():
    X, T, weight = problem()
    bank = BoostedBank(2, n_jobs=2).fit(X, T, weight)
    with pytest.raises(DataError, match="n_jobs=1"):
        bank.retarget([0], np.zeros(1))


def test_remembered_scores_are_what_new_trees_correct():
    X, T, weight = problem()
    binned, far = BinnedRows(X), BinnedRows(X)
    bank = BoostedBank(n_jobs=1).start_at(np.zeros(3), 6)
    bank.remember(binned, np.full((300, 3), 4.0)).add_trees(binned, T, weight, 2)
    told = bank.newest_scores(X)
    np.testing.assert_allclose(bank.scores(binned), 4.0 + told, rtol=1e-9)
    np.testing.assert_allclose(bank.scores(far), told, rtol=1e-9)
    assert told.max() < 0  # a row that is all but certain to have a label is mostly wrong
    assert not bank.let_go().newest_scores(X).any()
