"""EM for conditional Bernoulli mixtures (Li 2019, equations 3.6 to 3.8, Algorithm 3.1).

The E-step finds how much each component is responsible for each row,

    r_nk  proportional to  π_k(x_n) prod over l of b_kl(y_nl | x_n)

and the M-step improves the gate π on r as soft classes, and each component's label classifiers b on
the rows weighted by r. Responsibilities below ``least`` are set to zero and the rest scaled up
(section 3.5), in the gate as in the components, and in the first rounds, when many components seem
to do, those below a larger threshold, which is halved in each round: then

    sum_n w_n sum_k r_nk [log π_k(x_n) + log b_k(y_n | x_n) - log r_nk]  -  penalties

the free energy, is what both steps raise; without truncation it is the penalised log-likelihood.

Most pairs of rows and components need no work in the E-step: what the gate and the constants of a
component give a row is an upper bound of what the whole component can, and where that is below
``least`` times what another component already gives, the pair is skipped, with the same result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import sparse

from setwise.learners.workers import Workers
from setwise.models.cbm.component import Component, Task
from setwise.models.cbm.rows import TrainingRows, row_pieces
from setwise.models.cbm.state import restore, twin
from setwise.models.cbm.together import are_small, improve_together

LOG_NOTHING = -700.0  # the logarithm of a share that counts as none even in a dense model
WORTH_THREADS = 1e7  # numbers in X, times components
FEW_SHARES = 2**18  # rows times components: two megabytes
LEAST_MASS = 1e-8  # of a row: a component with less is left as it is
FIRST_LEAST = 1e-2  # the threshold of responsibilities in the first round, unless ``least`` is more


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Gate(Protocol):
    """The weights of the components, given the features; improved a little in each round."""

    in_basis: ClassVar[bool]  # whether it learns in the coordinates of a basis

    def improve(self, training: TrainingRows, T: np.ndarray, workers: Workers) -> None:
        """A better gate for responsibilities T (n, K)."""

    def log_proba(self, X: Any) -> np.ndarray:
        """Log weights of the components, (n, K)."""

    @property
    def penalty(self) -> float:
        """What the objective pays for it."""

    def turn(self, basis: np.ndarray) -> None:
        """From coordinates in the basis (d, r) to features."""


@dataclass(frozen=True)
class Round:
    """What a round of EM has reached."""

    bound: float  # the free energy
    log_likelihood: float  # a row, on average
    active_rows: float  # components a row, on average
    active_labels: float  # labels a component, on average
    seconds: float
    held_out: float | None = None  # what held-out rows say of it, where they are asked


@dataclass(frozen=True)
class State:
    """What EM knows after a round, detached from the EM that goes on."""

    learners: list[Any]
    responsibilities: np.ndarray  # (K, n)
    history: list[Round]


@dataclass
class EM:
    """The state of EM between two rounds."""

    training: TrainingRows
    gate: Gate
    components: list[Component]
    responsibilities: np.ndarray  # (K, n), columns sum to one
    least: float
    workers: Workers
    history: list[Round] = field(default_factory=list)

    def round(self) -> Round:
        """One M-step and the E-step after it."""
        start = time.perf_counter()
        known = self._maximise()
        bound, log_likelihood = self._expect(known)
        del known
        training = self.training
        training.give_back_memory()
        done = Round(
            bound,
            log_likelihood,
            np.count_nonzero(self.responsibilities) / len(training.weight),
            float(np.mean([len(component.labels) for component in self.components])),
            time.perf_counter() - start,
        )
        self.history.append(done)
        return done

    @property
    def threshold(self) -> float:
        """What responsibilities are set to zero below in this round."""
        return threshold(self.least, len(self.history))

    def learners(self) -> list[Any]:
        """What is improved in each round."""
        return [self.gate, *self.components]

    def set_strength(self, C: float) -> None:
        """Go on with another penalty, in all learners that have one."""
        for learner in self.learners():
            penalised = getattr(learner, "classifiers_", learner)
            if hasattr(penalised, "C"):
                penalised.C = C

    def state(self) -> State:
        """What is known now. Responsibilities are not copied: no round writes into them."""
        return State(twin(self.learners()), self.responsibilities, list(self.history))

    def restore(self, state: State) -> None:
        """Go back, or on, to where another EM on the same rows was."""
        for learner, learnt in zip(self.learners(), state.learners, strict=True):
            restore(learner, learnt)
        self.responsibilities, self.history = state.responsibilities, list(state.history)

    def _maximise(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """All blocks of parameters; what each component then says of its own rows."""
        training, weight = self.training, self.training.weight

        def task(k: int) -> Task | None:
            shares = self.responsibilities[k]
            rows = np.flatnonzero(shares)
            mass = shares[rows] * weight[rows]
            if mass.sum() <= LEAST_MASS:
                return None
            return self.components[k].task(training, rows, mass)

        tasks = self._map(task, range(len(self.components)))
        busy = [task for task in tasks if task is not None]
        if are_small(training, busy):
            improve_together(training, busy, self.workers)
        else:
            # The largest first: none is left alone at the end, and scratch arrays need not grow.
            busy.sort(key=lambda task: -len(task.rows))
            self._map(lambda task: task.improve(training), busy)
        training.give_back_memory()
        self.gate.improve(training, self.responsibilities.T, self.workers)

        def known(k: int) -> tuple[np.ndarray, np.ndarray]:
            task, component = tasks[k], self.components[k]
            rows = np.flatnonzero(self.responsibilities[k]) if task is None else task.rows
            if task is not None:
                component.settle(training, task)
            return rows, component.log_likelihood(training, rows)

        return self._map(known, range(len(tasks)))

    def _expect(self, known: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
        """New responsibilities; the free energy, and the mean log-likelihood."""
        training, K = self.training, len(self.components)
        log_joint = self._without_classifiers()
        reached = np.full(log_joint.shape[1], -np.inf)
        for k, (rows, log_likelihood) in enumerate(known):
            values = log_joint[k, rows] + log_likelihood
            reached[rows] = np.maximum(reached[rows], values)
        log_least = np.log(self.threshold) if self.least > 0 else LOG_NOTHING

        def component(k: int) -> None:
            rows, log_likelihood = known[k]
            joint = log_joint[k]
            promising = joint > reached + log_least
            promising[rows] = False
            others = np.flatnonzero(promising)
            promising[rows] = True
            joint[rows] += log_likelihood
            joint[others] += self.components[k].log_likelihood(training, others)
            joint[~promising] = -np.inf

        self._map(component, range(K))
        return self._normalise(log_joint)

    def _without_classifiers(self) -> np.ndarray:
        """What the gate says of the rows, and the constants of their labels, (K, n)."""
        X, shape = self.training.seen_by(self.gate), self.responsibilities.shape
        # Double precision, but where it would be as large as X.
        dtype = np.float64 if np.prod(shape) <= FEW_SHARES else self.training.X.dtype
        if sparse.issparse(X) or not self.gate.in_basis:  # a piece would cost as much as all
            log_joint = np.ascontiguousarray(self._log_weights().T, dtype=dtype)
        else:
            log_joint = np.empty(shape, dtype)

            def fill(rows: slice) -> None:
                log_joint[:, rows] = self.gate.log_proba(X[rows]).T

            self._map(fill, row_pieces(len(X)))
        self._add_constants(log_joint)
        return log_joint

    def _log_weights(self) -> np.ndarray:
        """What the gate says of the training rows, (n, K)."""
        return self.gate.log_proba(self.training.seen_by(self.gate))

    def _map(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """In threads, unless there is so little to do that they would only wait for each other."""
        X = self.training.X
        numbers = X.nnz if sparse.issparse(X) else X.size
        if numbers * len(self.components) < WORTH_THREADS:
            return [work(item) for item in items]
        return self.workers.map(work, items)

    def _normalise(self, log_joint: np.ndarray) -> tuple[float, float]:
        """Responsibilities from ``log_joint``, which is used up."""
        n, least = log_joint.shape[1], self.threshold
        responsibilities = log_joint.astype(self.training.X.dtype, copy=False)
        log_likelihood, free_energy = np.empty(n), np.empty(n)

        def normalise(rows: slice) -> None:
            shares = log_joint[:, rows].astype(np.float64)
            top = shares.max(axis=0)
            shares -= top
            np.exp(shares, out=shares)
            total = shares.sum(axis=0)
            log_likelihood[rows] = free_energy[rows] = top + np.log(total)
            shares /= total
            if least > 0:
                truncate(shares, least)
                kept = shares.sum(axis=0)
                shares /= kept
                free_energy[rows] += np.log(kept)
            responsibilities[:, rows] = shares

        self._map(normalise, row_pieces(n))
        self.responsibilities = responsibilities
        weight = self.training.weight
        penalty = self.gate.penalty + sum(component.penalty for component in self.components)
        bound = float(weight @ free_energy) - penalty
        return bound, float(weight @ log_likelihood) / self.training.total

    def _add_constants(self, log_joint: np.ndarray) -> None:
        """Add what the constants of each component say of each row's labels to (K, n)."""
        log_odds = np.stack(
            [
                np.where(component.is_constant, component.constants_, 0.0)
                for component in self.components
            ],
            axis=1,
        )
        log_joint -= np.array(
            [
                [np.logaddexp(0, component.constants_[component.is_constant]).sum()]
                for component in self.components
            ]
        )

        def add(rows: slice) -> None:
            log_joint[:, rows] += np.asarray(self.training.Y[rows] @ log_odds).T

        self._map(add, row_pieces(log_joint.shape[1]))


