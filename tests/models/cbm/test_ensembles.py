"""Ensembles of mixtures, which are mixtures again; and components that no row needs."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.errors import DataError
from setwise.models.cbm import checkpoint
from setwise.models.cbm.em import EM
from setwise.models.cbm.mixture import IDLE, without_idle

L = 4
EVERY = np.array(list(product([0, 1], repeat=L)))
OPTIONS = {"n_components": 3, "max_iter": 4, "tol": -1.0, "n_starts": 2}
KINDS = pytest.mark.parametrize(
    "options",
    [{}, {"gate": "tree"}, {"sharing": "labels"}, {"learner": "boosting"}],
    ids=["logistic", "tree", "shared", "boosting"],
)


def rows(n=90, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    kinds = random.normal(size=(2, 5, L))
    scores = np.einsum("nd,ndl->nl", X, kinds[random.integers(0, 2, n)])
    return X, (scores + random.normal(size=scores.shape) > 0.2).astype(int)


def probabilities(model, X):
    """p(y|x) of all sets, (n, 2^L)."""
    dist = model.predict_dist(X)
    return np.exp(np.stack([dist.log_prob(np.tile(y, (X.shape[0], 1))) for y in EVERY], axis=1))


def alone(ensemble, X, Y, **options):
    """The members of an ensemble, each fitted by itself with its seed and its rows."""
    plans = list(ensemble._plans(np.ones(len(X))))
    assert len(plans) == ensemble.n_ensembles
    return [
        sw.CBM(**OPTIONS, **options, random_state=seed).fit(X, Y, sample_weight=drawn)
        for _, seed, drawn in plans
    ]


@KINDS
@pytest.mark.parametrize("bootstrap", [False, True])
def test_an_ensemble_is_the_average_of_its_members(options, bootstrap):
    X, Y = rows()
    # Scaled features would depend on the rows that were drawn.
    options = {"scale": "none", "allow_empty": True} | options
    model = sw.CBM(**OPTIONS, **options, n_ensembles=3, bootstrap=bootstrap).fit(X, Y)
    members = [probabilities(member, X) for member in alone(model, X, Y, **options)]
    assert np.abs(members[0] - members[1]).max() > 1e-3
    found = probabilities(model, X)
    np.testing.assert_allclose(found, np.mean(members, axis=0), rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)


def test_marginals_are_averaged_too():
    X, Y = rows()
    model = sw.CBM(**OPTIONS, n_ensembles=3).fit(X, Y)
    marginals = [member.predict_proba(X) for member in alone(model, X, Y)]
    np.testing.assert_allclose(
        model.predict_proba(X), np.mean(marginals, axis=0), rtol=1e-4, atol=1e-7
    )


@KINDS
def test_the_likeliest_set_of_an_ensemble_is_exact(options):
    X, Y = rows()
    model = sw.CBM(**OPTIONS, **options, n_ensembles=3).fit(X, Y)
    p, predicted = probabilities(model, X), model.predict(X)
    chosen = (predicted[:, None] == EVERY).all(axis=2).argmax(axis=1)
    np.testing.assert_allclose(p[np.arange(len(X)), chosen], p.max(axis=1), rtol=1e-6)
    # The vote of the members would not do: it is another set in some rows.
    assert len(np.unique(predicted, axis=0)) > 3


def test_one_mixture_is_what_it_was_without_ensembles():
    X, Y = rows()
    one, plain = sw.CBM(**OPTIONS, n_ensembles=1).fit(X, Y), sw.CBM(**OPTIONS).fit(X, Y)
    assert len(one.members_) == 1
    np.testing.assert_array_equal(one.predict_proba(X), plain.predict_proba(X))
    [(part, seed, drawn)] = one._plans(np.ones(len(X)))
    assert (part, seed) == ("", 0)
    np.testing.assert_array_equal(drawn, 1)


def test_bootstrap_draws_rows_anew_for_each_member():
    plans = list(sw.CBM(n_ensembles=3, bootstrap=True)._plans(np.ones(50)))
    draws = [drawn for _, _, drawn in plans]
    assert len({seed for _, seed, _ in plans}) == 3
    assert [part for part, _, _ in plans] == ["0", "1", "2"]
    for drawn in draws:
        assert drawn.sum() == 50
        assert (drawn == 0).any()
    assert not np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[1], draws[2])
    again = [drawn for _, _, drawn in sw.CBM(n_ensembles=3, bootstrap=True)._plans(np.ones(50))]
    np.testing.assert_array_equal(draws, again)


def test_the_seed_decides_and_members_differ():
    X, Y = rows()
    first, second = (
        sw.CBM(**OPTIONS, n_ensembles=2, bootstrap=True, random_state=4).fit(X, Y) for _ in range(2)
    )
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    other = sw.CBM(**OPTIONS, n_ensembles=2, bootstrap=True, random_state=5).fit(X, Y)
    assert np.abs(first.predict_proba(X) - other.predict_proba(X)).max() > 1e-3


def test_a_bootstrap_of_weighted_rows_keeps_the_weights():
    X, Y = rows()
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 2.0)
    model = sw.CBM(**OPTIONS, scale="none", n_ensembles=2, bootstrap=True, allow_empty=True)
    model.fit(X, Y, sample_weight=weight)
    members = [
        sw.CBM(**OPTIONS, scale="none", random_state=seed, allow_empty=True).fit(
            X, Y, sample_weight=drawn * weight
        )
        for _, seed, drawn in model._plans(weight)
    ]
    expected = np.mean([probabilities(member, X) for member in members], axis=0)
    np.testing.assert_allclose(probabilities(model, X), expected, rtol=1e-4, atol=1e-7)


def test_rows_without_weight_are_never_drawn():
    weight = np.where(np.arange(60) % 3 == 0, 0.0, 2.0)
    model = sw.CBM(n_ensembles=3, bootstrap=True)
    without = [drawn for _, _, drawn in model._plans(weight[weight > 0])]
    for (_, _, drawn), expected in zip(model._plans(weight), without, strict=True):
        assert not drawn[weight == 0].any()
        np.testing.assert_array_equal(drawn[weight > 0], expected)


def test_a_bootstrap_that_draws_no_row_with_weight_does_not_end_the_fit():
    X, Y = rows(4)
    weight = np.array([1.0, 0.0, 0.0, 0.0])  # a third of the draws miss it
    model = sw.CBM(**OPTIONS, n_ensembles=8, bootstrap=True).fit(X, Y, sample_weight=weight)
    assert len(model.members_) == 8
    np.testing.assert_array_equal(model.predict(X[:1]), Y[:1])


def test_held_out_likelihood_gains_by_averaging():
    X, Y = rows(400)
    train, test = slice(0, 200), slice(200, None)
    model = sw.CBM(**OPTIONS, n_ensembles=5, bootstrap=True, allow_empty=True)
    model.fit(X[train], Y[train])
    members = alone(model, X[train], Y[train], allow_empty=True)
    scores = [member.predict_dist(X[test]).log_prob(Y[test]).mean() for member in members]
    assert model.predict_dist(X[test]).log_prob(Y[test]).mean() > np.mean(scores)


@KINDS
def test_it_is_saved_and_loaded(options, tmp_path):
    X, Y = rows()
    model = sw.CBM(**OPTIONS, **options, n_ensembles=2, bootstrap=True).fit(X, Y)
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    assert len(loaded.members_) == 2
    np.testing.assert_array_equal(probabilities(loaded, X), probabilities(model, X))


def test_facts_tell_of_all_members():
    X, Y = rows()
    model = sw.CBM(**OPTIONS, n_ensembles=2).fit(X, Y)
    K = sum(len(member.components_) for member in model.members_)
    assert model.weights_.shape == (K,)
    assert model.label_rates_.shape == (K, L)
    assert model.weights_.sum() == pytest.approx(1)
    assert [done["member"] for done in model.history_] == [0] * 4 + [1] * 4


@pytest.mark.parametrize("options", [{"n_ensembles": 0}, {"n_ensembles": 1.5}])
def test_other_numbers_are_refused(options):
    with pytest.raises(DataError, match="n_ensembles"):
        sw.CBM(**options).fit(*rows())


# Checkpoints


class Killed(BaseException):
    """As sudden as a signal: nothing catches it."""


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("stopping", ["bound", "held_out"])
def test_a_killed_ensemble_goes_on_where_it_was(tmp_path, monkeypatch, bootstrap, stopping):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)
    X, Y = rows()
    options = OPTIONS | {"n_ensembles": 3, "bootstrap": bootstrap, "stopping": stopping}
    expected = sw.CBM(**options).fit(X, Y)
    original, count = EM.round, 0
    last = len(expected.stopping_curve_) + len(expected.history_)

    def counted(em):
        nonlocal count
        count += 1
        if count == last:
            raise Killed
        return original(em)

    monkeypatch.setattr(EM, "round", counted)
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(Killed):
        sw.CBM(**options, checkpoint=path).fit(X, Y)
    assert {file.name for file in tmp_path.iterdir()} >= {"fit.checkpoint.0", "fit.checkpoint.1"}
    before, last = count, -1
    model = sw.CBM(**options, checkpoint=path).fit(X, Y)
    assert count - before == 1  # only the round in which it was killed
    np.testing.assert_allclose(probabilities(model, X), probabilities(expected, X), rtol=1e-9)
    assert not list(tmp_path.iterdir())


# Idle components


def with_idle(model, k, shift):
    """The same mixture, but component k's weight is exp(-shift) of what it was, nearly."""
    mixture = deepcopy(model.members_[0])
    mixture.gate_.biases_ = mixture.gate_.biases_.copy()
    mixture.gate_.biases_[k] -= shift
    return mixture


