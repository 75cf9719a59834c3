"""EM for mixtures of chains or trees with fixed structures (Hong et al. 2015, Algorithm 1).

    p(y|x) = sum over k of  g_k(x) prod over i of  p(y_i | x, y_parents(i, k))

The E-step takes the posterior of the experts (equation 4.9). The M-step fits the gate, a softmax
regression, to it, and each expert, a network of logistic regressions, with it as the rows' weights.
Every fit starts where it last was, so a few steps of its solver suffice: each step of EM raises

    sum_n w_n log p(y_n|x_n) - |G|^2 / 2 C_gate - sum_k [|W_k|^2 / 2 C + |V_k|^2 / 2 C_labels]

and none lowers it, except by the fixed rule for labels that are constant for an expert.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from setwise.learners import SoftmaxRegression
from setwise.models.chains.columns import MaskedWeights
from setwise.models.chains.network import fit_network

SOLVER_STEPS = 6  # of the solvers in one M-step


@dataclass(frozen=True)
class Strengths:
    """Inverse strengths of the penalties on features, labels and gate; threads."""

    C: float
    C_labels: float
    C_gate: float
    n_jobs: int | None = None


@dataclass(frozen=True)
class Mixture:
    """Experts with their edges, bool (L, L) each, and the gate; None where there is one expert."""

    edges: tuple[np.ndarray, ...]
    experts: tuple[MaskedWeights, ...]
    gate: SoftmaxRegression | None

    def log_gate(self, X: Any) -> np.ndarray:
        """Log g_k(x), (n, K)."""
        if self.gate is None:
            return np.zeros((X.shape[0], 1))
        return np.asarray(self.gate.log_proba(X), dtype=np.float64)

    def log_joint(self, X: Any, Y: np.ndarray) -> np.ndarray:
        """Log g_k(x) p_k(y|x), (n, K)."""
        terms = [log_likelihood(expert, X, Y) for expert in self.experts]
        joint: np.ndarray = self.log_gate(X) + np.stack(terms, axis=1)
        return joint

    def log_prob(self, X: Any, Y: np.ndarray) -> np.ndarray:
        """Log p(y|x), (n,)."""
        return e_step(self.log_joint(X, Y))[1]


def log_likelihood(expert: MaskedWeights, X: Any, Y: np.ndarray) -> np.ndarray:
    """Log p(y|x) of an expert, (n,)."""
    z = X @ expert.features + Y @ expert.labels + expert.biases
    total: np.ndarray = -np.logaddexp(0, (1 - 2 * Y) * z).sum(axis=1)
    return total


def e_step(log_joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Responsibilities (n, K) and log-likelihoods (n,), equation 4.9."""
    evidence = logsumexp(log_joint, axis=1)
    return np.exp(log_joint - evidence[:, None]), evidence


def m_step(
    mixture: Mixture,
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray,
    shares: np.ndarray,
    strengths: Strengths,
    steps: int = SOLVER_STEPS,
) -> Mixture:
    """The mixture fitted to responsibilities (n, K), each part from where it is."""
    experts = []
    for k, (edges, expert) in enumerate(zip(mixture.edges, mixture.experts, strict=True)):
        own = weight * shares[:, k]
        if own.sum() <= 1e-9 * weight.sum():  # of no row: it stays as it is
            experts.append(expert)
            continue
        experts.append(fit_expert(X, Y, edges, own, strengths, expert, steps))
    gate = mixture.gate
    if len(experts) > 1:
        if gate is None or len(gate.biases_) != len(experts):
            gate = SoftmaxRegression(
                strengths.C_gate, max_iter=steps, tol=1e-6, warm_start=True,
                n_jobs=strengths.n_jobs,
            )  # fmt: skip
        gate = _fitted_gate(gate, X, shares, weight)
    return Mixture(mixture.edges, tuple(experts), gate)


def fit_expert(
    X: Any,
    Y: np.ndarray,
    edges: np.ndarray,
    weight: np.ndarray,
    strengths: Strengths,
    start: MaskedWeights | None = None,
    steps: int = 200,
) -> MaskedWeights:
    """One expert on weighted rows."""
    return fit_network(
        X, Y, edges, C=strengths.C, C_labels=strengths.C_labels, weight=weight, start=start,
        max_iter=steps, tol=1e-5, n_jobs=strengths.n_jobs, certify=False,
    )  # fmt: skip


def _fitted_gate(
    gate: SoftmaxRegression, X: Any, shares: np.ndarray, weight: np.ndarray
) -> SoftmaxRegression:
    """A gate that has gone on from where this one is; tolerance 0 asks for steps, not a proof."""
    more = SoftmaxRegression(
        gate.C, max_iter=gate.max_iter, tol=0, warm_start=True, n_jobs=gate.n_jobs
    )
    if hasattr(gate, "weights_"):
        more.weights_, more.biases_ = gate.weights_, gate.biases_
    return more.fit(X, shares / shares.sum(axis=1, keepdims=True), sample_weight=weight)


def penalised(
    mixture: Mixture, evidence: np.ndarray, weight: np.ndarray, strengths: Strengths
) -> float:
    """What EM raises, for log-likelihoods (n,)."""
    value = float(weight @ evidence)
    for expert in mixture.experts:
        value -= float((expert.features.astype(np.float64) ** 2).sum()) / (2 * strengths.C)
        value -= float((expert.labels.astype(np.float64) ** 2).sum()) / (2 * strengths.C_labels)
    if mixture.gate is not None:
        value -= float((mixture.gate.weights_.astype(np.float64) ** 2).sum()) / (
            2 * strengths.C_gate
        )
    return value


def run_em(
    mixture: Mixture,
    X: Any,
    Y: np.ndarray,
    weight: np.ndarray,
    strengths: Strengths,
    *,
    shares: np.ndarray | None = None,
    max_iter: int = 30,
    tol: float = 1e-4,
) -> tuple[Mixture, list[float]]:
    """The mixture after EM, and its penalised log-likelihood after each step.

    ``shares`` (n, K), if given, stand for the first E-step. Ends when a step gains less than
    ``tol`` of a nat a row, on average.
    """
    history: list[float] = []
    for _ in range(max_iter):
        if shares is None:
            shares, evidence = e_step(mixture.log_joint(X, Y))
            history.append(penalised(mixture, evidence, weight, strengths))
            if len(history) > 1 and history[-1] - history[-2] <= tol * weight.sum():
                break
        mixture = m_step(mixture, X, Y, weight, shares, strengths)
        shares = None
        if len(mixture.experts) == 1:
            break
    return mixture, history
