"""Whether Gibbs sampling can move: labels that decide each other leave nothing for x to say.

Where two labels always go together, or always exclude each other, each is known as soon as the
other is, and a full conditional learns just that. A chain then stays with the values it began with,
as it changes one label at a time (Li 2019, section 1.3.1). A row is *stuck* in a pair of labels if,
with its own labels and also with both of the pair changed, each of the two is nearly sure to stay:
two states that the model takes for certain, and no way from one to the other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.errors import NotConverged

NEARLY_SURE = 0.99  # that a label stays: a pair then keeps its values for 50 sweeps on average
WORTH_SAYING = 0.1  # share of the rows
MOST_PAIRS = 200  # that are looked at: those in which labels hang together most
MOST_ROWS = 1000

LogOdds = Callable[[int, np.ndarray], np.ndarray]


class Stuck(NamedTuple):
    """What share of the rows is stuck in some pair, and in which one most are."""

    share: float
    pair: tuple[int, int] | None


def stuck_rows(Y: np.ndarray, pairs: np.ndarray, log_odds: LogOdds) -> Stuck:
    """How many rows with labels Y (n, L) are stuck in any of some pairs (p, 2).

    ``log_odds(l, Y)`` are those of label l in the same rows, (n,), given the other labels of Y.
    """
    threshold = np.log(NEARLY_SURE / (1 - NEARLY_SURE))
    anywhere, worst, most = np.zeros(len(Y), dtype=bool), None, 0.0
    sides = 2 * Y - 1  # (n, L)
    held = {label: sides[:, label] * log_odds(label, Y) for label in np.unique(pairs).tolist()}
    for pair in pairs.tolist():
        here = np.minimum(held[pair[0]], held[pair[1]]) > threshold
        if not here.any():
            continue
        changed = Y.copy()
        changed[:, pair] = 1 - changed[:, pair]
        for label in pair:
            here &= -sides[:, label] * log_odds(label, changed) > threshold
        anywhere |= here
        if here.mean() > most:
            worst, most = (pair[0], pair[1]), float(here.mean())
    return Stuck(float(anywhere.mean()) if len(Y) else 0.0, worst)


def pairs_by_weight(label_weights: np.ndarray) -> np.ndarray:
    """Pairs (p, 2) whose labels add enough to each other's log-odds to decide them."""
    size = np.minimum(np.abs(label_weights), np.abs(label_weights.T))
    enough = 2 * np.log(NEARLY_SURE / (1 - NEARLY_SURE))
    return _largest(np.where(size > enough, size, 0))


def pairs_by_correlation(Y: np.ndarray) -> np.ndarray:
    """Pairs (p, 2) of labels that vary, by how much they do so together, or in turn."""
    centred = Y - Y.mean(axis=0)
    deviation = np.sqrt((centred**2).sum(axis=0))
    scale = np.outer(deviation, deviation)
    together = np.abs(centred.T @ centred)
    return _largest(np.divide(together, scale, out=np.zeros_like(scale), where=scale > 0))


def _largest(sizes: np.ndarray) -> np.ndarray:
    """The pairs l < m with the largest sizes over zero, (p, 2)."""
    first, second = np.triu_indices(len(sizes), 1)
    of_pair = sizes[first, second]
    order = np.argsort(-of_pair, kind="stable")[:MOST_PAIRS]
    order = order[of_pair[order] > 0]
    return np.column_stack([first[order], second[order]])


def warn_if_stuck(found: Stuck, names: Sequence[Any]) -> None:
    """A warning that says in which labels, and what to do."""
    if found.pair is None or found.share < WORTH_SAYING:
        return
    one, other = (names[label] for label in found.pair)
    warnings.warn(
        f"in {found.share:.0%} of the rows two labels decide each other, whatever x is (most often "
        f"{one!r} and {other!r}): Gibbs sampling changes one label at a time and hardly leaves "
        "where it began, so that modes and marginals say little; lower C_labels, merge such "
        "labels, or use PairwiseCRF, PowerSet or ClassifierChain",
        NotConverged,
        stacklevel=4,
    )
