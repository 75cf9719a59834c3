"""Small components improved together: one bank for the labels of all, with weights for each.

A component of a few hundred rows is improved in less time than it takes to call the solver for it.
Together they share all rows, of which most weigh nothing for most labels: more arithmetic, but in
matrix products, and a few calls instead of hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from scipy import sparse

from setwise.learners.design import rows_of
from setwise.learners.lbfgs import minimise
from setwise.learners.losses import BankLoss, padded
from setwise.learners.whitening import LEAST_SPREAD, DiagonalEach, WhitenedLoss
from setwise.learners.workers import Workers
from setwise.models.cbm.component import Task
from setwise.models.cbm.linear import CLOSE, LinearLabels, unpenalised_bias, with_origin
from setwise.models.cbm.rows import TrainingRows

SMALL = 1e8  # multiplications in an evaluation of all


def are_small(training: TrainingRows, tasks: Sequence[Task]) -> bool:
    """Whether all components are logistic and so small that they had better be one."""
    X = training.X
    if sparse.issparse(X) or len(tasks) < 2:
        return False
    targets = sum(len(task.labels) for task in tasks)
    return X.size * targets <= SMALL and all(
        isinstance(task.component.classifiers_, LinearLabels) for task in tasks
    )


def improve_together(training: TrainingRows, tasks: Sequence[Task], workers: Workers) -> None:
    """A few steps for all classifiers of all components, never to a worse place."""
    d, dtype = training.X.shape[1], training.X.dtype
    every = np.arange(len(training.weight))
    starts, targets, weights, strengths = [], [], [], []
    learners = [cast(LinearLabels, task.component.classifiers_) for task in tasks]
    for task, classifiers in zip(tasks, learners, strict=True):
        frequency = training.frequency[task.labels]
        starts.append(classifiers.start(None, d, task.labels, task.log_odds))
        targets.append(np.vstack([training.targets(every, task.labels), frequency]))
        weight = np.zeros(len(every) + 1)
        weight[task.rows], weight[-1] = task.weight, classifiers.smoothing
        weights.append(np.repeat(weight[:, None], len(task.labels), axis=1))
        strengths.append(np.full(len(task.labels), 1 / classifiers.C))
    start = np.hstack(starts).astype(dtype)
    if start.shape[1]:
        X = with_origin(training.X, every)
        T, weight, ridge = (np.hstack(part) for part in (targets, weights, strengths))
        start = _improved(X, T, weight, ridge, start, learners[0].steps, workers)
    ends = np.cumsum([len(task.labels) for task in tasks])
    parts = np.split(start, ends[:-1], axis=1)
    for task, classifiers, part in zip(tasks, learners, parts, strict=True):
        classifiers.take(training, None, task.labels, part)


def _improved(
    X: np.ndarray,
    T: np.ndarray,
    weight: np.ndarray,
    ridge: np.ndarray,
    start: np.ndarray,
    steps: int,
    workers: Workers,
) -> np.ndarray:
    """Weights (d + 1, A), a few steps from ``start``; all of T, weight and ridge are by target."""
    rows, penalties = rows_of(X, bias=True), unpenalised_bias(start)
    wide = padded(weight.astype(X.dtype))
    loss = BankLoss(rows, padded(T.astype(X.dtype)), wide, ridge, penalties, workers)
    spreads = np.maximum(loss.spreads(start), LEAST_SPREAD)
    squares = np.vstack([np.square(X).T @ weight.astype(X.dtype), weight.sum(axis=0)])
    whitening = DiagonalEach(squares * spreads + penalties * ridge, X.dtype)
    problem = WhitenedLoss(loss, whitening)
    found = minimise(problem, whitening.inverse(start), max_iter=steps, tol=CLOSE)
    return whitening.weights(found.V)
