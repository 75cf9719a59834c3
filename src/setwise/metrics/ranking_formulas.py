"""The ranking measures as pure functions of the places of the relevant candidates.

Each takes a ``RankedRelevant`` of m items and returns (m,) values, nan where the measure is not
defined; ``ranking.py`` tells what they mean and how they treat ties.
"""

from __future__ import annotations

import numpy as np

from setwise.metrics.averaging import divided
from setwise.metrics.ranked import RankedRelevant


def ranking_loss(ranked: RankedRelevant) -> np.ndarray:
    """Wrongly ordered pairs over all pairs; a tie is half a mistake."""
    mistakes = ranked.sum(ranked.irrelevant_above + ranked.irrelevant_tied / 2)
    return divided(mistakes, ranked.n_relevant * ranked.n_irrelevant)


def auc_roc(ranked: RankedRelevant) -> np.ndarray:
    """Rightly ordered pairs over all pairs."""
    return 1 - ranking_loss(ranked)


def auc_pr(ranked: RankedRelevant) -> np.ndarray:
    """Trapezoids under the precision-recall curve, one for each relevant candidate."""
    start, end = _precision_after(ranked, ranked.place - 1), _precision_after(ranked, ranked.place)
    return ranked.mean((start + end) / 2)


def _precision_after(ranked: RankedRelevant, taken: np.ndarray) -> np.ndarray:
    """Precision when ``taken`` relevant ones of the tie group have come in, (p,).

    The group's false positives come in evenly with them. In an item's first group everything above
    does so too: that holds the precision at the value which the group as a whole reaches.
    """
    is_first = ranked.relevant_above == 0
    tp = ranked.relevant_above + np.where(is_first, ranked.relevant_tied, taken)
    share = np.where(is_first, 1.0, taken / ranked.relevant_tied)
    fp = ranked.irrelevant_above + ranked.irrelevant_tied * share
    precision: np.ndarray = tp / (tp + fp)
    return precision


def average_precision(ranked: RankedRelevant) -> np.ndarray:
    """Mean precision at the relevant candidates, each at the end of its tie group."""
    found = ranked.relevant_above + ranked.relevant_tied
    return ranked.mean(found / (ranked.above + ranked.tied))


def margin(ranked: RankedRelevant) -> np.ndarray:
    """Last rank of a relevant candidate minus first rank of an irrelevant one, at least 0."""
    last_relevant = np.zeros(len(ranked.n_relevant))
    np.maximum.at(last_relevant, ranked.item, ranked.above + ranked.tied)
    # Exactly the relevant candidates with no irrelevant one above or beside them come before it.
    is_clean = ranked.irrelevant_above + ranked.irrelevant_tied == 0
    first_irrelevant = ranked.sum(is_clean) + 1
    has_both = (ranked.n_relevant > 0) & (ranked.n_irrelevant > 0)
    return np.where(has_both, np.maximum(0, last_relevant - first_irrelevant), np.nan)


def is_error(ranked: RankedRelevant) -> np.ndarray:
    """1 where the ranking is not perfect, that is where the margin is positive."""
    margins = margin(ranked)
    return np.where(np.isnan(margins), np.nan, margins > 0)


def precision_at_k(ranked: RankedRelevant, k: int) -> np.ndarray:
    """Expected relevant candidates among the first k, over k."""
    in_reach = np.minimum(ranked.above + ranked.tied, k) - np.minimum(ranked.above, k)
    expected = ranked.expected_sum(in_reach)
    return np.where(ranked.n_relevant > 0, expected / k, np.nan)


def one_error(ranked: RankedRelevant) -> np.ndarray:
    """Expected share of irrelevant candidates in the first place."""
    return 1 - precision_at_k(ranked, 1)


def ndcg_at_k(ranked: RankedRelevant, k: int | None) -> np.ndarray:
    """Expected discounted gain of the first k places (None: of all), over the best possible."""
    ranks = np.arange(1, ranked.n_candidates + 1)
    discounts = np.where(ranks <= (k or ranked.n_candidates), 1 / np.log2(ranks + 1), 0)
    running = np.concatenate([[0], np.cumsum(discounts)])  # [r] = sum of the first r discounts
    gained = running[ranked.above + ranked.tied] - running[ranked.above]
    shares = divided(ranked.expected_sum(gained), running[ranked.n_relevant])
    return shares.clip(max=1)  # what rounding adds
