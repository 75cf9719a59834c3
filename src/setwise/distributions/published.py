"""The published searches for the mode, as printed, to compare with.

Both ask the components in turn, each through Find-Next-Highest (Algorithm 3.2 of the thesis): a
queue to which all L single flips of a popped set are added unless they were there before. They
differ in when they stop:

    "threshold"  Algorithm 3.3: when the best found reaches the sum of the terms popped last
    "pruning"    ICML version, Algorithm 2: a component is dropped when π_k q <= M / K, or
                 π_k q + sum over r != k of π_r G_r <= M, with q the probability popped last, G_r
                 the largest of component r, and M the best found; at the end none is left

The library's own search (``search.py``) gives the same answers.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import logsumexp

from setwise.distributions.blocks import for_each_block, private_copy, row_blocks

Rule = Literal["threshold", "pruning"]


def published_mode(
    log_pi: np.ndarray,
    logits: np.ndarray,
    *,
    rule: Rule = "threshold",
    max_sets: int = 200_000,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Likeliest set (n, L), its log-probability (n,), and the sets popped (n,).

    A row whose queues outgrow ``max_sets`` sets is given up: its log-probability is nan.

    >>> Y, log_prob, pops = published_mode(np.zeros((1, 1)), np.array([[[1.0, -1.0]]]))
    >>> int(pops[0])
    1
    """
    from setwise.distributions._published_kernel import published_rows

    n, K, L = logits.shape
    log_weights = log_pi.astype(np.float64)
    log_weights -= logsumexp(log_weights, axis=1, keepdims=True)
    Y, log_prob = np.empty((n, L), np.int8), np.empty(n)
    pops = np.empty(n, np.int64)

    def work(block: slice) -> None:
        z = private_copy(logits, block)
        published_rows(
            log_weights[block], z, rule == "pruning", max_sets, Y[block], log_prob[block],
            pops[block],
        )  # fmt: skip

    for_each_block(work, row_blocks(n, K * L), n_jobs)
    return Y, log_prob, pops
