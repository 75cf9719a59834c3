"""L-BFGS for many smooth convex problems at once (Nocedal and Wright, Algorithm 7.4).

Each column of V (D, L) is a problem of its own with its own step length and its own history, but
all are evaluated together, so that the work is matrix products. A step that does not lower a
column's objective is shortened, and that column alone is evaluated again; if no step lowers it, the
column stays where it is. So no objective ever rises.

A column has converged when -g'd / 2, for gradient g and direction d, and its last gain are below
``tol`` times its objective: half the Newton decrement, with the Hessian that L-BFGS has learnt,
estimates how far the objective is above its minimum. A caller who can tell is asked instead, when
the estimate alone is a tenth of ``tol``: a column of which it is not proven goes on to a tenth of
that, as long as rounding allows. Converged columns leave the block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

MEMORY = 8
SUFFICIENT = 1e-4  # share of the slope's promise that a step must keep
MAX_SHORTENINGS = 20
# What to reach before a proof is asked for, in units of ``tol``, and again after one that failed: a
# proof costs as much as a step or two, and at ``tol`` itself every fourth fails.
STRICTER = 0.1
STUCK = 100  # units in the last place: an excess that rounding may hide from the line search
CACHED = 2**15  # numbers that a core's cache holds beside others
REPACK = 0.75  # the block is copied without the converged columns when no more than this remain


class Problem(Protocol):
    """What can be minimised."""

    def evaluate(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (L,) in double precision, and gradients (D, L)."""

    def taken(self, columns: np.ndarray) -> Self:
        """The problems of some of the columns."""


class Minimum(NamedTuple):
    """Where a minimisation ended."""

    V: np.ndarray  # (D, L)
    values: np.ndarray  # (L,)
    converged: np.ndarray  # (L,) bool
    n_iter: int


@dataclass
class Point:
    """Columns, their values and their gradients."""

    V: np.ndarray  # (D, L)
    values: np.ndarray  # (L,)
    G: np.ndarray  # (D, L)

    def taken(self, columns: np.ndarray | slice) -> Point:
        """A copy of some of the columns."""
        parts = (self.V[:, columns], self.values[columns], self.G[:, columns])
        return Point(*(part.copy() for part in parts))

    def put(self, columns: np.ndarray, other: Point) -> None:
        """Replace some of the columns."""
        self.V[:, columns] = other.V
        self.values[columns] = other.values
        self.G[:, columns] = other.G


@dataclass
class History:
    """The last steps s and changes of gradient y, and 1 / s'y, or 0 where a column has no pair."""

    steps: list[np.ndarray] = field(default_factory=list)  # (D, L) each
    changes: list[np.ndarray] = field(default_factory=list)
    inverses: list[np.ndarray] = field(default_factory=list)  # (L,) each
    scale: Any = 1.0  # (L,) s'y / y'y of the last pair: the size of the inverse Hessian
    memory: int = MEMORY  # pairs at most

    def remember(self, before: Point, after: Point) -> None:
        """Add the pair of two points, and forget the oldest, whose place they take."""
        full = len(self.steps) == self.memory
        step, change = self._forget_oldest() if full else (None, None)
        self.add(np.subtract(after.V, before.V, step), np.subtract(after.G, before.G, change))

    def add(self, step: np.ndarray, change: np.ndarray) -> None:
        """Add a pair (D, L) each, and forget the oldest."""
        product, square = dots(step, change), dots(change, change)
        good = product > 1e-10 * np.sqrt(square * dots(step, step))
        safe = np.where(good, product, 1)
        self.steps.append(step)
        self.changes.append(change)
        self.inverses.append(np.where(good, 1 / safe, 0))
        self.scale = np.where(good, safe / np.where(good, square, 1), self.scale)
        if len(self.steps) > self.memory:
            self._forget_oldest()

    def _forget_oldest(self) -> tuple[np.ndarray, np.ndarray]:
        """The oldest step and change, which nobody needs any longer."""
        self.inverses.pop(0)
        return self.steps.pop(0), self.changes.pop(0)

    def taken(self, columns: np.ndarray) -> History:
        """The history of some of the columns."""
        steps = [step[:, columns].copy() for step in self.steps]  # in the order of new ones
        changes = [change[:, columns].copy() for change in self.changes]
        inverses = [inverse[columns] for inverse in self.inverses]
        scale = self.scale[columns] if np.ndim(self.scale) else self.scale
        return History(steps, changes, inverses, scale, self.memory)

    def direction(self, G: np.ndarray, room: np.ndarray | None = None) -> np.ndarray:
        """Minus the inverse Hessian times G, by the two-loop recursion; in ``room``, if given."""
        d: np.ndarray = np.negative(G, room)
        shares = []
        past = list(zip(self.steps, self.changes, self.inverses, strict=True))
        for step, change, inverse in reversed(past):
            share = (inverse * dots(step, d)).astype(d.dtype)
            add_scaled(d, -share, change)
            shares.append(share)
        d *= np.asarray(self.scale, dtype=d.dtype)
        for (step, change, inverse), share in zip(past, reversed(shares), strict=True):
            add_scaled(d, share - (inverse * dots(change, d)).astype(d.dtype), step)
        return d


