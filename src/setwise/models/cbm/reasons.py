"""Why a label is in the likeliest set of a Bernoulli mixture, or is not.

Label by label the likeliest set would be what has a marginal above one half. Where labels depend on
each other it is not (the reflection on the lake of Li 2019, section 3.3): a label with less is
*lifted* into the set by labels it goes with, one with more is *sunk* by labels it avoids. All
functions are about one row: weights π (K,), log-odds z (K, L).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, log_softmax

from setwise.data.labels import Label
from setwise.distributions import BernoulliMixture
from setwise.distributions.nonempty import log_any_label
from setwise.models.cbm.contributions import Features, Ranked

LEAST_PULL = 0.05  # a correlation that is worth a name


@dataclass(frozen=True)
class LabelSet:
    """A set of labels and its probability."""

    labels: tuple[Label, ...]
    probability: float


@dataclass(frozen=True)
class Partner:
    """A label that lifts or sinks another, by being in the set (``present``) or not."""

    label: Label
    correlation: float
    present: bool


@dataclass(frozen=True)
class LabelReason:
    """Why a label is in the likeliest set (``present``), or is not.

    ``verdict`` is "lifted" if it is in although its marginal is below one half, "sunk" if it is not
    although the marginal is above, and else empty; ``partners`` did it, the strongest first.
    ``beside_others`` is its probability given all others as in the likeliest set; ``correlations``
    are those with the set's other labels.
    """

    label: Label
    marginal: float
    present: bool
    verdict: str
    beside_others: float
    partners: tuple[Partner, ...]
    correlations: Ranked
    best_with: LabelSet
    best_without: LabelSet
    features_for: Ranked
    features_against: Ranked


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


def label_reasons(
    row: BernoulliMixture,
    mode: np.ndarray,
    marginals: np.ndarray,
    labels: np.ndarray,
    correlation: np.ndarray,
    names: Sequence[Label],
    features: Features,
) -> tuple[LabelReason, ...]:
    """Why each of some labels (m,) is in the mode (L,), or is not."""
    if not len(labels):
        return ()
    best = named(mode, float(log_prob(row, mode[None])[0]), names)
    sets, log_probs = best_otherwise(row, mode, labels)
    beside = beside_the_others(row, mode, labels)
    found = []
    for place, label in enumerate(labels.tolist()):
        is_in = bool(mode[label])
        otherwise = named(sets[place], float(log_probs[place]), names)
        verdict = _verdict(is_in, float(marginals[label]))
        partners = _partners(verdict, place, labels, correlation[place], mode, names)
        inside = np.array([j for j, other in enumerate(labels) if mode[other] and j != place], int)
        order = inside[np.argsort(-np.abs(correlation[place, inside]), kind="stable")]
        found.append(
            LabelReason(
                names[label],
                float(marginals[label]),
                is_in,
                verdict,
                float(beside[place]),
                partners,
                tuple((names[labels[j]], float(correlation[place, j])) for j in order),
                best if is_in else otherwise,
                otherwise if is_in else best,
                features.for_label(place),
                features.against_label(place),
            )
        )
    return tuple(found)


def _verdict(is_in: bool, marginal: float) -> str:
    if is_in:
        return "lifted" if marginal < 0.5 else ""
    return "sunk" if marginal > 0.5 else ""


def _partners(
    verdict: str,
    place: int,
    labels: np.ndarray,
    correlation: np.ndarray,
    mode: np.ndarray,
    names: Sequence[Label],
) -> tuple[Partner, ...]:
    """Who lifts or sinks the label: a label that is there pulls by its correlation, one that is
    not by the negative of it.
    """
    if not verdict:
        return ()
    pull = np.where(mode[labels] > 0, correlation, -correlation)
    pull = pull if verdict == "lifted" else -pull
    pull[place] = -np.inf
    order = [j for j in np.argsort(-pull, kind="stable").tolist() if pull[j] >= LEAST_PULL]
    return tuple(
        Partner(names[labels[j]], float(correlation[j]), bool(mode[labels[j]])) for j in order
    )


def named(chosen: np.ndarray, log_prob: float, names: Sequence[Label]) -> LabelSet:
    """A set (L,) by the names of its labels."""
    labels = tuple(names[label] for label in np.flatnonzero(chosen).tolist())
    return LabelSet(labels, float(np.exp(log_prob)))