def as_model(model, mixture):
    changed = deepcopy(model)
    changed.members_ = [mixture]
    return changed


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_components_that_no_row_needs_are_left_out(as_csr):
    X, Y = rows()
    X = sparse.csr_array(X) if as_csr else X
    model = sw.CBM(**OPTIONS | {"n_components": 5}, allow_empty=True, scale="none").fit(X, Y)
    mixture = with_idle(model, 2, 200.0)
    scaled = model.scaling_.transform(X)
    assert np.exp(mixture.log_weights(scaled))[:, 2].max() < IDLE
    before = probabilities(as_model(model, deepcopy(mixture)), X)
    rest = [mixture.components_[k] for k in (0, 1, 3, 4)]
    pruned = without_idle(mixture, scaled)
    assert pruned.components_ == rest
    assert pruned.log_weights(scaled).shape == (90, 4)
    after = probabilities(as_model(model, pruned), X)
    np.testing.assert_allclose(after.sum(axis=1), 1, rtol=1e-6)
    # A share of at most IDLE goes to the others.
    np.testing.assert_allclose(after, before, atol=2 * IDLE, rtol=0)


def test_a_component_that_one_row_needs_is_kept():
    X, Y = rows()
    model = sw.CBM(**OPTIONS | {"n_components": 5}, scale="none").fit(X, Y)
    scaled = model.scaling_.transform(X)
    log_weight = model.members_[0].log_weights(scaled)[:, 2]
    log_odds = (log_weight - np.log1p(-np.exp(log_weight))).max()
    for largest, kept in ((1.5 * IDLE, 5), (IDLE / 1.5, 4)):
        mixture = with_idle(model, 2, log_odds - np.log(largest))
        assert np.exp(mixture.log_weights(scaled))[:, 2].max() == pytest.approx(largest, rel=1e-3)
        assert len(without_idle(mixture, scaled).components_) == kept


