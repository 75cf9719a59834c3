# mypy: ignore-errors
"""Fast inference for test documents (Rubin 2012, section 3.5.1), in time that hardly grows with C.

The conditional of a token's label, with phi and phi' each split into counts and floor,

    phi_wc = S_wc + floor_c          phi'_tc = S'_tc + floor'_t
    P(z = c)  ∝  phi_wc (N_cd + alpha'_c),     alpha'_c = kappa sum_t (N_dt + gamma) phi'_tc + alpha

is a sum of parts whose masses cost little, drawn from one after the other:

    own    sum over labels in d    N_cd phi_wc                    a few labels
    said   sum over topics in d    kappa N_dt G_wt                G_wt = sum_c phi_wc phi'_tc
    rest                           kappa gamma J_w + alpha P_w    sums of phi_wc base_c and phi_wc

The first is kept up to date for all words of the document when a token changes its label; the
second, as alpha' stays as it is during a sweep, is summed up once a sweep. Within a topic, its own
labels are tried in falling order; running sums over each word's labels, and over all floors, answer
the others by bisection. All this is the conditional (8) itself. A fixed prior (one topic, or none)
has no middle part.
"""

from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel
from setwise.models.topics._bag_kernel import Bag, add, clear, fill, new_bag, pick, weigh
from setwise.models.topics._document_kernel import (
    document_of,
    draw_by,
    draw_topics,
    expect_topics,
    is_kept,
    lay_out,
    new_word_state,
    put_in,
    record,
    record_entries,
    seed_of,
    sweep_topics,
    take_out,
    wipe_out,
)
from setwise.models.topics._random_kernel import inlined, making, mixed, restart, uniform


class PriorState(NamedTuple):
    """The prior of a document's labels while it is sampled."""

    G: np.ndarray  # (T * entries,) float32, by topic and entry
    floor: np.ndarray  # (T,) zeros: G is whole
    z: np.ndarray  # (tokens,) int64, the topic of each label token
    topics: Bag  # N_dt
    expected: np.ndarray  # (T,)
    said: np.ndarray  # (entries,), sum over topics of N_dt G_wt
    rest: np.ndarray  # (entries,)


class PriorWeights(NamedTuple):
    """Weights of the parts of a document's prior."""

    kappa: float  # of a label token's topic
    base: float  # of all topics alike
    alpha: float  # of each label
    gamma: float  # of each topic, beside N_dt


@making
def new_prior_state(words, n_topics):
    """A state with room for as much as the words' has."""
    size = words.own.size
    return PriorState(
        np.zeros(n_topics * size, np.float32),
        np.zeros(n_topics),
        np.zeros(words.z.size, np.int64),
        new_bag(n_topics),
        np.zeros(n_topics),
        np.zeros(size),
        np.zeros(size),
    )


@inlined
def weights_of(document, n_topics, weights):
    """The weights of a document's prior, by its length (eq. 12)."""
    if n_topics == 0:
        return PriorWeights(0.0, weights.eta, weights.alpha, weights.gamma)
    kappa = weights.eta / (document.n_tokens + n_topics * weights.gamma)
    return PriorWeights(kappa, kappa * weights.gamma, weights.alpha, weights.gamma)


@inlined
def lay_out_prior(document, tables, weights, prior):
    """What the prior says of the document's words, whatever its topics."""
    size, T = document.words.size, prior.floor.size
    for e in range(size):
        w = document.words[e]
        prior.rest[e] = weights.alpha * tables.flat.mass[w] + weights.base * tables.base.mass[w]
        for t in range(T):
            prior.G[t * size + e] = tables.topics.by_word[w, t]


@inlined
def draw_rest(point, w, words, tables, weights):
    """A label by the part of the prior that does not depend on the document's topics."""
    mass = weights.alpha * tables.flat.mass[w]
    if point < mass:
        return draw_by(point / weights.alpha, w, words, tables.flat)
    return draw_by((point - mass) / weights.base, w, words, tables.base)


