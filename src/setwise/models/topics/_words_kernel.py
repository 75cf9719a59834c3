# mypy: ignore-errors
"""Collapsed Gibbs sampling of word assignments, restricted to each document's labels.

Counts N_wc are kept for those pairs of a word and a label that share a document: small enough for
the caches, and of the same layout in every chain. ``positions`` says, for each entry of the
document-word matrix and each label of its document, where the pair's count stands.
"""

import numpy as np

from setwise.compiling import kernel
from setwise.models.topics._random_kernel import draw, start


@kernel
def fill_positions(
    word_ptr, document_of, entry_of, label_ptr, labels, pair_ptr, pair_labels, first, positions
):
    """Where the count of each (word of an entry, label of its document) stands."""
    where = np.zeros(pair_labels.max() + 1, np.int64)
    for w in range(word_ptr.size - 1):
        for pair in range(pair_ptr[w], pair_ptr[w + 1]):
            where[pair_labels[pair]] = pair
        for k in range(word_ptr[w], word_ptr[w + 1]):
            d, at = document_of[k], first[entry_of[k]]
            for j in range(label_ptr[d + 1] - label_ptr[d]):
                positions[at + j] = where[labels[label_ptr[d] + j]]


@kernel
def assign_at_random(
    document_ptr, token_ptr, label_ptr, labels, positions, z, pairs, totals, shares, seed
):
    """Give every token one of its document's labels, evenly, and count."""
    a, b = start(seed)
    at = 0
    for d in range(document_ptr.size - 1):
        first, m = label_ptr[d], label_ptr[d + 1] - label_ptr[d]
        for entry in range(document_ptr[d], document_ptr[d + 1]):
            for i in range(token_ptr[entry], token_ptr[entry + 1]):
                u, a, b = draw(a, b)
                j = min(int(u * m), m - 1)
                z[i] = j
                pairs[positions[at + j]] += 1
                totals[labels[first + j]] += 1
                shares[first + j] += 1
            at += m


@kernel
def sweep_words(
    document_ptr,
    token_ptr,
    label_ptr,
    labels,
    positions,
    z,
    pairs,
    totals,
    shares,
    eta,
    beta,
    n_words,
    n_sweeps,
    seed,
):
    """Draw every assignment anew, given all others (Rubin 2012, eq. 2), ``n_sweeps`` times.

    ``z`` holds each token's label by its place in the document's list; ``pairs`` counts N_wc,
    ``totals`` words of each label, ``shares`` N_cd. All are kept up to date.
    """
    a, b = start(seed)
    beta, floor = np.float32(beta), np.float32(beta * n_words)
    most = 1
    for d in range(label_ptr.size - 1):
        most = max(most, label_ptr[d + 1] - label_ptr[d])
    # What does not depend on the word, (N_cd + eta / M_d) / (N_c + V beta), and running sums.
    weight, running = np.empty(most, np.float32), np.empty(most, np.float32)
    for _ in range(n_sweeps):
        at = 0
        for d in range(document_ptr.size - 1):
            m = label_ptr[d + 1] - label_ptr[d]
            if m == 1:  # nothing to choose
                at += document_ptr[d + 1] - document_ptr[d]
                continue
            label = labels[label_ptr[d] : label_ptr[d + 1]]
            share = shares[label_ptr[d] : label_ptr[d + 1]]
            prior = np.float32(eta / m)
            for j in range(m):
                weight[j] = (np.float32(share[j]) + prior) / (np.float32(totals[label[j]]) + floor)
            for entry in range(document_ptr[d], document_ptr[d + 1]):
                place = positions[at : at + m]
                at += m
                for i in range(token_ptr[entry], token_ptr[entry + 1]):
                    old = z[i]
                    c = label[old]
                    pairs[place[old]] -= 1
                    share[old] -= 1
                    totals[c] -= 1
                    weight[old] = (np.float32(share[old]) + prior) / (np.float32(totals[c]) + floor)
                    mass = np.float32(0)
                    for j in range(m):
                        mass += (np.float32(pairs[place[j]]) + beta) * weight[j]
                        running[j] = mass
                    u, a, b = draw(a, b)
                    point = np.float32(u) * mass
                    new = 0
                    while new < m - 1 and running[new] <= point:
                        new += 1
                    z[i] = new
                    c = label[new]
                    pairs[place[new]] += 1
                    share[new] += 1
                    totals[c] += 1
                    weight[new] = (np.float32(share[new]) + prior) / (np.float32(totals[c]) + floor)