def test_fitted_models_have_no_idle_components_and_lose_nothing_by_it(monkeypatch):
    Y = np.repeat(np.eye(3, dtype=int), 30, axis=0)
    X = np.repeat(np.eye(3), 30, axis=0) * 5
    options = {"max_iter": 20, "n_starts": 2, "tol": -1.0, "allow_empty": True}
    model = sw.CBM(12, **options).fit(X, Y)
    weights = np.exp(model.members_[0].log_weights(model.scaling_.transform(X)))
    assert weights.shape[1] < 12
    assert weights.max(axis=0).min() > IDLE
    monkeypatch.setattr("setwise.models.cbm.model.without_idle", lambda mixture, X: mixture)
    whole = sw.CBM(12, **options).fit(X, Y)
    assert len(whole.members_[0].components_) == 12
    change = np.abs(model.predict_proba(X) - whole.predict_proba(X)).max()
    assert change <= 12 * IDLE <= 1e-5


@pytest.mark.parametrize("options", [{"gate": "tree"}, {"sharing": "labels"}])
def test_gates_and_shared_labels_that_need_all_components_keep_them(options):
    X, Y = rows()
    model = sw.CBM(**OPTIONS, **options).fit(X, Y)
    assert len(model.members_[0].components_) == 3
    assert without_idle(model.members_[0], X) is model.members_[0]
