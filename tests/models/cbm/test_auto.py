"""Settings that say "auto": chosen on held-out rows, cheaply, and the same each time."""

import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise import metrics
from setwise.data.split import holdout
from setwise.models import held_out
from setwise.models.cbm import auto
from setwise.models.cbm.auto import COUNTS, STRENGTHS
from setwise.models.cbm.em import EM
from setwise.models.climb import climb

QUICK = {"max_iter": 4, "n_starts": 2}
BOTH = {"n_components": "auto", "C": "auto"}


def rows(n=150, seed=0):
    """Two kinds of rows, which only a mixture with features tells apart."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    kinds = random.normal(size=(2, 4, 3))
    hidden = random.integers(0, 2, n)
    scores = 2 * np.einsum("nd,ndl->nl", X, kinds[hidden]) + random.normal(size=(n, 3))
    return X, (scores > 0.3).astype(int)


@pytest.fixture
def rounds(monkeypatch):
    """How many rounds EM has run, and with how many components each."""
    counted = []
    original = EM.round

    def round_of(em):
        counted.append(len(em.components))
        return original(em)

    monkeypatch.setattr(EM, "round", round_of)
    return counted


def best(model):
    return max(model.trials_, key=lambda trial: trial["score"])


# climb


def visited(scores, first=0.0):
    """Where ``climb`` ends, and which places it has asked for."""
    asked = []

    def score_at(place):
        asked.append(place)
        return scores[place]

    path = [0, *scores]
    return climb(path, first, score_at), asked


def test_it_climbs_to_the_top_and_stops_after_two_places_that_are_no_better():
    scores = {1: 1.0, 2: 3.0, 3: 2.0, 4: 2.9, 5: 9.0}
    assert visited(scores) == ((2, 3.0), [1, 2, 3, 4])


def test_one_place_that_is_no_better_is_stepped_over():
    assert visited({1: -1.0, 2: 2.0, 3: 1.0, 4: 4.0, 5: 5.0}) == ((5, 5.0), [1, 2, 3, 4, 5])


def test_it_stays_where_nothing_is_better():
    assert visited({1: -1.0, 2: -2.0, 3: 7.0}) == ((0, 0.0), [1, 2])
    assert visited({1: 0.0, 2: 0.0, 3: 7.0}) == ((0, 0.0), [1, 2])  # as good is not better


def test_a_path_of_one_place_asks_for_nothing():
    assert visited({}, first=-3.0) == ((0, -3.0), [])


def test_a_score_that_is_no_number_is_never_chosen():
    assert visited({1: np.nan, 2: 1.0, 3: -np.inf, 4: np.nan}) == ((2, 1.0), [1, 2, 3, 4])


# The choice


@pytest.mark.parametrize("seed", [0, 1])
def test_the_strength_is_the_one_that_held_out_rows_like_best(seed):
    X, Y = rows(seed=seed)
    model = sw.CBM(3, C="auto", random_state=seed, **QUICK).fit(X, Y)
    assert model.chosen_ == {"n_components": 3, "C": best(model)["C"], "sharing": None}
    assert {trial["n_components"] for trial in model.trials_} == {3}
    assert {trial["C"] for trial in model.trials_} <= set(STRENGTHS)
    assert len(model.trials_) >= 3


@pytest.mark.parametrize("seed", [0, 1])
def test_the_number_of_components_is_the_one_that_held_out_rows_like_best(seed):
    X, Y = rows(seed=seed)
    model = sw.CBM("auto", C=1.0, random_state=seed, **QUICK).fit(X, Y)
    K = best(model)["n_components"]
    assert model.chosen_ == {"n_components": K, "C": 1.0, "sharing": None}
    assert {trial["C"] for trial in model.trials_} == {1.0}
    assert {trial["n_components"] for trial in model.trials_} <= set(COUNTS)
    tried = [trial["n_components"] for trial in model.trials_]
    assert len(tried) == len(set(tried)) >= 3


def test_sharing_is_the_one_that_held_out_rows_like_best():
    X, Y = rows()
    model = sw.CBM(3, C="auto", sharing="auto", **QUICK).fit(X, Y)
    assert {trial["sharing"] for trial in model.trials_} == {None, "labels"}
    top = best(model)
    assert model.chosen_ == {"n_components": 3, "C": top["C"], "sharing": top["sharing"]}
    # One classifier a label is the truth here, and fewer parameters are learnt from fewer rows.
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 8))
    shift = np.where(random.random(60) < 0.5, 2.0, -2.0)[:, None]
    Y = (X @ random.normal(size=(8, 6)) + shift + random.logistic(size=(60, 6)) > 0).astype(int)
    assert sw.CBM(3, C=10.0, sharing="auto", **QUICK).fit(X, Y).chosen_["sharing"] == "labels"


def test_the_strength_is_chosen_first_and_the_number_of_components_at_it():
    X, Y = rows()
    model = sw.CBM(**BOTH, **QUICK).fit(X, Y)
    anew = [place for place, first in enumerate(own_starts(model.trials_)) if first]
    strengths, counts = model.trials_[: anew[1]], model.trials_[anew[1] :]
    assert {trial["n_components"] for trial in strengths} == {auto.MIDDLE_K}
    assert model.chosen_["C"] == max(strengths, key=lambda trial: trial["score"])["C"]
    assert {trial["C"] for trial in counts} == {model.chosen_["C"]}
    top = max(counts, key=lambda trial: trial["score"])
    assert model.chosen_["n_components"] == top["n_components"]


def test_scores_are_those_of_models_on_the_other_rows():
    X, Y = rows()
    model = sw.CBM("auto", C=1.0, scale="none", **QUICK).fit(X, Y)
    train, test = holdout(sparse.csr_array(Y), test_size=0.2, random_state=0)
    for trial in model.trials_:
        scores = []
        for count in range(1, auto.FIRST_ROUNDS + 1):
            twin = sw.CBM(
                trial["n_components"], C=1.0, scale="none", tol=-1.0, allow_empty=True,
                n_starts=2, max_iter=count,
            ).fit(X[train], Y[train])  # fmt: skip
            scores.append(twin.predict_dist(X[test]).log_prob(Y[test]).mean())
        assert trial["score"] == pytest.approx(max(scores), abs=1e-4)


def test_what_is_chosen_is_what_is_fitted():
    X, Y = rows()
    model = sw.CBM(**BOTH, **QUICK).fit(X, Y)
    twin = sw.CBM(**model.chosen_, **QUICK).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))
    assert model.C == model.n_components == "auto"  # parameters stay as they were


def test_what_is_given_is_recorded_without_trials(rounds):
    X, Y = rows()
    model = sw.CBM(2, C=3.0, **QUICK).fit(X, Y)
    assert model.chosen_ == {"n_components": 2, "C": 3.0, "sharing": None}
    assert model.trials_ == []
    assert len(rounds) == len(model.history_)


def test_strong_penalties_are_found_where_features_say_nothing():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(100, 30)), random.integers(0, 2, (100, 3))
    assert sw.CBM(1, C="auto", **QUICK).fit(X, Y).chosen_["C"] < 10


def test_several_components_are_found_where_labels_come_together():
    Y = np.repeat(np.eye(4, dtype=int), 30, axis=0)
    X = np.random.default_rng(0).normal(size=(len(Y), 2))
    assert sw.CBM("auto", **QUICK).fit(X, Y).chosen_["n_components"] >= 3


@pytest.mark.parametrize(
    ("target", "metric"), [("set_accuracy", metrics.set_accuracy), ("f1", metrics.f1)]
)
def test_the_target_metric_chooses_where_it_also_ends_em(target, metric):
    X, Y = rows()
    model = sw.CBM("auto", C=1.0, target=target, stopping="target", **QUICK).fit(X, Y)
    by_likelihood = sw.CBM("auto", C=1.0, target=target, **QUICK).fit(X, Y)
    assert model.chosen_["n_components"] == best(model)["n_components"]
    assert all(0 <= trial["score"] <= 1 for trial in model.trials_)  # no log-likelihoods
    assert all(trial["score"] < 0 for trial in by_likelihood.trials_)
    _, test = holdout(sparse.csr_array(Y), test_size=0.2, random_state=0)
    if target == "set_accuracy":
        shares = np.array([trial["score"] for trial in model.trials_]) * len(test)
        np.testing.assert_allclose(shares, shares.round(), atol=1e-9)
    assert metric(Y, model.predict(X)) > 0.3


# Its price


def test_choosing_both_takes_few_rounds(rounds):
    X, Y = rows()
    model = sw.CBM(**BOTH, n_starts=2).fit(X, Y)
    fitted = len(model.history_)
    chosen = len(rounds) - fitted
    assert chosen == sum(
        auto.FIRST_ROUNDS if own_start else auto.MORE_ROUNDS
        for own_start in own_starts(model.trials_)
    )
    # A fit has 20 rounds at most: far less than ten fits.
    assert chosen <= 4 * model.max_iter
    assert len(model.trials_) <= len(STRENGTHS) + len(COUNTS)


def own_starts(trials):
    """Which trials began anew: the first, and each of those that look for the number."""
    strengths = [trial["C"] for trial in trials]
    first = trials[0]["n_components"]
    return [
        place == 0 or trial["n_components"] != first or trial["C"] in strengths[:place]
        for place, trial in enumerate(trials)
    ]


def test_large_numbers_of_components_are_tried_only_if_smaller_ones_rise(rounds):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    Y = (X + random.normal(size=(400, 2)) > 0).astype(int)  # one component is enough
    model = sw.CBM("auto", C=1.0, **QUICK).fit(X, Y)
    assert model.chosen_["n_components"] <= 5
    assert max(trial["n_components"] for trial in model.trials_) <= 80


# Groups, seeds, and rows of all kinds


def test_groups_stay_together(monkeypatch):
    X, Y = rows()
    groups = np.arange(len(X)) // 5
    splits = []
    original = held_out.holdout

    def spied(Y, **options):
        parts = original(Y, **options)
        splits.append((options["groups"], parts))
        return parts

    monkeypatch.setattr(held_out, "holdout", spied)
    sw.CBM(2, C="auto", **QUICK).fit(X, Y, groups=groups)
    [(given, (train, test))] = splits
    np.testing.assert_array_equal(given, groups)
    assert len(train) + len(test) == len(X)
    assert not set(groups[train]) & set(groups[test])


def test_rows_without_weight_neither_teach_nor_judge():
    X, Y = rows()
    weight = np.ones(len(X))
    weight[::3] = 0
    kept = sw.CBM(**BOTH, **QUICK).fit(X, Y, sample_weight=weight)
    without = sw.CBM(**BOTH, **QUICK).fit(X[weight > 0], Y[weight > 0])
    assert kept.chosen_ == without.chosen_
    for one, other in zip(kept.trials_, without.trials_, strict=True):
        assert one["score"] == pytest.approx(other["score"], abs=1e-3)


def test_the_seed_decides():
    X, Y = rows()
    first, second = (sw.CBM(**BOTH, **QUICK, random_state=5).fit(X, Y) for _ in range(2))
    assert first.trials_ == second.trials_
    other = sw.CBM(**BOTH, **QUICK, random_state=6).fit(X, Y)
    assert other.trials_ != first.trials_


@pytest.mark.parametrize("options", [{}, {"sharing": "labels"}, {"gate": "tree"}])
def test_sparse_rows_work_and_choose_by_held_out_rows(options):
    X, Y = rows()
    X = sparse.csr_array(np.where(X > 0, X, 0))
    model = sw.CBM(**BOTH, **QUICK, **options).fit(X, Y)
    assert all(np.isfinite(trial["score"]) for trial in model.trials_)
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("options", [{"learner": "elastic"}, {"learner": "boosting"}])
def test_other_learners_choose_too(options):
    X, Y = rows(n=60)
    model = sw.CBM("auto", **QUICK, inner_steps=1, **options).fit(X, Y)
    assert all(np.isfinite(trial["score"]) for trial in model.trials_)
    assert model.chosen_["n_components"] in COUNTS


@pytest.mark.parametrize("n", [2, 3, 5, 11])
@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_very_few_rows_are_enough(n, as_csr):
    X, Y = rows(n)
    X = sparse.csr_array(X) if as_csr else X
    model = sw.CBM(**BOTH, **QUICK).fit(X, Y)
    assert model.chosen_["n_components"] <= max(2, n // 5)
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_single_row_is_refused_with_a_sentence_that_fits():
    X, Y = rows(1)
    with pytest.raises(sw.errors.DataError, match='"auto"'):
        sw.CBM(**BOTH).fit(X, Y)


@pytest.mark.parametrize("Y", [np.arange(40) % 2, np.zeros(40), np.ones(40)])
def test_one_label_works(Y):
    X, _ = rows(40)
    model = sw.CBM(**BOTH, **QUICK).fit(X, Y.astype(int)[:, None])
    assert np.isfinite([trial["score"] for trial in model.trials_]).all()
    assert model.predict(X).shape == (40, 1)


def test_empty_sets_among_the_held_out_rows_do_not_spoil_the_choice():
    X, Y = rows()
    Y[::4] = 0
    model = sw.CBM("auto", C=1.0, allow_empty=False, **QUICK).fit(X, Y)
    assert np.isfinite([trial["score"] for trial in model.trials_]).all()
    assert (model.predict(X).sum(axis=1) > 0).all()
