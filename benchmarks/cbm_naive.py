"""A whole fit beside the EM that one would write: ``python benchmarks/cbm_naive.py [scene|large]``.

The other side is a loop over components and labels of scikit-learn's ``LogisticRegression`` with
responsibilities as sample weights, and a softmax by scipy's L-BFGS for the gate, all warm-started,
on the same scaled rows, with the same penalties and priors, from the same start. Both run in one
process. What counts is the time to the same bound: the one that EM with *exact* M-steps reaches
after ``ROUNDS`` rounds, which our own solver, run to convergence, finds for both sides (on the
large case, with our sparse structure and 60 steps).

Where the other side would take hours it is timed on ``SAMPLED`` pairs of a component and a label in
the first and the last round, and multiplied: lines that do so say "extrapolated".
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

import setwise as sw
from setwise.data import make_large
from setwise.learners.workers import Workers
from setwise.models.cbm.em import EM
from setwise.models.cbm.features import Scaling, working_basis
from setwise.models.cbm.fit import start
from setwise.models.cbm.rows import TrainingRows

ROUNDS = 10
SAMPLED = 12
EXACT = {"min_responsibility": 0.0, "min_label_share": 0.0, "inner_steps": 300}
NEARLY_EXACT = {"inner_steps": 60}  # where a dense EM to convergence would itself take an hour


@dataclass(frozen=True)
class Case:
    """Rows, the number of components, and the ratio to reach."""

    name: str
    X: Any
    Y: sparse.csr_array
    K: int
    C: float
    aim: float
    extrapolate: bool


def cases(wanted: list[str]) -> list[Case]:
    """What the comparison is made on."""
    found = []
    if "scene" in wanted and os.environ.get("SETWISE_DATA"):
        data = sw.load_dataset("scene")
        Y = data.labels.encode(data.Y_train)
        found.append(Case("scene, K = 20", np.asarray(data.X_train), Y, 20, 10.0, 30, False))
    if "large" in wanted:
        X, Y = make_large(
            30_000, 120, 100, 50, condition_number=1400, labels_per_row=4.4, active_components=3
        )
        name = "30,000 x 120, L = 100, K = 50, condition number 1,400"
        found.append(Case(name, X, sparse.csr_array(Y), 50, 10.0, 200, True))
    return found


def prepared(case: Case) -> TrainingRows:
    """The rows as both sides see them: scaled, and for ours in an uncorrelated basis."""
    weight = np.ones(case.X.shape[0])
    X = Scaling("auto", "float32").fit(case.X, weight).transform(case.X)
    return TrainingRows(X, case.Y, weight)


def begun(training: TrainingRows, case: Case, workers: Workers, **parameters: Any) -> EM:
    """Our EM before its first round."""
    basis = working_basis(training.X, training.weight)
    X = training.X @ basis.astype(training.X.dtype)
    settings = sw.CBM(case.K, C=case.C, **parameters)._settings()
    return start(TrainingRows(X, training.Y, training.weight), settings, workers)


def exact_bound(training: TrainingRows, case: Case) -> tuple[float, list[np.ndarray]]:
    """The bound after ``ROUNDS`` exact M-steps; responsibilities of the first and last round."""
    with Workers() as workers:
        em = begun(training, case, workers, **(NEARLY_EXACT if case.extrapolate else EXACT))
        responsibilities = [em.responsibilities]
        for _ in range(ROUNDS):
            em.round()
    responsibilities.append(em.responsibilities)
    return em.history[-1].bound, responsibilities


def our_seconds(training: TrainingRows, case: Case, bound: float) -> tuple[float, int]:
    """From nothing to that bound, with the sparse structure and default settings."""
    begin = perf_counter()
    with Workers() as workers:
        em = begun(training, case, workers)
        while em.round().bound < bound and len(em.history) < 10 * ROUNDS:
            pass
    return perf_counter() - begin, len(em.history)


class NaiveEM:
    """Scikit-learn's classifiers in a double loop."""

    def __init__(self, training: TrainingRows, K: int, C: float, smoothing: float = 0.1) -> None:
        self.X, self.Y = training.X, training.Y.toarray()
        self.frequency, self.K, self.C, self.smoothing = training.frequency, K, C, smoothing
        d = self.X.shape[1]
        # Two rows without features, of a small weight, are the prior of a label's bias.
        self.rows = np.vstack([self.X, np.zeros((2, d), self.X.dtype)])
        self.models: dict[tuple[int, int], LogisticRegression] = {}
        self.gate = np.zeros((d + 1, K))

    def fit_label(self, k: int, label: int, share: np.ndarray) -> None:
        """One classifier, warm-started."""
        model = self.models.setdefault(
            (k, label), LogisticRegression(C=self.C, warm_start=True, max_iter=1000)
        )
        f = self.frequency[label]
        weight = np.concatenate([share, [self.smoothing * f, self.smoothing * (1 - f)]])
        model.fit(self.rows, np.append(self.Y[:, label], [1, 0]), sample_weight=weight)

    def fit_gate(self, T: np.ndarray) -> None:
        """Softmax regression on responsibilities T (n, K)."""
        X1 = np.hstack([self.X, np.ones((len(self.X), 1), self.X.dtype)]).astype(np.float64)

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            W = flat.reshape(self.gate.shape)
            Z = X1 @ W
            value = -(T * log_softmax(Z, axis=1)).sum() + (W[:-1] ** 2).sum() / (2 * self.C)
            gradient = X1.T @ (softmax(Z, axis=1) - T)
            gradient[:-1] += W[:-1] / self.C
            return value, gradient.ravel()

        found = minimize(objective, self.gate.ravel(), jac=True, method="L-BFGS-B")
        self.gate = found.x.reshape(self.gate.shape)

    def round_seconds(self, R: np.ndarray, *, sampled: int | None) -> float:
        """One M-step on responsibilities R (K, n), or an extrapolation from some of its labels."""
        K, L = self.K, self.Y.shape[1]
        pairs = [(k, label) for k in range(K) for label in range(L)]
        if sampled is not None:
            random = np.random.default_rng(0)
            pairs = [pairs[i] for i in random.choice(len(pairs), sampled, replace=False)]
        begin = perf_counter()
        for k, label in pairs:
            self.fit_label(k, label, R[k])
        seconds = (perf_counter() - begin) * K * L / len(pairs)
        begin = perf_counter()
        self.fit_gate(R.T)
        return seconds + perf_counter() - begin

    def responsibilities(self) -> np.ndarray:
        """The E-step, (K, n)."""
        X1 = np.hstack([self.X, np.ones((len(self.X), 1))])
        log_joint = log_softmax(X1 @ self.gate, axis=1).T
        for (k, label), model in self.models.items():
            z = model.decision_function(self.X)
            log_joint[k] += self.Y[:, label] * z - np.logaddexp(0, z)
        return softmax(log_joint, axis=0)