def threshold(least: float, rounds: int) -> float:
    """What small responsibilities are set to zero below after so many rounds; 0 is dense.

    It only falls, and more room for the responsibilities never lowers the bound.

    >>> [threshold(4e-3, rounds) for rounds in range(3)]
    [0.01, 0.005, 0.004]
    """
    return max(least, FIRST_LEAST / 2.0 ** min(rounds, 100)) if least > 0 else 0.0


def truncate(shares: np.ndarray, least: float) -> None:
    """Set shares (K, n) below ``least`` to zero; a row keeps its largest, however small."""
    shares[(shares < least) & (shares < shares.max(axis=0))] = 0


Stop = Callable[[list[Round]], bool]
Judge = Callable[[EM], float]


class Ended(NamedTuple):
    """How EM ended."""

    state: State  # after the last finished round
    was_interrupted: bool


def run(
    em: EM,
    *,
    max_iter: int,
    is_done: Stop,
    after_round: Callable[[State], None],
    judge: Judge | None = None,
) -> Ended:
    """Rounds until ``is_done`` says so, or there are ``max_iter`` of them, or Ctrl-C is pressed.

    A round that was interrupted is as if it had not begun. Before the first is finished, the
    KeyboardInterrupt goes on to the caller.
    """
    state = em.state()
    try:
        while len(em.history) < max_iter and not is_done(em.history):
            done = em.round()
            if judge is not None:
                em.history[-1] = replace(done, held_out=judge(em))
            state = em.state()
            after_round(state)
    except KeyboardInterrupt:
        if not state.history:
            raise
        return Ended(state, True)
    return Ended(state, False)
