# mypy: ignore-errors
"""Collapsed Gibbs sampling of label tokens: LDA, with a document's few labels as its words."""

import numpy as np

from setwise.compiling import kernel
from setwise.models.topics._random_kernel import draw, start


@kernel
def sample_topics(label_ptr, labels, z, by_label, totals, gamma, beta, n_sweeps, seed):
    """Topics at random, then ``n_sweeps`` passes of Rubin 2012, eq. 5; all counts are kept.

    ``by_label`` (C, T) counts N_ct, ``totals`` (T,) the labels of each topic; both begin at zero.
    """
    a, b = start(seed)
    C, T = by_label.shape
    floor = beta * C
    for i in range(labels.size):
        u, a, b = draw(a, b)
        t = min(int(u * T), T - 1)
        z[i] = t
        by_label[labels[i], t] += 1
        totals[t] += 1
    inverse = (1 / (totals + floor)).astype(np.float32)
    share, running = np.zeros(T, np.float32), np.empty(T, np.float32)  # N_dt, running sums
    one, small, prior = np.float32(1), np.float32(beta), np.float32(gamma)
    for _ in range(n_sweeps):
        for d in range(label_ptr.size - 1):
            for i in range(label_ptr[d], label_ptr[d + 1]):
                share[z[i]] += one
            for i in range(label_ptr[d], label_ptr[d + 1]):
                row, t = by_label[labels[i]], z[i]
                row[t] -= 1
                share[t] -= one
                totals[t] -= 1
                inverse[t] = 1 / (totals[t] + floor)
                for k in range(T):
                    running[k] = (np.float32(row[k]) + small) * inverse[k] * (share[k] + prior)
                mass = np.float32(0)
                for k in range(T):
                    mass += running[k]
                    running[k] = mass
                u, a, b = draw(a, b)
                point = np.float32(u) * mass
                t = 0
                while t < T - 1 and running[t] <= point:
                    t += 1
                z[i] = t
                row[t] += 1
                share[t] += one
                totals[t] += 1
                inverse[t] = 1 / (totals[t] + floor)
            for i in range(label_ptr[d], label_ptr[d + 1]):
                share[z[i]] = 0