def naive_seconds(training: TrainingRows, case: Case, given: list[np.ndarray]) -> float:
    """All rounds of the other side, measured or extrapolated."""
    naive = NaiveEM(training, case.K, case.C)
    if case.extrapolate:
        first = naive.round_seconds(given[0], sampled=SAMPLED)
        later = naive.round_seconds(given[1], sampled=SAMPLED)  # warm-started, and nearer the end
        return first + (ROUNDS - 1) * later
    R, seconds = given[0], 0.0
    for _ in range(ROUNDS):
        begin = perf_counter()
        naive.round_seconds(R, sampled=None)
        R = naive.responsibilities()
        seconds += perf_counter() - begin
    return seconds


def main() -> None:
    """Print a line for each case."""
    warnings.simplefilter("ignore")
    for case in cases(sys.argv[1:] or ["scene", "large"]):
        training = prepared(case)
        bound, given = exact_bound(training, case)
        our_seconds(training, case, -np.inf)  # compile
        ours, rounds = min(our_seconds(training, case, bound) for _ in range(3))
        theirs = naive_seconds(training, case, given)
        how = "extrapolated" if case.extrapolate else "measured"
        print(
            f"{case.name}: to the bound {bound:.1f}, ours {ours:.2f} s ({rounds} rounds), theirs "
            f"{theirs:.1f} s ({ROUNDS} rounds, {how}), ratio {theirs / ours:.0f} (to reach "
            f"{case.aim:.0f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
