from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from setwise.learners.lbfgs import History, Point, minimise


@dataclass
class Parabolas:
    """Convex quadratics with minimum 1, each with its own condition number."""

    centres: np.ndarray  # (D, L)
    scales: np.ndarray  # (D, L)
    evaluated: list

    def evaluate(self, V):
        self.evaluated.append(V.shape[1])
        away = V - self.centres
        return 1 + (self.scales * away**2).sum(axis=0) / 2, self.scales * away

    def taken(self, columns):
        return Parabolas(self.centres[:, columns], self.scales[:, columns], self.evaluated)


def random_parabolas(L=4, D=6, steepest=100.0):
    random = np.random.default_rng(0)
    scales = np.exp(random.uniform(0, np.log(steepest), size=(D, L)))
    scales[:, 0] = 1
    return Parabolas(random.normal(size=(D, L)), scales, [])


def test_every_column_finds_its_own_minimum():
    problem = random_parabolas()
    found = minimise(problem, np.zeros((6, 4)), max_iter=100, tol=1e-12)
    assert found.converged.all()
    np.testing.assert_allclose(found.V, problem.centres, rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.values, 1, rtol=1e-9)


def test_a_column_does_not_depend_on_its_neighbours():
    problem = random_parabolas()
    together = minimise(problem, np.zeros((6, 4)), max_iter=100, tol=1e-10)
    for column in range(4):
        only = np.array([column])
        alone = minimise(problem.taken(only), np.zeros((6, 1)), max_iter=100, tol=1e-10)
        np.testing.assert_allclose(alone.V[:, 0], together.V[:, column], rtol=0, atol=1e-4)


def test_converged_columns_leave_the_block():
    problem = random_parabolas(steepest=1e4)
    minimise(problem, np.zeros((6, 4)), max_iter=200, tol=1e-12)
    assert problem.evaluated[0] == 4
    assert problem.evaluated[-1] < 4


@pytest.mark.parametrize("steps", range(6))
def test_no_value_rises(steps):
    """From far away on a function whose first full step overshoots."""
    problem = random_parabolas(steepest=1e6)
    start = 10 * np.ones((6, 4))
    before = problem.evaluate(start)[0]
    for _ in range(3):
        found = minimise(problem, start, max_iter=steps, tol=0)
        assert (found.values <= before).all()
        np.testing.assert_allclose(problem.evaluate(found.V)[0], found.values, rtol=1e-12)
        assert found.n_iter <= steps
        start, before = found.V, found.values


def test_a_minimum_stays_where_it_is():
    problem = random_parabolas()
    found = minimise(problem, problem.centres.copy(), max_iter=5, tol=1e-9)
    assert found.n_iter == 0
    assert found.converged.all()


class Broken(Parabolas):
    """Not a number wherever it is looked at but at the start."""

    def evaluate(self, V):
        values, G = super().evaluate(V)
        return np.where((V == 0).all(axis=0), values, np.nan), G

    def taken(self, columns):
        return Broken(self.centres[:, columns], self.scales[:, columns], self.evaluated)


def test_columns_that_no_step_lowers_stay_and_are_not_converged():
    ones = np.ones((2, 3))
    found = minimise(Broken(ones, ones, []), np.zeros((2, 3)), max_iter=9, tol=1e-6)
    np.testing.assert_array_equal(found.V, 0)
    assert not found.converged.any()


def test_what_is_refuted_goes_on_and_has_not_converged_unproven():
    problem, asked = random_parabolas(steepest=1e4), []

    def proven(columns, point):
        asked.append((list(columns), point.values.copy()))
        return (point.values < 1 + 1e-9) & (columns != 2)

    found = minimise(problem, np.zeros((6, 4)), max_iter=200, tol=1e-2, proven=proven)
    assert found.converged.tolist() == [True, True, False, True]
    np.testing.assert_allclose(found.values, 1, rtol=1e-9)
    refuted = [values.max() for columns, values in asked if 1 in columns]
    assert refuted[0] > 1 + 1e-9


def test_a_history_remembers_as_many_steps_as_it_is_told():
    random = np.random.default_rng(0)
    history = History(memory=3)
    pairs = random.normal(size=(5, 6, 4))
    for pair in pairs:
        history.add(pair, 2 * pair)
    np.testing.assert_array_equal(history.steps, pairs[2:])
    assert history.taken(np.array([1])).memory == 3


def test_steps_take_the_place_of_the_oldest():
    random = np.random.default_rng(0)
    plain, reusing = History(memory=3), History(memory=3)
    points = [Point(V, np.zeros(4), 2 * V) for V in random.normal(size=(6, 8, 4))]
    for before, after in pairwise(points):
        if len(reusing.steps) == 3:
            oldest = reusing.steps[0]
        plain.add(after.V - before.V, after.G - before.G)
        reusing.remember(before, after)
    assert reusing.steps[-1] is oldest
    np.testing.assert_array_equal(reusing.steps, plain.steps)
    np.testing.assert_array_equal(reusing.changes, plain.changes)
    some = reusing.taken(np.array([2, 0]))
    some.remember(*(point.taken(np.array([2, 0])) for point in points[:2]))
    assert all(step.flags.c_contiguous for step in some.steps + some.changes)
    G, room = points[0].G, np.empty((8, 4))
    assert reusing.direction(G, room) is room
    np.testing.assert_array_equal(room, plain.direction(G))
    np.testing.assert_allclose(room, -points[0].V, rtol=1e-12)  # minus G over the curvature


def test_a_longer_memory_takes_fewer_steps():
    short, long = (
        minimise(
            random_parabolas(D=40), np.zeros((40, 4)), max_iter=500, tol=1e-9,
            memory=memory,
        )
        for memory in (2, 30)
    )  # fmt: skip
    assert short.converged.all()
    assert long.converged.all()
    assert long.n_iter < short.n_iter
