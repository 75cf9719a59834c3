# mypy: ignore-errors
"""Proper inference for test documents (Rubin 2012, section 3.5): label tokens are sampled too.

A document has M label tokens c_i with topics z'_i; m_c of them are c, and alpha'_c = eta m_c / M +
alpha. Without token i, giving it the value c multiplies the likelihood (9) by

    r_c = G(a_c + s + N_cd) G(a_c) / (G(a_c + s) G(a_c + N_cd)),   a_c = alpha'_c,  s = eta / M

(G the gamma function), which is 1 for labels without words: only the few with words are looked at
one by one, the others are drawn from the topic until one comes up.
"""

from math import exp, lgamma
from typing import NamedTuple

import numpy as np

from setwise.compiling import kernel
from setwise.models.topics._bag_kernel import Bag, add, clear, new_bag, pick, remove, weigh
from setwise.models.topics._document_kernel import (
    bisect,
    document_of,
    draw_by,
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


class TokenState(NamedTuple):
    """A document's label tokens while it is sampled."""

    c: np.ndarray  # (M,) int64, labels
    z: np.ndarray  # (M,) int64, their topics
    drawn: Bag  # m_c
    topics: Bag  # N_dt
    said: np.ndarray  # (entries,), sum over labels of m_c phi_wc
    ratio: np.ndarray  # (C,), r_c of the labels with words
    running: np.ndarray  # (C,), for draws


@making
def new_token_state(n_tokens, n_labels, n_topics, size):
    """A state for M label tokens."""
    return TokenState(
        np.zeros(n_tokens, np.int64),
        np.zeros(n_tokens, np.int64),
        new_bag(n_labels),
        new_bag(n_topics),
        np.zeros(size),
        np.ones(n_labels),
        np.empty(n_labels),
    )


@inlined
def draw_label(t, by_topic, stream):
    """A label of a topic, by running sums (T, C) of phi'."""
    running = by_topic[t]
    return bisect(running, 0, running.size, uniform(stream) * running[running.size - 1])


@inlined
def begin(document, words, flat, by_topic, state, tokens):
    """Topics evenly, labels from their topics; words by phi alone."""
    T = by_topic.shape[0]
    clear(state.labels)
    clear(tokens.drawn)
    clear(tokens.topics)
    for j in range(tokens.c.size):
        tokens.z[j] = min(int(uniform(state.stream) * T), T - 1)
        tokens.c[j] = draw_label(tokens.z[j], by_topic, state.stream)
        add(tokens.topics, tokens.z[j])
        add(tokens.drawn, tokens.c[j])
    i = 0
    for e in range(document.words.size):
        w = document.words[e]
        for _ in range(document.counts[e]):
            state.z[i] = draw_by(uniform(state.stream) * flat.mass[w], w, words, flat)
            add(state.labels, state.z[i])
            i += 1


@inlined
def sweep_words(document, words, flat, step, alpha, state, tokens):
    """Draw the label of each word token anew, by eq. 8."""
    size, i = document.words.size, 0
    weigh(state.labels, state.phi, words.floor, size, state.own)
    weigh(tokens.drawn, state.phi, words.floor, size, tokens.said)
    for e in range(size):
        w, said = document.words[e], step * tokens.said[e]
        for _ in range(document.counts[e]):
            own = take_out(state, words, size, e, i)
            point = uniform(state.stream) * (own + said + alpha * flat.mass[w])
            if point < own:
                c, _left = pick(state.labels, state.phi, words.floor, size, e, point)
            elif point < own + said:
                point = (point - own) / step
                c, _left = pick(tokens.drawn, state.phi, words.floor, size, e, point)
            else:
                c = draw_by((point - own - said) / alpha, w, words, flat)
            put_in(state, words, size, e, i, c)
            i += 1


@inlined
def set_ratio(c, step, alpha, state, tokens):
    """By how much one more label token raises the likelihood of a label's words."""
    n, prior = state.labels.count[c], step * tokens.drawn.count[c] + alpha
    tokens.ratio[c] = exp(
        lgamma(prior + step + n) + lgamma(prior) - lgamma(prior + step) - lgamma(prior + n)
    )


@inlined
def draw_token(t, by_label, by_topic, state, tokens):
    """The label of a label token of topic t, by eq. 9."""
    labels, T, C = state.labels, by_topic.shape[0], by_topic.shape[1]
    mass, without = 0.0, by_topic[t, C - 1]
    for k in range(labels.size[0]):
        p = by_label.phi[labels.active[k] * T + t]
        mass += p * tokens.ratio[labels.active[k]]
        tokens.running[k] = mass
        without -= p
    point = uniform(state.stream) * (mass + max(without, 0.0))
    if point < mass:
        return labels.active[bisect(tokens.running, 0, labels.size[0], point)]
    c = draw_label(t, by_topic, state.stream)
    while labels.count[c] > 0:
        c = draw_label(t, by_topic, state.stream)
    return c


@inlined
def sweep_tokens(by_label, by_topic, step, alpha, state, tokens):
    """Draw the label of each label token anew."""
    for k in range(state.labels.size[0]):
        set_ratio(state.labels.active[k], step, alpha, state, tokens)
    for j in range(tokens.c.size):
        c = tokens.c[j]
        remove(tokens.drawn, c)
        if state.labels.count[c] > 0:
            set_ratio(c, step, alpha, state, tokens)
        c = draw_token(tokens.z[j], by_label, by_topic, state, tokens)
        tokens.c[j] = c
        add(tokens.drawn, c)
        if state.labels.count[c] > 0:
            set_ratio(c, step, alpha, state, tokens)


@kernel
def infer_properly(
    documents,
    words,
    flat,
    by_label,
    by_topic,
    weights,
    n_label_tokens,
    plan,
    label_sums,
    token_sums,
    entry_sums,
):
    """Add up, over samples, N_cd and m_c, (n, C) each, and where asked N_cd by entry."""
    T, C = by_topic.shape
    step, alpha = weights.eta / n_label_tokens, weights.alpha
    state = new_word_state(documents, C)
    tokens = new_token_state(n_label_tokens, C, T, state.own.size)
    for d in range(documents.ptr.size - 1):
        document = document_of(documents, d)
        if document.n_tokens == 0:
            continue
        lay_out(document, words, state.phi)
        seed = seed_of(document, plan.seed)
        for chain in range(plan.n_chains):
            restart(state.stream, mixed(seed, plan.first_chain + chain))
            begin(document, words, flat, by_topic, state, tokens)
            for sweep in range(plan.burn_in + plan.n_samples * plan.thin):
                sweep_words(document, words, flat, step, alpha, state, tokens)
                sweep_tokens(by_label, by_topic, step, alpha, state, tokens)
                if T > 1:
                    sweep_topics(
                        n_label_tokens,
                        tokens.c,
                        tokens.z,
                        tokens.topics,
                        by_label,
                        weights.gamma,
                        state.stream,
                    )
                sweep_tokens(by_label, by_topic, step, alpha, state, tokens)
                if is_kept(sweep, plan):
                    record(state.labels, label_sums[d])
                    record(tokens.drawn, token_sums[d])
                    record_entries(document, state.z, documents.ptr[d], entry_sums)
        wipe_out(document, words, state.phi)