@inlined
def draw_of_topic(point, t, w, e, size, words, tables, prior, phi):
    """A label by phi_wc phi'_tc: the topic's own labels first, then its floor."""
    topics = tables.topics
    counted = prior.G[t * size + e] - topics.floor[t] * tables.flat.mass[w]
    if point >= counted:
        return draw_by((point - counted) / topics.floor[t], w, words, tables.flat)
    p, last = topics.ptr[t], topics.ptr[t + 1] - 1
    c = np.int64(topics.labels[p])
    point -= topics.excess[p] * (phi[c * size + e] + words.floor[c])
    while point >= 0.0 and p < last:
        p += 1
        c = np.int64(topics.labels[p])
        point -= topics.excess[p] * (phi[c * size + e] + words.floor[c])
    return c


@inlined
def begin(document, words, tables, weights, state, prior):
    """Labels by the prior without topics, and all topics alike."""
    clear(state.labels)
    clear(prior.topics)
    i = 0
    for e in range(document.words.size):
        for _ in range(document.counts[e]):
            point = uniform(state.stream) * prior.rest[e]
            state.z[i] = draw_rest(point, document.words[e], words, tables, weights)
            add(state.labels, state.z[i])
            i += 1
    if prior.floor.size > 0:
        prior.expected[:] = document.n_tokens / prior.floor.size
        fill(prior.topics, prior.expected, 0.0)


@inlined
def move_topics(sweep, document, tables, weights, plan, state, prior):
    """Topics of the label tokens: expected ones while burning in, later ones drawn by eq. 10.

    Draws among topics that share labels move slowly; expectations settle soon.
    """
    n, gamma, by_label = document.n_tokens, weights.gamma, tables.by_label
    if sweep < plan.burn_in:
        expect_topics(state.labels, prior.topics, by_label, gamma, prior.expected)
    elif sweep == plan.burn_in:
        draw_topics(n, state.z, prior.z, prior.topics, by_label, gamma, state.stream)
    else:
        sweep_topics(n, state.z, prior.z, prior.topics, by_label, gamma, state.stream)


@inlined
def sweep_words(document, words, tables, weights, state, prior):
    """Draw the label of each token anew, by eq. 8."""
    size, i = document.words.size, 0
    weigh(state.labels, state.phi, words.floor, size, state.own)
    weigh(prior.topics, prior.G, prior.floor, size, prior.said)
    for e in range(size):
        w, said = document.words[e], weights.kappa * prior.said[e]
        for _ in range(document.counts[e]):
            own = take_out(state, words, size, e, i)
            point = uniform(state.stream) * (own + said + prior.rest[e])
            if point < own:
                c, left = pick(state.labels, state.phi, words.floor, size, e, point)
            elif point < own + said:
                point = (point - own) / weights.kappa
                t, left = pick(prior.topics, prior.G, prior.floor, size, e, point)
                left /= prior.topics.count[t]
                c = draw_of_topic(left, t, w, e, size, words, tables, prior, state.phi)
            else:
                c = draw_rest(point - own - said, w, words, tables, weights)
            put_in(state, words, size, e, i, c)
            i += 1


@kernel
def infer(documents, words, tables, weights, plan, label_sums, topic_sums, entry_sums):
    """Add up, over samples, N_cd (n, C), N_dt (n, T), and where asked N_cd by entry."""
    C, T = words.floor.size, tables.topics.floor.size
    state = new_word_state(documents, C)
    prior = new_prior_state(state, T)
    for d in range(documents.ptr.size - 1):
        document = document_of(documents, d)
        if document.n_tokens == 0:
            continue
        own_weights = weights_of(document, T, weights)
        lay_out(document, words, state.phi)
        lay_out_prior(document, tables, own_weights, prior)
        seed = seed_of(document, plan.seed)
        for chain in range(plan.n_chains):
            restart(state.stream, mixed(seed, plan.first_chain + chain))
            begin(document, words, tables, own_weights, state, prior)
            for sweep in range(plan.burn_in + plan.n_samples * plan.thin):
                sweep_words(document, words, tables, own_weights, state, prior)
                if T > 0:
                    move_topics(sweep, document, tables, own_weights, plan, state, prior)
                if is_kept(sweep, plan):
                    record(state.labels, label_sums[d])
                    record(prior.topics, topic_sums[d])
                    record_entries(document, state.z, documents.ptr[d], entry_sums)
        wipe_out(document, words, state.phi)
