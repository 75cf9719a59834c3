import numpy as np
import pytest

from setwise.models.cost_embedding import between, classical_scaling, embed


def spread(m=7, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 3))


def test_classical_scaling_recovers_points_up_to_a_motion():
    wanted = between(spread(), spread())
    for dimensions in (3, 5, 9):
        points = classical_scaling(wanted, dimensions)
        assert points.shape == (7, dimensions)
        np.testing.assert_allclose(between(points, points), wanted, atol=1e-6)


@pytest.mark.parametrize("weights", [np.ones(7), np.arange(1.0, 8)])
def test_distances_that_can_be_are_recovered_exactly(weights):
    wanted = between(spread(), spread())
    found = embed(wanted, weights, 3)
    np.testing.assert_allclose(between(found.truths, found.predictions), wanted, atol=1e-6)
    np.testing.assert_allclose(found.stress[-1], 0, atol=1e-10)


def test_hamming_costs_are_distances_of_the_sets_themselves():
    sets = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T
    wanted = np.sqrt((sets[:, None] != sets).sum(axis=2) / 3)
    found = embed(wanted, np.ones(8), 3)
    np.testing.assert_allclose(between(found.truths, found.predictions), wanted, atol=1e-6)


def test_a_cost_that_depends_on_which_set_is_true_has_two_points_a_set():
    points = spread(5), spread(5, seed=1)
    wanted = between(*points)
    found = embed(wanted, np.ones(5), 3, tol=0.0, max_iter=5000)
    assert found.stress[-1] < 1e-3 * found.stress[0]
    apart = between(found.truths, found.predictions)
    assert np.abs(apart - wanted).max() < 0.1 * np.abs(wanted - wanted.T).max()


def test_no_step_raises_the_stress():
    random = np.random.default_rng(3)
    wanted = random.random((12, 12))
    np.fill_diagonal(wanted, 0)
    stress = embed(wanted, random.random(12) + 0.1, 4, tol=0.0, max_iter=100).stress
    assert len(stress) > 50
    assert (np.diff(stress) <= 1e-9 * stress[0]).all()


def test_a_step_is_the_minimum_of_the_majorising_function():
    """The closed form against the general one, with the pseudo-inverse of all weights."""
    random = np.random.default_rng(0)
    m = 5
    wanted, w = random.random((m, m)), random.random(m) + 0.2
    w = w / w.mean()
    start = embed(wanted, w, 2, max_iter=1)
    step = embed(wanted, w, 2, tol=0.0, max_iter=2)
    Z = np.vstack([start.truths, start.predictions])
    W = np.zeros((2 * m, 2 * m))
    W[:m, m:] = w[:, None]
    W += W.T
    D = np.zeros((2 * m, 2 * m))
    D[:m, m:] = wanted
    D += D.T
    ratio = np.divide(D, between(Z, Z), out=np.zeros_like(D), where=W > 0)
    B = np.diag((W * ratio).sum(axis=1)) - W * ratio
    V = np.diag(W.sum(axis=1)) - W
    expected = np.linalg.pinv(V) @ B @ Z
    expected -= expected[m:].mean(axis=0)  # a motion that changes no distance
    found = np.vstack([step.truths, step.predictions])
    found -= found[m:].mean(axis=0)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_frequent_truths_are_embedded_better():
    random = np.random.default_rng(1)
    wanted = random.random((10, 10))
    even, heavy = np.ones(10), np.ones(10)
    heavy[0] = 100
    errors = [
        (np.abs(between(e.truths, e.predictions) - wanted)[0] ** 2).sum()
        for e in (embed(wanted, even, 2), embed(wanted, heavy, 2))
    ]
    assert errors[1] < errors[0]


def test_one_set_and_equal_sets_are_no_trouble():
    np.testing.assert_allclose(
        embed(np.zeros((1, 1)), np.ones(1), 3).truths, np.zeros((1, 3)), rtol=1e-7
    )
    assert np.isfinite(embed(np.zeros((4, 4)), np.ones(4), 2).truths).all()
