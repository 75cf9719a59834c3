# mypy: ignore-errors
"""Passes over logits that all components share, to which each adds its own biases.

Which components a row takes part in, and how much, are the entries of a CSR matrix: those of row i
are ``pairs[i]`` to ``pairs[i + 1]`` of ``component`` and ``share``. Labels are the lanes.
"""

import numpy as np

from setwise.compiling import lane_function, lane_kernel
from setwise.learners._lanes_kernel import exp, log1p, unit
from setwise.learners._residual_kernel import RUN, _flush, _sigmoid_and_loss

HOPELESS = -1e300  # stands for -inf, which lane kernels must not meet
CHUNK = 64  # labels after which a component may turn out to be hopeless


@lane_kernel
def residuals(Z, T, first, pairs, component, share, B, loss, G):
    """Losses (L,) and gradients G (K, L) of the biases B are added; Z becomes the residuals.

    Z (m, L) are the shared logits of the rows from ``first`` on, T their targets.
    """
    m, L = Z.shape
    sums, residual = np.zeros(L, Z.dtype), np.zeros(L, Z.dtype)
    for i in range(m):
        residual[:] = 0
        for pair in range(pairs[first + i], pairs[first + i + 1]):
            k, w = component[pair], share[pair]
            for label in range(L):
                target = T[i, label]
                probability, cost = _sigmoid_and_loss(Z[i, label] + B[k, label], target)
                slope = w * (probability - target)
                residual[label] += slope
                G[k, label] += slope
                sums[label] += w * cost
        Z[i] = residual
        if i % RUN == RUN - 1 or i == m - 1:
            _flush(sums, loss)


@lane_kernel
def add_curvatures(Z, first, pairs, component, share, B, H):
    """H (K, L) += the sums of p (1 - p) over rows, by share."""
    m, L = Z.shape
    for i in range(m):
        for pair in range(pairs[first + i], pairs[first + i + 1]):
            k, w = component[pair], share[pair]
            for label in range(L):
                one = unit(Z[i, label])
                e = exp(-abs(Z[i, label] + B[k, label]))
                root = one / (one + e)
                H[k, label] += w * e * root * root


@lane_function
def _softplus(z):
    one = unit(z)
    return max(z, one - one) + log1p(exp(-abs(z)))


@lane_function
def _log_joint(z, b, labels, log_pi, enough, lanes):
    """Log of weight times likelihood, or HOPELESS where it is certain not to exceed ``enough``.

    Labels that are there come first: they are few, and rule out most components.
    """
    present, sure = log_pi, log_pi
    for label in labels:
        value = z[label] + b[label]
        present += value
        sure += value - _softplus(value)
    if sure <= enough:
        return HOPELESS
    for start in range(0, len(z), CHUNK):
        stop = min(start + CHUNK, len(z))
        for label in range(start, stop):
            lanes[label - start] = _softplus(z[label] + b[label])
        total = 0.0
        for lane in range(stop - start):
            total += lanes[lane]
        present -= total
        if present <= enough:
            return HOPELESS
    return present


@lane_kernel
def add_log_likelihood(Z, first, pairs, component, B, indptr, indices, log_least, log_joint):
    """log_joint (m, K) += what each component says of the rows' labels.

    Those that come to less than ``log_least`` below the best so far get HOPELESS. The components
    that rows took part in before come first, as the best is likely to be one of them.
    """
    m, K = log_joint.shape
    lanes = np.zeros(CHUNK, Z.dtype)
    known = np.zeros(K, np.bool_)
    for i in range(m):
        row = first + i
        labels = indices[indptr[row] : indptr[row + 1]]
        reached = HOPELESS
        for pair in range(pairs[row], pairs[row + 1]):
            k = component[pair]
            known[k] = True
            log_joint[i, k] = _log_joint(Z[i], B[k], labels, log_joint[i, k], HOPELESS, lanes)
            reached = max(reached, log_joint[i, k])
        for k in range(K):
            if not known[k]:
                enough = reached + log_least
                log_joint[i, k] = _log_joint(Z[i], B[k], labels, log_joint[i, k], enough, lanes)
                reached = max(reached, log_joint[i, k])
            known[k] = False
