"""EM for conditional Bernoulli mixtures: it climbs, it is exact, and sparse is nearly dense."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

import setwise as sw

DENSE = {"min_responsibility": 0.0, "min_label_share": 0.0}
FOREVER = {"tol": -1.0}  # a round may even lose


def rows(n=200, d=6, L=5, seed=0):
    """Labels that depend on features and, through a hidden choice, on each other."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    hidden = random.integers(0, 3, n)
    W = random.normal(size=(3, d, L)) * 1.5
    logits = np.einsum("nd,ndl->nl", X, W[hidden]) + random.normal(size=(3, L))[hidden] * 2
    return X, (random.random((n, L)) < 1 / (1 + np.exp(-logits))).astype(int)


def bounds(model):
    return np.array([done["bound"] for done in model.history_])


def assert_never_falls(values, rtol):
    drop = -np.diff(values) / np.abs(values[1:])
    assert drop.max() <= rtol, f"fell by {drop.max():.1e} in round {drop.argmax() + 2}"


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-9), ("float32", 1e-6)])
def test_the_penalised_log_likelihood_never_falls(as_csr, seed, dtype, rtol):
    X, Y = rows(seed=seed)
    X = sparse.csr_array(X * (np.abs(X) > 0.5)) if as_csr else X
    model = sw.CBM(6, C=2.0, max_iter=25, dtype=dtype, random_state=seed, **DENSE, **FOREVER)
    values = bounds(model.fit(X, Y))
    assert len(values) == 25
    assert values[-1] > values[0]
    assert_never_falls(values, rtol)


def test_the_bound_of_a_dense_model_is_its_penalised_log_likelihood():
    X, Y = rows()
    model = sw.CBM(4, C=2.0, max_iter=5, dtype="float64", smoothing=0.3, **DENSE).fit(X, Y)
    mixture = model.members_[0]
    frequency = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    penalty = (mixture.gate_.weights_**2).sum() / (2 * 2.0)
    for component in mixture.components_:
        W, b = component.classifiers_.weights_, component.classifiers_.biases_
        prior = (frequency * b - np.logaddexp(0, b)).sum()
        penalty += (W**2).sum() / (2 * 2.0) - 0.3 * prior
    log_likelihood = model.predict_dist(X).log_prob(Y).sum()
    assert bounds(model)[-1] == pytest.approx(log_likelihood - penalty, rel=1e-9)


def test_probabilities_of_all_sets_sum_to_one():
    X, Y = rows(L=4)
    dist = sw.CBM(3, max_iter=3).fit(X, Y).predict_dist(X)
    total = sum(np.exp(dist.log_prob(np.tile(s, (200, 1)))) for s in product([0, 1], repeat=4))
    np.testing.assert_allclose(total, 1, rtol=1e-6)


def test_responsibilities_are_those_of_bayes_rule():
    X, Y = rows()
    from setwise.learners.workers import Workers
    from setwise.models.cbm.fit import start
    from setwise.models.cbm.rows import TrainingRows

    training = TrainingRows(X, sparse.csr_array(Y), np.ones(len(X)))
    settings = sw.CBM(4, dtype="float64", **DENSE)._settings()
    with Workers(1) as workers:
        em = start(training, settings, workers)
        em.round()
    log_joint = em.gate.log_proba(X).T
    for k, component in enumerate(em.components):
        Z = np.empty(Y.shape)
        component.fill_logits(X, Z)
        log_joint[k] += (Y * Z - np.logaddexp(0, Z)).sum(axis=1)
    expected = np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=0))
    np.testing.assert_allclose(em.responsibilities, expected, rtol=1e-9, atol=1e-15)


def test_skipping_small_responsibilities_skips_no_others():
    """What the E-step leaves out by its bound is exactly what lies below the threshold."""
    X, Y = rows(n=150)
    from setwise.learners.workers import Workers
    from setwise.models.cbm.fit import start
    from setwise.models.cbm.rows import TrainingRows

    least = 1e-3
    training = TrainingRows(X, sparse.csr_array(Y), np.ones(len(X)))
    settings = sw.CBM(8, dtype="float64", min_responsibility=least)._settings()
    with Workers(2) as workers:
        em = start(training, settings, workers)
        for _ in range(6):
            least = em.threshold
            em.round()
            log_joint = em.gate.log_proba(X).T
            for k, component in enumerate(em.components):
                Z = np.empty(Y.shape)
                component.fill_logits(X, Z)
                log_joint[k] += (Y * Z - np.logaddexp(0, Z)).sum(axis=1)
            shares = np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=0))
            shares[shares < least] = 0
            shares /= shares.sum(axis=0)
            np.testing.assert_allclose(em.responsibilities, shares, rtol=1e-9, atol=1e-15)
    assert least == 1e-3  # what was asked for is reached


def test_the_threshold_falls_to_what_was_asked_for():
    from setwise.models.cbm.em import threshold

    falling = [threshold(1e-5, rounds) for rounds in range(12)]
    assert (np.diff(falling) <= 0).all()
    assert falling[0] == 1e-2
    assert falling[-1] == 1e-5
    assert threshold(0.1, 0) == 0.1  # what is asked for may be more than that of a first round
    assert threshold(0.0, 0) == 0  # dense from the start