Proof = Callable[[np.ndarray, Point], np.ndarray]


def minimise(
    problem: Problem,
    start: np.ndarray | Point,
    *,
    max_iter: int,
    tol: float,
    scale: Any = 1.0,
    proven: Proof | None = None,
    memory: int = MEMORY,
) -> Minimum:
    """The minima of all columns from a start on, after at most ``max_iter`` steps.

    ``start`` is V (D, L), or a point of which values and gradients are known.
    ``scale``, a number or (L,), is the length of the first step in units of the gradient.
    ``proven`` gets the numbers of columns that seem to have converged and where they are, and says
    which have (bool); without it, all have. ``memory`` steps are remembered.
    """
    point = start if isinstance(start, Point) else Point(start, *problem.evaluate(start))
    V, history = point.V, History(scale=scale, memory=memory)
    eps = float(np.finfo(V.dtype).eps)
    result, converged = point.taken(slice(None)), np.zeros(V.shape[1], dtype=bool)
    place = np.arange(V.shape[1])  # where the columns of the block stand in the result
    working = np.ones(V.shape[1], dtype=bool)  # the columns of the block that still move
    gain = np.zeros(V.shape[1])
    goal = np.full(V.shape[1], float(tol) * (1 if proven is None else STRICTER))
    d = np.empty_like(point.G)  # kept, as fresh memory for many megabytes is slow
    n_iter = 0

    def judge(close: np.ndarray, at: Point) -> None:
        """Mark those of the close columns that have converged, and ask more of the others."""
        columns = np.flatnonzero(close)
        if proven is None:
            converged[place[columns]] = True
        elif len(columns):
            converged[place[columns]] = proven(place[columns], at.taken(columns))
            goal[columns] *= STRICTER

    while True:
        d, slope = _descent(history, point.G, d)
        size = np.maximum(np.abs(point.values), np.finfo(float).tiny)
        excess = -slope / 2 / size
        close = (excess <= goal) & ((gain <= goal * size) | (proven is not None))
        judge(working & (close | (excess <= eps)), point)
        working &= ~converged[place] & (excess > eps)
        if n_iter == max_iter or not working.any():
            break
        if working.mean() <= REPACK:
            result.put(place, point)
            kept, working = np.flatnonzero(working), working[working]
            problem = problem.taken(kept)
            point, history = point.taken(kept), history.taken(kept)
            d, slope, excess, place = d[:, kept].copy(), slope[kept], excess[kept], place[kept]
            goal = goal[kept]
        if not working.all():
            d *= working
        after, moved = _stepped(problem, point, d, slope)
        judge(working & ~moved & (excess <= STUCK * eps), after)
        working &= moved
        history.remember(point, after)
        gain = point.values - after.values
        point = after
        n_iter += 1
    result.put(place, point)
    return Minimum(result.V, result.values, converged, n_iter)


def _descent(history: History, G: np.ndarray, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions (D, L) and their slopes (L,); minus the gradient where rounding spoilt them."""
    d = history.direction(G, room)
    slope = dots(G, d)
    spoilt = ~(slope < 0)
    if spoilt.any():
        d[:, spoilt] = -G[:, spoilt]
        slope = dots(G, d)
    return d, slope


def _stepped(
    problem: Problem, point: Point, d: np.ndarray, slope: np.ndarray
) -> tuple[Point, np.ndarray]:
    """The next point, and which columns (bool) have moved: those that a step along d lowers."""
    V = point.V + d
    after = Point(V, *problem.evaluate(V))
    length = np.ones(len(slope))
    failing = np.arange(len(slope))
    for _ in range(MAX_SHORTENINGS):
        enough = point.values + SUFFICIENT * length * slope
        failing = failing[~(after.values <= enough)[failing]]
        failing = failing[d[:, failing].any(axis=0)]
        if not len(failing):
            break
        length[failing] = _shorter(point, after, length, slope)[failing]
        V = point.V[:, failing] + length[failing].astype(d.dtype) * d[:, failing]
        after.put(failing, Point(V, *problem.taken(failing).evaluate(V)))
    after.put(failing, point.taken(failing))
    moved = np.asarray(d.any(axis=0))
    moved[failing] = False
    return after, moved


def _shorter(point: Point, after: Point, length: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The minimum of the parabola through both values and the slope, between a tenth and a half."""
    bend = after.values - point.values - length * slope
    with np.errstate(invalid="ignore", divide="ignore"):
        best = -slope * length**2 / (2 * bend)
    shorter: np.ndarray = np.clip(np.nan_to_num(best, nan=0.0), 0.1 * length, 0.5 * length)
    return shorter


def add_scaled(A: np.ndarray, factor: np.ndarray, B: np.ndarray) -> None:
    """Add B to A, each column times its factor (L,): in pieces whose products stay in a cache."""
    size = max(1, CACHED // A.shape[1])
    for start in range(0, len(A), size):
        piece = slice(start, start + size)
        A[piece] += factor * B[piece]


def dots(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The products of the columns of A with those of B, (L,)."""
    products: np.ndarray = np.einsum("dl,dl->l", A, B)
    return products.astype(np.float64)
