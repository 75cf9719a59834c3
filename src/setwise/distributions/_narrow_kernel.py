# mypy: ignore-errors
"""A search made smaller before it starts: labels fixed that all answers share.

No set with y_c = v is likelier than the sum over components of ``mode``, times ``odds`` of c where
the component prefers the other value. Where that is less than what is known to be reached, the
answers have 1 - v. If one set is sought, a label on which all components agree has the value they
prefer too: it raises every term. Fixed labels lower the modes of components that disagree, which
fixes others in turn; components whose terms have become negligible go as well.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel

# Rounding of products over thousands of labels stays below this part of a probability.
TOLERANCE = 1e-12
# Components are dropped whose terms together stay below this part of the answer.
NEGLIGIBLE = 1e-14
OPEN = -1


class Problem(NamedTuple):
    """What is left of a row: the first ``extent`` rows and columns of the arrays."""

    z: np.ndarray  # (K, L)  log-odds
    odds: np.ndarray  # (K, L)  exp(-|z|)
    mode: np.ndarray  # (K,)    largest term of each component, given the fixed labels
    labels: np.ndarray  # (L,)    which label each open column is
    fixed: np.ndarray  # (L,)    value of each label, or OPEN
    extent: np.ndarray  # (2,)    components and labels left


@kernel
def narrow(problem, lower, single):
    """Fix labels and drop components until none is left to; ``lower`` is surely reached."""
    labels, fixed, extent = problem.labels, problem.fixed, problem.extent
    L = len(labels)
    on, off, highest, lowest = np.empty(L), np.empty(L), np.empty(L), np.empty(L)
    enough = lower * (1 - TOLERANCE)
    changed = True
    while changed:
        changed = _drop_components(problem, lower * NEGLIGIBLE / len(problem.mode))
        _bound_labels(problem, on, off, highest, lowest)
        n_fixed = 0
        for c in range(extent[1]):
            if on[c] < enough or (single and highest[c] <= 0):
                fixed[labels[c]] = 0
                n_fixed += 1
            elif off[c] < enough or (single and lowest[c] >= 0):
                fixed[labels[c]] = 1
                n_fixed += 1
        if n_fixed > 0:
            _drop_labels(problem)
            changed = True


@kernel
def _bound_labels(problem, on, off, highest, lowest):
    """Upper bounds for sets with and without each label, and the range of its log-odds."""
    C, z, odds = problem.extent[1], problem.z, problem.odds
    for c in range(C):
        on[c] = 0.0
        off[c] = 0.0
        highest[c] = -math.inf
        lowest[c] = math.inf
    for k in range(problem.extent[0]):
        weight = problem.mode[k]
        for c in range(C):
            less = weight * odds[k, c]
            positive = z[k, c] > 0
            on[c] += weight if positive else less
            off[c] += less if positive else weight
            highest[c] = max(highest[c], z[k, c])
            lowest[c] = min(lowest[c], z[k, c])


@kernel
def _drop_components(problem, least):
    """Move the components that matter to the front; whether one was dropped."""
    K, C = problem.extent[0], problem.extent[1]
    kept = 0
    for k in range(K):
        if problem.mode[k] <= least:
            continue
        if kept < k:
            problem.mode[kept] = problem.mode[k]
            for c in range(C):
                problem.z[kept, c] = problem.z[k, c]
                problem.odds[kept, c] = problem.odds[k, c]
        kept += 1
    problem.extent[0] = kept
    return kept < K


@kernel
def _drop_labels(problem):
    """Move the open labels to the front; the fixed ones cost the components that disagree."""
    K, z, odds, labels = problem.extent[0], problem.z, problem.odds, problem.labels
    kept = 0
    for c in range(problem.extent[1]):
        value = problem.fixed[labels[c]]
        if value == OPEN:
            labels[kept] = labels[c]
            for k in range(K):
                z[k, kept] = z[k, c]
                odds[k, kept] = odds[k, c]
            kept += 1
        else:
            for k in range(K):
                disagrees = (z[k, c] > 0) != (value == 1)
                problem.mode[k] *= odds[k, c] if disagrees else 1.0
    problem.extent[1] = kept
