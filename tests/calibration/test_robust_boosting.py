import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from setwise.calibration.noise import NoiseRates, mean_noisy_likelihood
from setwise.calibration.robust_boosting import FARTHEST_MOVE, OBJECTIVES, RobustBank
from setwise.errors import DataError
from setwise.learners.boosted_trees import BinnedRows
from setwise.learners.boosting import BoostedBank
from setwise.storage import load, save


def problem(seed=0, n=600, alpha=0.3, beta=0.05):
    """Rows, noisy judgements, weights, and rates that differ among rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    right = rng.random(n) < expit(2 * X[:, 0] + X[:, 1])
    noise = NoiseRates(rng.uniform(0, 2 * alpha, n), rng.uniform(0, 2 * beta, n))
    judged = np.where(right, rng.random(n) >= noise.alpha, rng.random(n) < noise.beta)
    return X, judged.astype(float), rng.random(n) + 0.2, noise


def bank(objective, n_trees=20, **settings):
    return RobustBank(n_trees, objective=objective, n_jobs=1, **settings)


@pytest.mark.parametrize("newton", [True, False])
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("noise", [NoiseRates(), NoiseRates(np.zeros(600), np.zeros(600))])
def test_without_noise_it_is_a_boosted_bank_exactly(objective, newton, noise):
    X, judged, weight, _ = problem()
    weight[::3] = 0
    settings = {"newton": newton, "monotone": [1, 0, 0, 0]}
    ours = bank(objective, **settings).fit(X, judged, weight, noise=noise)
    plain = "squared" if objective == "squared" else "kl"
    theirs = BoostedBank(20, objective=plain, n_jobs=1, **settings).fit(X, judged, weight)
    np.testing.assert_array_equal(ours.scores(X), theirs.scores(X))
    np.testing.assert_array_equal(ours.logits(X), theirs.logits(X))
    assert ours.trees_ == theirs.trees_


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_of_weight_zero_are_as_if_absent_with_their_rates(objective, container):
    X, judged, weight, noise = problem()
    counted = np.arange(600) % 3 > 0
    weight = np.where(counted, weight, 0)
    ours = bank(objective).fit(container(X), judged, weight, noise=noise)
    part = bank(objective).fit(
        container(X[counted]), judged[counted], weight[counted], noise=noise.of_rows(counted)
    )
    np.testing.assert_allclose(ours.logits(X), part.logits(X), rtol=0, atol=1e-12)
    assert np.ptp(ours.logits(X)) > 1


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_rate_for_all_is_that_rate_for_each(objective):
    X, judged, weight, _ = problem()
    one = bank(objective).fit(X, judged, weight, noise=NoiseRates(0.3, 0.1))
    each = bank(objective).fit(
        X, judged, weight, noise=NoiseRates(np.full(600, 0.3), np.full(600, 0.1))
    )
    np.testing.assert_allclose(one.logits(X), each.logits(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_squared_error_and_kl_see_shifted_targets(objective):
    X, judged, weight, noise = problem()
    robust = bank(objective, 5).fit(X, judged, weight, noise=noise)
    shifted = BoostedBank(5, objective="squared", n_jobs=1).fit(
        X, noise.shifted_targets(judged), weight
    )
    if objective == "squared":
        np.testing.assert_array_equal(robust.scores(X), shifted.scores(X))
    else:  # they start at the same mean
        mean = np.average(noise.shifted_targets(judged), weights=weight)
        assert expit(robust.base_[0]) == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("uniform", [True, False])
def test_first_tree_of_gradient_steps_is_that_of_the_algorithms(uniform):
    X, judged, _, noise = problem()
    x = (X[:, :1] > 0).astype(float)  # one split only
    noise = NoiseRates(0.3, 0.1) if uniform else noise
    robust = bank("kl", 1, newton=False, shrinkage=1.0).fit(x, judged, noise=noise)
    m = np.broadcast_to(noise.weights(), 600)
    c = expit(robust.base_[0])
    gradient = c - judged + (1 - c) * noise.beta - c * noise.alpha  # Algorithm 4.4, without m
    for side in (0.0, 1.0):
        rows = x[:, 0] == side
        fit = -np.average(gradient[rows], weights=m[rows]) * m.mean()
        step = robust.scores([[side]])[0, 0] - robust.base_[0]
        assert step == pytest.approx(fit, rel=1e-4)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rounds_may_be_added_and_taken_back(objective):
    X, judged, weight, noise = problem()
    at_once = bank(objective).fit(X, judged, weight, noise=noise)
    rows = BinnedRows(X)
    steps = bank(objective)
    for _ in range(5):
        steps.add_trees(rows, judged, weight, 5, noise=noise)
    steps.truncate(20)
    np.testing.assert_allclose(steps.scores(X), at_once.scores(X), rtol=0, atol=1e-6)
    np.testing.assert_allclose(steps.scores(rows), at_once.scores(X), rtol=0, atol=1e-6)
    assert steps.offset_ == 0
    steps.recentre(rows, judged, weight, noise=noise)
    np.testing.assert_allclose(steps.logits(X), at_once.logits(X), rtol=0, atol=1e-5)
    at_once.truncate(10)
    assert at_once.offset_ == 0  # that of twenty trees is not that of ten
    fewer = bank(objective, 7).fit(X, judged, weight, noise=noise)
    back = steps.truncate(7).recentre(X, judged, weight, noise=noise)
    np.testing.assert_allclose(back.logits(X), fewer.logits(X), rtol=0, atol=1e-5)


def test_early_stopping_by_the_loss_on_noisy_rows():
    X, judged, _, noise = problem(n=500)
    X_apart, judged_apart, _, noise_apart = problem(1, n=500)
    growing, losses = bank("likelihood", shrinkage=0.5, min_rows_in_leaf=2), []
    for _ in range(20):
        growing.add_trees(X, judged, noise=noise)
        losses.append(growing.loss(X_apart, judged_apart, noise=noise_apart))
    best = int(np.argmin(losses)) + 1
    assert 1 <= best < 20
    stopped = growing.truncate(best)
    assert stopped.loss(X_apart, judged_apart, noise=noise_apart) == pytest.approx(
        min(losses), rel=1e-9
    )
    expected = mean_noisy_likelihood(stopped.confidence(X_apart), judged_apart, noise_apart)
    assert min(losses) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_warm_start_adds_to_what_there_is(objective):
    X, judged, weight, noise = problem()
    warm = bank(objective, 10, warm_start=True).fit(X, judged, weight, noise=noise)
    warm.fit(X, judged, weight, noise=noise)
    once = bank(objective, 20).fit(X, judged, weight, noise=noise)
    np.testing.assert_allclose(warm.logits(X), once.logits(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("judgement", [0.0, 1.0])
def test_judgements_better_than_their_rates_allow_do_not_run_away(objective, judgement):
    X, _, _, _ = problem()
    judged = np.full(600, judgement)
    noise = NoiseRates(0.5, 0.2)
    grown = bank(objective, 300, score_limit=5.0).fit(X, judged, noise=noise)
    assert np.abs(grown.scores(X)).max() < 7
    assert np.abs(grown.logits(X)).max() <= 5
    # Some rows only: those whose judgements are all alike.
    mixed = np.where(X[:, 0] > 0, judgement, judged_at_random(600))
    grown = bank(objective, 300, score_limit=5.0).fit(X, mixed, noise=noise)
    # Of the likelihood, rows far out weigh so little that they go where others pull them.
    assert np.abs(grown.scores(X)).max() < (16 if objective == "likelihood" else 7)
    assert np.abs(grown.logits(X)).max() <= 5
    assert np.isfinite(grown.loss(X, mixed, noise=noise))


def judged_at_random(n):
    return (np.random.default_rng(5).random(n) < 0.4).astype(float)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_confidence_rises_where_it_must(objective):
    X, judged, weight, noise = problem()
    free = bank(objective, 50, min_rows_in_leaf=2).fit(X, judged, weight, noise=noise)
    held = bank(objective, 50, min_rows_in_leaf=2, monotone=[0, 0, 1, 0])
    held.fit(X, judged, weight, noise=noise)
    line = np.zeros((50, 4))
    line[:, 2] = np.linspace(-3, 3, 50)  # has no meaning: left free, the curve goes up and down
    assert (np.diff(held.confidence(line)) >= -1e-12).all()
    assert (np.diff(free.confidence(line)) < 0).any()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_mean_confidence_is_the_mean_target(objective):
    X, judged, weight, noise = problem()
    grown = bank(objective, 100).fit(X, judged, weight, noise=noise)
    mean = np.average(noise.shifted_targets(judged), weights=weight)
    assert grown.offset_ != 0
    assert np.average(grown.confidence(X), weights=weight) == pytest.approx(mean, abs=1e-9)
    grown.recentre(X, np.ones(600), noise=noise)  # far from what the trees say
    assert grown.offset_ == FARTHEST_MOVE
    grown.recentre(X, np.zeros(600), noise=noise)
    assert grown.offset_ == -FARTHEST_MOVE


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_stored_and_pickled_banks_say_the_same(objective, tmp_path):
    X, judged, weight, noise = problem()
    grown = bank(objective, score_limit=2.0).fit(X, judged, weight, noise=noise)
    save(grown, tmp_path / "bank")
    for again in (load(tmp_path / "bank"), pickle.loads(pickle.dumps(grown))):
        assert isinstance(again, RobustBank)
        np.testing.assert_array_equal(again.confidence(X), grown.confidence(X))
        assert np.abs(again.logits(X)).max() <= 2
    more = load(tmp_path / "bank").add_trees(X, judged, weight, noise=noise)
    grown.add_trees(X, judged, weight, noise=noise)
    np.testing.assert_allclose(more.logits(X), grown.logits(X), rtol=0, atol=1e-6)


def test_noise_of_one_fit_is_not_that_of_the_next():
    X, judged, weight, noise = problem()
    learner = bank("likelihood").fit(X, judged, weight, noise=noise)
    learner.fit(X, judged, weight)
    plain = bank("likelihood").fit(X, judged, weight)
    np.testing.assert_array_equal(learner.logits(X), plain.logits(X))
    assert not learner.bounded_
    after = bank("likelihood").fit(X, judged, weight, noise=noise).add_trees(X, judged, weight)
    told = bank("likelihood").fit(X, judged, weight, noise=noise)
    told.add_trees(X, judged, weight, noise=NoiseRates())
    np.testing.assert_array_equal(after.scores(X), told.scores(X))


def test_what_cannot_be_fitted_gets_a_sentence():
    X, judged, _, noise = problem()
    with pytest.raises(DataError, match="objective must be one of"):
        bank("hinge").fit(X, judged)
    with pytest.raises(DataError, match="score_limit must be positive"):
        bank("kl", score_limit=0.0).fit(X, judged)
    with pytest.raises(DataError, match="600 rates but there are 599 rows"):
        bank("kl").fit(X[:599], judged[:599], noise=noise)
    with pytest.raises(DataError, match="one judgement for each of 600 rows"):
        bank("kl").fit(X, np.zeros((600, 2)))
    with pytest.raises(DataError, match=r"\[0, 1\]"):
        bank("squared").fit(X, judged + 1)
