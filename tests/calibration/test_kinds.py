"""Every kind of calibrator on candidates whose probability of being right is known."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from setwise.calibration.candidates import Candidates
from setwise.calibration.features import NUMBERS, OF_THE_THESIS, CandidateFeatures, features_of
from setwise.calibration.kinds import FEWEST_OF_A_SIZE, KINDS, Judged, make_kind
from setwise.calibration.noise import NO_NOISE, NoiseRates
from setwise.calibration.prior import SetPrior
from setwise.errors import DataError
from setwise.storage import load, save

L = 4
EVERY = [
    ("none", "squared", False),
    ("constant", "squared", False),
    ("isotonic", "squared", False),
    ("isotonic_by_size", "squared", False),
    ("tree", "squared", False),
    ("tree", "squared", True),
    ("boosting", "squared", False),
    ("boosting", "squared", True),
    ("boosting", "kl", False),
    ("boosting", "kl", True),
    ("boosting", "likelihood", False),
]
every_kind = pytest.mark.parametrize(("kind", "objective", "monotone"), EVERY)


def truth(score, size):
    """How likely a candidate is right: more with its score, less with its size."""
    return expit(1.5 + score - 0.7 * (size - 1))


def judged_rows(n, seed, *, soft=False, noise=NO_NOISE):
    random = np.random.default_rng(seed)
    sets = random.integers(0, 2, size=(n, L))
    candidates = Candidates(sparse.csr_array(sets), np.arange(n), -random.exponential(2, size=n), n)
    features = features_of(candidates, SetPrior().fit(sets[: n // 2]))
    probability = truth(candidates.score, candidates.sizes)
    correct = probability if soft else (random.random(n) < probability).astype(float)
    return Judged(features, correct, np.ones(n), noise), probability


def made(kind, objective="squared", monotone=False, names=OF_THE_THESIS):
    return make_kind(kind, names, monotone, objective, 0)


def with_numbers(features, **changed):
    numbers = features.numbers | changed
    old = features.candidates
    score = numbers["score"]
    return CandidateFeatures(Candidates(old.sets, old.row, score, old.n_rows), numbers)


@pytest.fixture(scope="module")
def judged():
    return judged_rows(1500, 0)[0]


@pytest.fixture(scope="module")
def apart():
    return judged_rows(600, 1)[0]


@pytest.fixture(scope="module")
def new():
    return judged_rows(2000, 2)


def test_none_is_the_models_own_probability(judged, apart):
    fitted = made("none").fit(judged, apart)
    np.testing.assert_allclose(fitted.confidence(judged.features), np.exp(judged.features.score))


def test_constant_is_the_weighted_share_of_right_sets(judged, apart):
    weight = np.random.default_rng(0).integers(0, 3, size=1500).astype(float)
    weighted = Judged(judged.features, judged.correct, weight, NO_NOISE)
    fitted = made("constant").fit(weighted, apart)
    expected = np.average(judged.correct, weights=weight)
    np.testing.assert_allclose(fitted.confidence(apart.features), expected, rtol=1e-12)


def test_isotonic_is_that_of_scikit_learn_half_a_row_from_certainty(judged, apart, new):
    fitted = made("isotonic").fit(judged, apart)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(judged.features.score, judged.correct)
    half = 0.5 / 1501
    expected = np.clip(theirs.predict(new[0].features.score), half, 1 - half)
    np.testing.assert_allclose(fitted.confidence(new[0].features), expected, atol=1e-9)


def test_each_common_size_has_its_own_curve(judged, apart):
    fitted = made("isotonic_by_size").fit(judged, apart)
    size = judged.features.size
    np.testing.assert_array_equal(fitted.sizes_, np.unique(size))
    found = fitted.confidence(judged.features)
    for s in range(L + 1):
        own = np.flatnonzero(size == s)
        alone = made("isotonic").fit(judged.taken(own), apart)
        np.testing.assert_array_equal(found[own], alone.confidence(judged.features.taken(own)))


@pytest.mark.parametrize("rare", [FEWEST_OF_A_SIZE - 1, 3, 0])
def test_rare_and_unseen_sizes_are_judged_like_all(judged, apart, rare):
    size = judged.features.size
    few = np.concatenate([np.flatnonzero(size == 3)[:rare], np.flatnonzero(size <= 2)])
    few.sort()
    fitted = made("isotonic_by_size").fit(judged.taken(few), apart)
    assert 3 not in fitted.sizes_
    of_all = made("isotonic").fit(judged.taken(few), apart)
    large = judged.features.taken(np.flatnonzero(size >= 3))
    np.testing.assert_array_equal(fitted.confidence(large), of_all.confidence(large))


def test_rare_sizes_that_are_many_together_share_a_curve(judged, apart):
    size = judged.features.size
    parts = [np.flatnonzero(size == s)[: FEWEST_OF_A_SIZE - 1] for s in (0, 4)]
    few = np.sort(np.concatenate([*parts, np.flatnonzero((size == 1) | (size == 2))]))
    fitted = made("isotonic_by_size").fit(judged.taken(few), apart)
    shared = made("isotonic").fit(judged.taken(np.sort(np.concatenate(parts))), apart)
    others = judged.features.taken(np.flatnonzero(~np.isin(size, [1, 2])))  # 3 was never seen
    np.testing.assert_array_equal(fitted.confidence(others), shared.confidence(others))


@pytest.mark.parametrize(("kind", "objective", "monotone"), EVERY[3:])
def test_those_that_see_sizes_find_the_truth(judged, apart, new, kind, objective, monotone):
    fitted = made(kind, objective, monotone).fit(judged, apart)
    error = np.abs(fitted.confidence(new[0].features) - new[1]).mean()
    by_score = made("isotonic").fit(judged, apart)
    assert error < (0.1 if kind == "tree" else 0.075)
    assert error < np.abs(by_score.confidence(new[0].features) - new[1]).mean()


@every_kind
def test_confidence_is_a_probability_even_at_extremes(judged, apart, kind, objective, monotone):
    fitted = made(kind, objective, monotone, tuple(NUMBERS)).fit(judged, apart)
    score = judged.features.score.copy()
    score[:4] = -np.inf, 0.0, -1e300, -1e-300
    extreme = with_numbers(
        judged.features, score=score, share=score, lead=np.where(score < -1e9, -np.inf, 50.0)
    )
    for features in (judged.features, extreme):
        found = fitted.confidence(features)
        assert ((found >= 0) & (found <= 1)).all()


@every_kind
def test_extreme_scores_can_be_learnt_from(judged, apart, kind, objective, monotone):
    score = judged.features.score.copy()
    score[:40] = -np.inf
    score[40:80] = 0.0
    correct = judged.correct.copy()
    correct[:40] = 0
    odd = Judged(with_numbers(judged.features, score=score), correct, judged.weight, NO_NOISE)
    found = made(kind, objective, monotone).fit(odd, apart).confidence(odd.features)
    assert ((found >= 0) & (found <= 1)).all()
    if kind not in ("none", "constant"):
        assert found[:40].mean() < found[40:80].mean()


@pytest.mark.parametrize(
    ("kind", "objective"), [("tree", "squared"), ("boosting", "squared"), ("boosting", "kl")]
)
@pytest.mark.parametrize("name", ["score", "prior"])
def test_monotone_trees_never_fall_with_score_and_prior(kind, objective, name):
    """On targets that rise, but fall in between: there trees without the constraint fall."""
    judged, _ = judged_rows(800, 3)
    value = judged.features.numbers[name]
    low, high = np.quantile(value, [0.4, 0.7])
    chance = np.where(value < low, 0.5, np.where(value < high, 0.1, 0.95))
    right = (np.random.default_rng(4).random(800) < chance).astype(float)
    judged = Judged(judged.features, right, judged.weight, NO_NOISE)
    first, some = judged.taken(np.arange(500)), judged.taken(np.arange(500, 800))
    grid = np.linspace(value.min(), value.max(), 40)

    def rise_and_fall(monotone):
        fitted = made(kind, objective, monotone).fit(first, some)
        said = np.stack(
            [
                fitted.confidence(with_numbers(judged.features, **{name: np.full(800, at)}))
                for at in grid
            ]
        )
        steps = np.diff(said, axis=0)
        fall = (np.maximum.accumulate(said) - said).max()
        return steps.min(), fall, (said[-1] - said[0]).max()

    lowest_step, _, rise = rise_and_fall(True)
    assert lowest_step >= -1e-12
    assert rise > 0
    assert rise_and_fall(False)[1] > 0.1


@pytest.mark.parametrize("objective", ["squared", "kl"])
def test_trees_are_added_only_while_the_rows_apart_gain(judged, apart, objective):
    luck = np.random.default_rng(5)
    noise = Judged(
        judged.features, luck.integers(0, 2, 1500).astype(float), judged.weight, NO_NOISE
    )
    other = Judged(apart.features, luck.integers(0, 2, 600).astype(float), apart.weight, NO_NOISE)
    of_noise = made("boosting", objective).fit(noise, other)
    of_signal = made("boosting", objective).fit(judged, apart)
    assert 0 < of_noise.banks_[0].n_rounds_ < of_signal.banks_[0].n_rounds_
    spread = of_noise.confidence(judged.features).std()
    assert spread < 0.1


@pytest.mark.parametrize("objective", ["squared", "kl"])
def test_several_boosters_say_the_mean_of_what_each_says_and_err_less(
    judged, apart, new, objective
):
    rows, probability = new
    alone = [
        make_kind("boosting", OF_THE_THESIS, False, objective, seed).fit(judged, apart)
        for seed in (3, 4, 5)
    ]
    together = make_kind("boosting", OF_THE_THESIS, False, objective, 3, 3).fit(judged, apart)
    said = np.array([kind.confidence(rows.features) for kind in alone])
    found = together.confidence(rows.features)
    np.testing.assert_allclose(found, said.mean(axis=0), rtol=0, atol=1e-12)
    assert np.ptp(said, axis=0).max() > 0.01  # they do differ
    errors = ((said - probability) ** 2).mean(axis=1)
    assert ((found - probability) ** 2).mean() < errors.mean()


def test_boosters_without_a_random_state_differ_too(judged, apart, new):
    one, two = (
        make_kind("boosting", OF_THE_THESIS, False, "squared", None, n).fit(judged, apart)
        for n in (1, 2)
    )
    features = new[0].features
    assert np.abs(one.confidence(features) - two.confidence(features)).max() > 0.01


def test_one_tree_takes_the_number_of_leaves_that_the_rows_apart_like():
    judged, _ = judged_rows(1500, 6)
    step = (judged.features.score > -1.0).astype(float)
    judged = Judged(judged.features, step, judged.weight, NO_NOISE)
    fitted = made("tree").fit(judged.taken(np.arange(1000)), judged.taken(np.arange(1000, 1500)))
    assert np.abs(fitted.confidence(judged.features) - step).mean() < 0.02
    assert fitted.bank_.n_leaves == 2


@pytest.mark.parametrize(
    ("kind", "objective"), [("tree", "squared"), ("boosting", "squared"), ("boosting", "kl")]
)
def test_degrees_of_rightness_can_be_learnt(kind, objective):
    judged, probability = judged_rows(800, 7, soft=True)
    some = judged_rows(400, 8, soft=True)[0]
    found = made(kind, objective).fit(judged, some).confidence(judged.features)
    assert np.abs(found - probability).mean() < 0.05


@pytest.mark.parametrize(("kind", "objective", "monotone"), EVERY[1:])
def test_known_noise_is_seen_through(new, kind, objective, monotone):
    """A third of the right sets are judged wrong."""
    noise = NoiseRates(alpha=1 / 3)
    random = np.random.default_rng(9)

    def misjudged(judged):
        kept = random.random(len(judged.correct)) < 2 / 3
        return Judged(judged.features, judged.correct * kept, judged.weight, noise)

    judged, apart = (misjudged(judged_rows(n, s)[0]) for n, s in ((3000, 10), (1000, 11)))
    found = made(kind, objective, monotone).fit(judged, apart).confidence(new[0].features)
    np.testing.assert_allclose(found.mean(), new[1].mean(), atol=0.06)


@every_kind
def test_a_part_that_weighs_nothing_can_be_kept_apart(judged, apart, kind, objective, monotone):
    weightless = Judged(apart.features, apart.correct, np.zeros(600), NO_NOISE)
    small = judged.taken(np.arange(200))
    found = made(kind, objective, monotone).fit(small, weightless).confidence(apart.features)
    assert np.isfinite(found).all()


@every_kind
def test_a_saved_one_is_the_same(judged, apart, kind, objective, monotone, tmp_path):
    fitted = made(kind, objective, monotone).fit(judged, apart)
    save(fitted, tmp_path / "kind.setwise")
    again = load(tmp_path / "kind.setwise")
    np.testing.assert_array_equal(
        again.confidence(apart.features), fitted.confidence(apart.features)
    )


def test_every_kind_is_tried_here():
    assert {kind for kind, _, _ in EVERY} == set(KINDS)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "magic"}, "kind is one of boosting, .* not 'magic'"),
        ({"names": ("score", "magic")}, r"features are some of score, .* not \['magic'\]"),
        ({"names": ()}, "features are some of"),
        ({"objective": "magic"}, "objective is one of .* not 'magic'"),
    ],
)
def test_what_is_unknown_gets_a_sentence(change, sentence):
    with pytest.raises(DataError, match=sentence):
        made(**({"kind": "boosting"} | change))
