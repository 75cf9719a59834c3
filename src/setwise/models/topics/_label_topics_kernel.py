# mypy: ignore-errors
"""Collapsed Gibbs sampling of label tokens: LDA, with a document's few labels as its words.

Weights of all topics are made at once. Their sums run in ``LANES`` lanes beside each other, topics
t, t + LANES, t + 2 LANES, ... in one, so that no addition waits for the one before it; a draw picks
a lane, then a topic of the lane. Topics are padded to full lanes with some that weigh nothing.
"""

import numpy as np

from setwise.compiling import kernel
from setwise.models.topics._random_kernel import draw, start

LANES = 16


@kernel
def sample_topics(label_ptr, labels, z, by_label, totals, gamma, beta, n_sweeps, seed):
    """Topics at random, then ``n_sweeps`` passes of Rubin 2012, eq. 5; all counts are kept.

    ``by_label`` (C, T and padding) counts N_ct, ``totals`` (T,) the labels of each topic; both
    begin at zero.
    """
    a, b = start(seed)
    C, width = by_label.shape
    T, n_rounds = totals.size, width // LANES
    floor = beta * C
    for i in range(labels.size):
        u, a, b = draw(a, b)
        t = min(int(u * T), T - 1)
        z[i] = t
        by_label[labels[i], t] += 1
        totals[t] += 1
    inverse = np.zeros(width, np.float32)
    for k in range(T):
        inverse[k] = 1 / (totals[k] + floor)
    share, weight = np.zeros(width, np.float32), np.empty(width, np.float32)  # share: N_dt
    lanes = np.empty(LANES, np.float32)
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
                for k in range(width):
                    weight[k] = (np.float32(row[k]) + small) * inverse[k] * (share[k] + prior)
                lanes[:] = 0
                for r in range(n_rounds):
                    for lane in range(LANES):
                        lanes[lane] += weight[r * LANES + lane]
                mass = np.float32(0)
                for lane in range(LANES):
                    mass += lanes[lane]
                u, a, b = draw(a, b)
                point, lane = np.float32(u) * mass, 0
                while lane < LANES - 1 and lane < T - 1 and point >= lanes[lane]:
                    point -= lanes[lane]
                    lane += 1
                t = lane
                while t + LANES < T and point >= weight[t]:
                    point -= weight[t]
                    t += LANES
                z[i] = t
                row[t] += 1
                share[t] += one
                totals[t] += 1
                inverse[t] = 1 / (totals[t] + floor)
            for i in range(label_ptr[d], label_ptr[d + 1]):
                share[z[i]] = 0
