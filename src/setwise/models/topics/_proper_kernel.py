# mypy: ignore-errors
"""Proper inference for test documents (Rubin 2012, section 3.5): label tokens are sampled too.

A document has M label tokens c_i with topics z'_i; m_c of them are c, and alpha'_c = eta m_c / M +
alpha. Without token i, giving it the value c multiplies the likelihood (9) by

    r_c = G(a_c + s + N_cd) G(a_c) / (G(a_c + s) G(a_c + N_cd)),   a_c = alpha'_c,  s = eta / M

(G the gamma function), which is 1 for labels without words: only the few with words are looked at
one by one, the others are drawn from the topic until one comes up.
"""

from math import exp, lgamma

import numpy as np

from setwise.compiling import kernel
from setwise.models.topics._inference_kernel import (
    add,
    bisect,
    draw_by,
    draw_topic,
    remove,
    stream_of,
)
from setwise.models.topics._random_kernel import draw, inlined, mixed, start


@inlined
def likelihood_ratio(prior, step, n):
    """By how much one more label token raises the likelihood of a label's n words."""
    return exp(lgamma(prior + step + n) + lgamma(prior) - lgamma(prior + step) - lgamma(prior + n))


@kernel
def infer_properly(
    document_ptr,
    words,
    counts,
    word_ptr,
    word_labels,
    excess,
    floor,
    by_word,
    by_floor,
    P,
    by_label,
    running_by_label,
    running_by_topic,
    eta,
    alpha,
    gamma,
    n_label_tokens,
    first_chain,
    n_chains,
    burn_in,
    n_samples,
    thin,
    seed,
    label_sums,
    token_sums,
    entry_sums,
):
    """Add up, over samples, N_cd and m_c, (n, C) each, and where asked N_cd by entry."""
    T, C = running_by_topic.shape
    n, M = document_ptr.size - 1, n_label_tokens
    most_tokens = 1
    for d in range(n):
        tokens = 0
        for e in range(document_ptr[d], document_ptr[d + 1]):
            tokens += counts[e]
        most_tokens = max(most_tokens, tokens)
    phi = np.zeros(C)
    z, token, token_topic = (
        np.zeros(most_tokens, np.int64),
        np.zeros(M, np.int64),
        np.zeros(M, np.int64),
    )
    share, label, label_place = np.zeros(C), np.zeros(C, np.int64), np.zeros(C, np.int64)
    drawn = np.zeros(C)  # m_c
    topic_share, topic, topic_place = np.zeros(T), np.zeros(T, np.int64), np.zeros(T, np.int64)
    running, running_topics, ratio = np.empty(C), np.empty(T + 1), np.ones(C)
    step = eta / M
    for d in range(n):
        first, last = document_ptr[d], document_ptr[d + 1]
        tokens = 0
        for e in range(first, last):
            tokens += counts[e]
        if tokens == 0:
            continue
        own = stream_of(words, counts, first, last, seed)
        for chain in range(n_chains):
            a, b = start(mixed(own, first_chain + chain))
            share[:] = 0.0
            drawn[:] = 0.0
            topic_share[:] = 0.0
            n_labels, n_topics = 0, 0
            for i in range(M):  # topics evenly, labels from their topics
                u, a, b = draw(a, b)
                t = min(int(u * T), T - 1)
                token_topic[i] = t
                n_topics = add(t, topic_share, topic, topic_place, n_topics)
                u, a, b = draw(a, b)
                token[i] = bisect(running_by_topic[t], 0, C, u * running_by_topic[t, C - 1])
                drawn[token[i]] += 1
            i = 0
            for e in range(first, last):
                for _ in range(counts[e]):
                    u, a, b = draw(a, b)
                    w = words[e]
                    z[i] = draw_by(u * P[w], w, word_ptr, word_labels, by_word, by_floor)
                    n_labels = add(z[i], share, label, label_place, n_labels)
                    i += 1
            for sweep in range(burn_in + n_samples * thin):
                i = 0
                for e in range(first, last):
                    w = words[e]
                    for c in range(C):
                        phi[c] = floor[c]
                    for p in range(word_ptr[w], word_ptr[w + 1]):
                        phi[word_labels[p]] += excess[p]
                    for _ in range(counts[e]):
                        n_labels = remove(z[i], share, label, label_place, n_labels)
                        mass = 0.0
                        for c in range(C):
                            mass += phi[c] * (share[c] + step * drawn[c] + alpha)
                            running[c] = mass
                        u, a, b = draw(a, b)
                        z[i] = bisect(running, 0, C, u * mass)
                        n_labels = add(z[i], share, label, label_place, n_labels)
                        i += 1
                for half in range(2):
                    for k in range(n_labels):
                        c = label[k]
                        ratio[c] = likelihood_ratio(step * drawn[c] + alpha, step, share[c])
                    for i in range(M):
                        c, t = token[i], token_topic[i]
                        drawn[c] -= 1
                        if share[c] > 0:
                            ratio[c] = likelihood_ratio(step * drawn[c] + alpha, step, share[c])
                        mass, without = 0.0, running_by_topic[t, C - 1]
                        for k in range(n_labels):
                            p = by_label[label[k] * T + t]
                            mass += p * ratio[label[k]]
                            running[k] = mass
                            without -= p
                        u, a, b = draw(a, b)
                        point = u * (mass + max(without, 0.0))
                        if point < mass:
                            k = 0
                            while k < n_labels - 1 and running[k] <= point:
                                k += 1
                            c = label[k]
                        else:
                            while True:
                                u, a, b = draw(a, b)
                                c = bisect(
                                    running_by_topic[t], 0, C, u * running_by_topic[t, C - 1]
                                )
                                if share[c] == 0:
                                    break
                        token[i] = c
                        drawn[c] += 1
                        if share[c] > 0:
                            ratio[c] = likelihood_ratio(step * drawn[c] + alpha, step, share[c])
                    if half == 0 and T > 1:
                        for i in range(M):
                            t = token_topic[i]
                            n_topics = remove(t, topic_share, topic, topic_place, n_topics)
                            u, a, b = draw(a, b)
                            c = token[i]
                            t = draw_topic(
                                c,
                                u,
                                topic_share,
                                topic,
                                n_topics,
                                by_label,
                                running_by_label,
                                gamma,
                                running_topics,
                            )
                            token_topic[i] = t
                            n_topics = add(t, topic_share, topic, topic_place, n_topics)
                if sweep >= burn_in and (sweep - burn_in + 1) % thin == 0:
                    for c in range(C):
                        label_sums[d, c] += share[c]
                        token_sums[d, c] += drawn[c]
                    if entry_sums.size > 0:
                        i = 0
                        for e in range(first, last):
                            for _ in range(counts[e]):
                                entry_sums[e, z[i]] += 1.0
                                i += 1