def test_no_m_step_lowers_the_free_energy_of_truncated_responsibilities():
    X, Y = rows()
    from setwise.learners.workers import Workers
    from setwise.models.cbm.fit import start
    from setwise.models.cbm.rows import TrainingRows

    def free_energy(em, R):
        log_joint = em.gate.log_proba(X).T.copy()
        for k, component in enumerate(em.components):
            Z = np.empty(Y.shape)
            component.fill_logits(X, Z)
            log_joint[k] += (Y * Z - np.logaddexp(0, Z)).sum(axis=1)
        inside = np.where(R > 0, R * (log_joint - np.log(np.where(R > 0, R, 1))), 0).sum()
        return inside - em.gate.penalty - sum(component.penalty for component in em.components)

    training = TrainingRows(X, sparse.csr_array(Y), np.ones(len(X)))
    # Labels stay active, so that only the responsibilities are truncated.
    settings = sw.CBM(6, dtype="float64", min_responsibility=1e-2, min_label_share=0.0)._settings()
    with Workers(1) as workers:
        em = start(training, settings, workers)
        em.round()
        for _ in range(6):
            R = em.responsibilities.copy()
            before = free_energy(em, R)
            em._maximise()
            after = free_energy(em, R)
            assert after >= before - 1e-9 * abs(before)
            em.responsibilities = R
            em.round()


def test_changing_the_support_costs_no_more_than_promised():
    """The bound may fall by -log(1 - K delta) a row, and by what nearly constant labels tell."""
    X, Y = rows(n=300)
    K, least = 8, 1e-3
    model = sw.CBM(
        K, dtype="float64", min_responsibility=least, min_label_share=0.0, max_iter=30, **FOREVER
    ).fit(X, Y)
    worst = -np.diff(bounds(model)).min()
    assert worst <= -300 * np.log(1 - K * least)


def test_one_component_is_binary_relevance():
    X, Y = rows()
    settings = {"C": 3.0, "random_state": 0}
    one = sw.CBM(
        1, scale="none", smoothing=1e-9, max_iter=200, inner_steps=20, tol=1e-12, dtype="float64",
        **DENSE, **settings,
    ).fit(X, Y)  # fmt: skip
    relevance = sw.BinaryRelevance(**settings).fit(X, Y)
    np.testing.assert_allclose(one.predict_proba(X), relevance.predict_proba(X), atol=1e-3)
    assert (one.predict(X) == relevance.predict(X)).mean() > 0.99


def test_a_component_a_set_with_hard_responsibilities_is_the_power_set():
    """Constants in the components leave the gate a softmax over the label sets."""
    from setwise.data import distinct_sets
    from setwise.learners import SoftmaxRegression
    from setwise.learners.workers import Workers
    from setwise.models.cbm.component import Component
    from setwise.models.cbm.em import EM
    from setwise.models.cbm.linear import LinearGate, LinearLabels
    from setwise.models.cbm.rows import TrainingRows

    X, Y = rows(L=3)
    support = distinct_sets(Y)
    K = len(support)
    R = np.zeros((K, len(X)))
    R[support.inverse, np.arange(len(X))] = 1
    sets = support.sets.toarray()
    components = [
        Component(1e-12, 1e-5).start(
            LinearLabels(1.0), np.where(sets[k] == 1, 20.0, -20.0), Y.mean(axis=0)
        )
        for k in range(K)
    ]
    training = TrainingRows(X, sparse.csr_array(Y), np.ones(len(X)))
    with Workers(1) as workers:
        em = EM(training, LinearGate(1.0, 300), components, R, 1e-5, workers)
        em.round()
    assert all(len(component.labels) == 0 for component in em.components)
    power_set = SoftmaxRegression(1.0, tol=1e-12, max_iter=1000).fit(X, R.T)
    np.testing.assert_allclose(em.gate.log_proba(X), power_set.log_proba(X), atol=0.02)
    np.testing.assert_allclose(em.responsibilities, R, atol=1e-9)
    assert em.history[-1].log_likelihood == pytest.approx(
        power_set.log_proba(X)[np.arange(len(X)), support.inverse].mean(), abs=1e-3
    )


def test_weights_are_repetitions():
    X, Y = rows(n=80)
    times = np.random.default_rng(0).integers(0, 3, len(X))
    settings = {"n_components": 3, "max_iter": 4, "dtype": "float64", "tol": -1.0}
    weighted = sw.CBM(**settings).fit(X, Y, sample_weight=times)
    repeated = sw.CBM(**settings).fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


def test_the_number_of_threads_changes_nothing():
    X, Y = rows()
    one, two = (sw.CBM(6, max_iter=5, n_jobs=jobs).fit(X, Y).predict_proba(X) for jobs in (1, 2))
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_dense_and_sparse_rows_give_nearly_the_same_model():
    X, Y = rows(n=400)
    X = X * (np.abs(X) > 0.4)
    settings = {"scale": "none", "max_iter": 15, "dtype": "float64", "inner_steps": 30, "C": 1.0}
    dense = sw.CBM(3, **settings).fit(X, Y)
    thin = sw.CBM(3, **settings).fit(sparse.csr_array(X), Y)
    assert bounds(thin)[-1] == pytest.approx(bounds(dense)[-1], rel=2e-3)


@pytest.mark.data
@pytest.mark.parametrize("name", ["scene", "yeast"])
def test_the_sparse_model_is_within_half_a_point_of_the_dense_one(name):
    data = sw.load_dataset(name)
    Y, Y_test = (data.labels.encode(part) for part in (data.Y_train, data.Y_test))
    means = []
    for structure in ({}, DENSE):
        scores = [
            sw.CBM(20, C=3.0, random_state=seed, max_iter=8, **structure)
            .fit(data.X_train, Y)
            .score(data.X_test, Y_test)
            for seed in range(4)
        ]
        means.append(np.mean(scores))
    sparse_mean, dense_mean = means
    assert sparse_mean >= dense_mean - 0.005
