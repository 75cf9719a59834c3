# mypy: ignore-errors
"""What the fast and the proper sampler of a test document share.

A document's words are its entries; its tokens are numbered entry after entry. phi of these words,
without the floors, is laid out by label and entry in ``phi``, which is zero outside the document's
pairs and stays so from one document to the next.
"""

from typing import NamedTuple

import numpy as np

from setwise.models.topics._alias_kernel import draw_alias
from setwise.models.topics._bag_kernel import (
    Bag,
    add,
    clear,
    exchange,
    fill,
    new_bag,
    pick_in_row,
    remove,
    weigh_row,
)
from setwise.models.topics._random_kernel import inlined, making, mixed, uniform

LEAST_EXPECTED = 0.01  # label tokens; topics with fewer are left to gamma


class Document(NamedTuple):
    """Words of one document, and how often each is there."""

    words: np.ndarray  # (entries,)
    counts: np.ndarray  # (entries,)
    n_tokens: int


class WordState(NamedTuple):
    """A document's words while it is sampled."""

    phi: np.ndarray  # (C * entries,) float32
    z: np.ndarray  # (tokens,) int64, the label of each token
    labels: Bag  # N_cd
    own: np.ndarray  # (entries,), sum over labels of N_cd phi_wc
    stream: np.ndarray  # (2,) uint64, of random numbers


@making
def document_of(documents, d):
    """One of the documents."""
    first, last = documents.ptr[d], documents.ptr[d + 1]
    tokens = np.int64(0)
    for e in range(first, last):
        tokens += documents.counts[e]
    return Document(documents.words[first:last], documents.counts[first:last], tokens)


@making
def new_word_state(documents, n_labels):
    """A state with room for the longest of the documents."""
    most_words, most_tokens = 1, 1
    for d in range(documents.ptr.size - 1):
        document = document_of(documents, d)
        most_words = max(most_words, document.words.size)
        most_tokens = max(most_tokens, document.n_tokens)
    return WordState(
        np.zeros(n_labels * most_words, np.float32),
        np.zeros(most_tokens, np.int64),
        new_bag(n_labels),
        np.zeros(most_words),
        np.zeros(2, np.uint64),
    )


@inlined
def seed_of(document, seed):
    """A seed that belongs to a document's contents, wherever it stands."""
    h = mixed(seed, np.uint64(0))
    for e in range(document.words.size):
        h = mixed(mixed(h, document.words[e]), document.counts[e])
    return h


@inlined
def lay_out(document, words, phi):
    """Write the document's phi."""
    size = document.words.size
    for e in range(size):
        w = document.words[e]
        for p in range(words.ptr[w], words.ptr[w + 1]):
            phi[words.labels[p] * size + e] = words.excess[p]


@inlined
def wipe_out(document, words, phi):
    """Write zeros again where ``lay_out`` wrote."""
    size = document.words.size
    for e in range(size):
        w = document.words[e]
        for p in range(words.ptr[w], words.ptr[w + 1]):
            phi[words.labels[p] * size + e] = 0.0


@inlined
def bisect(running, low, high, value):
    """The first place in [low, high) where the running sum exceeds ``value``, or the last place."""
    high -= 1
    while low < high:
        middle = (low + high) >> 1
        if running[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def draw_by(point, w, words, running):
    """A label by running sums over a word's labels, then over all floors."""
    low, high = words.ptr[w], words.ptr[w + 1]
    if high > low:
        if point < running.by_word[high - 1]:
            return np.int64(words.labels[bisect(running.by_word, low, high, point)])
        point -= running.by_word[high - 1]
    return np.int64(bisect(running.by_floor, 0, running.by_floor.size, point))


@inlined
def take_out(state, words, size, e, i):
    """Take token i, of entry e, out of its label; N_cd phi_wc summed over what is left."""
    c = state.z[i]
    remove(state.labels, c)
    if state.labels.size[0] == 0:
        return 0.0
    return max(state.own[e] - state.phi[c * size + e] - words.floor[c], 0.0)


@inlined
def put_in(state, words, size, e, i, c):
    """Give token i, of entry e, the label c; ``own`` is right for this entry and later ones."""
    add(state.labels, c)
    if c != state.z[i]:
        exchange(state.z[i], c, state.phi, words.floor, size, e, state.own)
        state.z[i] = c


@inlined
def draw_topic(c, topics, by_label, gamma, stream):
    """A topic for a label token, by eq. 10."""
    T = topics.count.size
    row = c * T
    mass = weigh_row(topics, by_label.phi, row)
    rest = gamma * by_label.mass[c]
    point = uniform(stream) * (mass + rest)
    if point < mass:
        return pick_in_row(topics, by_label.phi, row, point)
    return draw_alias((point - mass) / rest, by_label.accept, by_label.other, row, T)


@inlined
def sweep_topics(n_tokens, labels, z, topics, by_label, gamma, stream):
    """Draw the topic of each label token anew, by eq. 10."""
    for i in range(n_tokens):
        remove(topics, z[i])
        z[i] = draw_topic(labels[i], topics, by_label, gamma, stream)
        add(topics, z[i])


@inlined
def expect_topics(labels, topics, by_label, gamma, expected):
    """Put in ``topics`` how many label tokens of each eq. 10 expects, given what is there now."""
    T = topics.count.size
    expected[:] = 0.0
    for k in range(labels.size[0]):
        c = labels.active[k]
        row = c * T
        mass = weigh_row(topics, by_label.phi, row) + gamma * by_label.mass[c]
        share = labels.count[c] / mass
        for t in range(T):
            expected[t] += share * (topics.count[t] + gamma) * by_label.phi[row + t]
    fill(topics, expected, LEAST_EXPECTED)


@inlined
def draw_topics(n_tokens, labels, z, topics, by_label, gamma, stream):
    """Draw the topic of each label token from what is expected, then count what was drawn."""
    for i in range(n_tokens):
        z[i] = draw_topic(labels[i], topics, by_label, gamma, stream)
    clear(topics)
    for i in range(n_tokens):
        add(topics, z[i])


@inlined
def is_kept(sweep, plan):
    """Whether a sweep's state is one of the samples."""
    return sweep >= plan.burn_in and (sweep - plan.burn_in + 1) % plan.thin == 0


@inlined
def record(bag, sums):
    """Add a bag to sums by item."""
    for k in range(bag.size[0]):
        sums[bag.active[k]] += bag.count[bag.active[k]]


@inlined
def record_entries(document, z, first, sums):
    """Add each token's label to sums by entry and label, where there are any."""
    if sums.size == 0:
        return
    i = 0
    for e in range(document.words.size):
        for _ in range(document.counts[e]):
            sums[first + e, z[i]] += 1.0
            i += 1
