"""Why a label is in the likeliest set of a Bernoulli mixture, or is not.

Label by label the likeliest set would be what has a marginal above one half. Where labels depend on
each other it is not (the reflection on the lake of Li 2019, section 3.3): a label with less is
*lifted* into the set by labels it goes with, one with more is *sunk* by labels it avoids. All
functions are about one row: weights π (K,), log-odds z (K, L).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, log_softmax

from setwise.distributions import BernoulliMixture
from setwise.distributions.nonempty import log_any_label


@dataclass(frozen=True, eq=False)
class Parts:
    """What each component adds to the marginals: they are ``weights @ probabilities``."""

    weights: np.ndarray  # (K,) sum to one
    probabilities: np.ndarray  # (K, L)


def parts(row: BernoulliMixture) -> Parts:
    """The components of one row, given a non-empty set where the empty one is ruled out."""
    log_probabilities = log_expit(row.logits[0].astype(np.float64))
    log_weights = row.log_pi[0].astype(np.float64)
    if not row.allow_empty:
        log_any = log_any_label(row.logits, row.n_jobs)[0]  # (K,)
        log_weights, log_probabilities = log_weights + log_any, log_probabilities - log_any[:, None]
    return Parts(np.exp(log_softmax(log_weights)), np.exp(log_probabilities))


def shares_of_set(row: BernoulliMixture, chosen: np.ndarray) -> np.ndarray:
    """How much of a set's probability comes from each component, (K,): γ of equation 3.6."""
    z = row.logits[0].astype(np.float64)
    log_joint = row.log_pi[0] + np.where(chosen > 0, log_expit(z), log_expit(-z)).sum(axis=1)
    shares: np.ndarray = np.exp(log_softmax(log_joint))
    return shares


def correlations(row: BernoulliMixture, labels: np.ndarray) -> np.ndarray:
    """Pearson's correlations of some labels, (m, m): equation 3.3, for these labels only."""
    log_weights, p = row.log_pi[0].astype(np.float64), expit(row.logits[0][:, labels].astype(float))
    log_weights = log_weights - np.logaddexp.reduce(log_weights)
    if not row.allow_empty:  # weights that sum to more than one, see `distributions.nonempty`
        log_weights -= np.logaddexp.reduce(log_weights + log_any_label(row.logits, row.n_jobs)[0])
    weights = np.exp(log_weights)
    mean = weights @ p
    apart = p - mean  # centred first: small means lose no digits
    covariance = (apart.T * weights) @ apart + (1 - weights.sum()) * np.outer(mean, mean)
    deviation = np.sqrt(np.clip(mean * (1 - mean), 0, None))
    scale = np.outer(deviation, deviation)
    found: np.ndarray = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    np.clip(found, -1, 1, out=found)
    np.fill_diagonal(found, 1)
    return found


def best_otherwise(
    row: BernoulliMixture, mode: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each label the best set in which it is what it is not in the mode.

    Returns the sets, int8 (m, L), and their log-probabilities (m,); -inf where there is none.
    Exact: the label is taken out of the mixture, which then is one of the other labels, given it.
    """
    L, m = row.n_labels, len(labels)
    sets = np.tile(mode, (m, 1))
    sets[np.arange(m), labels] ^= 1
    for now in (0, 1):
        where = np.flatnonzero(mode[labels] != now)
        if len(where) and L > 1:
            others = np.array([np.delete(np.arange(L), label) for label in labels[where]])
            given = _without(row, labels[where], others, present=bool(now))
            sets[where[:, None], others] = given.mode()[0]
    return sets, log_prob(row, sets)


def _without(
    row: BernoulliMixture, labels: np.ndarray, others: np.ndarray, *, present: bool
) -> BernoulliMixture:
    """The other labels (m, L - 1), given that each label is there, or is not."""
    z = row.logits[0].astype(np.float64)
    given = log_expit(z[:, labels] if present else -z[:, labels])  # (K, m)
    log_pi = log_softmax(row.log_pi[0] + given.T, axis=1)
    logits = np.ascontiguousarray(z[:, others].transpose(1, 0, 2))
    # A label that is there already makes the set one that is not empty.
    return BernoulliMixture(log_pi, logits, row.allow_empty or present, row.n_jobs)


def beside_the_others(row: BernoulliMixture, mode: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """P(label | all others are as in the mode), (m,): at least one half if it is in the mode."""
    flipped = np.tile(mode, (len(labels), 1))
    flipped[np.arange(len(labels)), labels] ^= 1
    gap = log_prob(row, flipped) - log_prob(row, mode[None])
    probability: np.ndarray = expit(np.where(mode[labels] > 0, -gap, gap))
    return probability


def log_prob(row: BernoulliMixture, sets: np.ndarray) -> np.ndarray:
    """Log-probabilities of several sets (m, L) in the one row, (m,)."""
    return row.rows(np.zeros(len(sets), dtype=np.intp)).log_prob(sets)
