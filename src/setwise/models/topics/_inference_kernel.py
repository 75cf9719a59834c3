# mypy: ignore-errors
"""Fast inference for test documents (Rubin 2012, section 3.5.1), in time that hardly grows with C.

The conditional of a token's label, with phi and phi' each split into counts and floor,

    phi_wc = S_wc + floor_c          phi'_tc = S'_tc + floor'_t
    P(z = c)  ∝  phi_wc (N_cd + alpha'_c),     alpha'_c = kappa sum_t (N_dt + gamma) phi'_tc + alpha

is a sum of parts whose masses cost little, drawn from one after the other:

    sum over labels in d    N_cd phi_wc                 a few labels
    sum over topics in d    kappa N_dt G_wt             a few topics; G_wt = sum_c phi_wc phi'_tc
    the rest                kappa gamma J_w + alpha P_w    J, P: sums of phi_wc base_c and phi_wc

Within a topic, its own labels are tried in falling order; running sums over each word's labels, and
over all floors, answer the others by bisection. alpha' stays as it is during a sweep, so that all
this is the conditional (8) itself. A fixed prior (one topic, or none) has no middle part.
"""

import numpy as np

from setwise.compiling import kernel
from setwise.models.topics._random_kernel import draw, inlined, mixed, start


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
def draw_by(value, w, word_ptr, word_labels, by_word, by_floor):
    """A label by running sums over a word's labels, then over all floors."""
    low, high = word_ptr[w], word_ptr[w + 1]
    if high > low:
        if value < by_word[high - 1]:
            return np.int64(word_labels[bisect(by_word, low, high, value)])
        value -= by_word[high - 1]
    return np.int64(bisect(by_floor, 0, by_floor.size, value))


@inlined
def add(item, count, active, place, n_active):
    """One more of an item; the new number of items that are there."""
    if count[item] == 0:
        active[n_active] = item
        place[item] = n_active
        n_active += 1
    count[item] += 1
    return n_active


@inlined
def remove(item, count, active, place, n_active):
    """One less of an item; the last of the list takes the place of one that is gone."""
    count[item] -= 1
    if count[item] == 0:
        n_active -= 1
        last = active[n_active]
        active[place[item]] = last
        place[last] = place[item]
    return n_active


@inlined
def weighted_sum(count, weights, row, active, n_active):
    """The sum of count times weight over what is there; four sums, lest each waits for the last."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    k = 0
    while k + 3 < n_active:
        s0 += count[active[k]] * weights[row + active[k]]
        s1 += count[active[k + 1]] * weights[row + active[k + 1]]
        s2 += count[active[k + 2]] * weights[row + active[k + 2]]
        s3 += count[active[k + 3]] * weights[row + active[k + 3]]
        k += 4
    while k < n_active:
        s0 += count[active[k]] * weights[row + active[k]]
        k += 1
    return (s0 + s1) + (s2 + s3)


@inlined
def stream_of(words, counts, first, last, seed):
    """A seed that belongs to a document's contents, wherever it stands."""
    h = mixed(seed, np.uint64(0))
    for e in range(first, last):
        h = mixed(mixed(h, words[e]), counts[e])
    return h


@inlined
def draw_topic(c, u, count, active, n_active, by_label, running_by_label, gamma, running):
    """A topic for a label token, by eq. 10."""
    T = count.size
    mass, row = 0.0, c * T
    for k in range(n_active):
        mass += count[active[k]] * by_label[row + active[k]]
        running[k] = mass
    point = u * (mass + gamma * running_by_label[row + T - 1])
    if point < mass:
        k = 0
        while k < n_active - 1 and running[k] <= point:
            k += 1
        return active[k]
    return bisect(running_by_label, row, row + T, (point - mass) / gamma) - row


@kernel
def infer(
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
    base_by_word,
    base_by_floor,
    J,
    topic_ptr,
    topic_labels,
    topic_excess,
    topic_floor,
    G,
    by_label,
    running_by_label,
    eta,
    alpha,
    gamma,
    first_chain,
    n_chains,
    burn_in,
    n_samples,
    thin,
    seed,
    label_sums,
    topic_sums,
    entry_sums,
):
    """Add up, over samples, N_cd (n, C), N_dt (n, T), and where asked N_cd by entry."""
    C, T = floor.size, G.shape[1]
    n = document_ptr.size - 1
    most_words, most_tokens = 1, 1
    for d in range(n):
        tokens = 0
        for e in range(document_ptr[d], document_ptr[d + 1]):
            tokens += counts[e]
        most_words = max(most_words, document_ptr[d + 1] - document_ptr[d])
        most_tokens = max(most_tokens, tokens)
    # phi_wc and G_wt of the document's words, close together.
    slab, topic_slab = np.empty(most_words * C, np.float32), np.empty(most_words * T, np.float32)
    z, z_topic = np.zeros(most_tokens, np.int64), np.zeros(most_tokens, np.int64)
    share, label, label_place = np.zeros(C), np.zeros(C, np.int64), np.zeros(C, np.int64)
    topic_share, topic, topic_place = np.zeros(T), np.zeros(T, np.int64), np.zeros(T, np.int64)
    running_topics, running = np.empty(T + 1), np.empty(T + 1)
    for d in range(n):
        first, last = document_ptr[d], document_ptr[d + 1]
        tokens = 0
        for e in range(first, last):
            tokens += counts[e]
            w, row, topic_row = words[e], (e - first) * C, (e - first) * T
            for c in range(C):
                slab[row + c] = floor[c]
            for p in range(word_ptr[w], word_ptr[w + 1]):
                slab[row + word_labels[p]] += excess[p]
            for t in range(T):
                topic_slab[topic_row + t] = G[w, t]
        if tokens == 0:
            continue
        kappa = eta / (tokens + T * gamma) if T > 0 else 0.0
        base_weight = kappa * gamma if T > 0 else eta
        own = stream_of(words, counts, first, last, seed)
        for chain in range(n_chains):
            a, b = start(mixed(own, first_chain + chain))
            share[:] = 0.0
            topic_share[:] = 0.0
            n_labels, n_topics, i = 0, 0, 0
            for e in range(first, last):
                w = words[e]
                mass_flat, mass = alpha * P[w], alpha * P[w] + base_weight * J[w]
                for _ in range(counts[e]):
                    u, a, b = draw(a, b)
                    point = u * mass
                    if point < mass_flat:
                        c = draw_by(point / alpha, w, word_ptr, word_labels, by_word, by_floor)
                    else:
                        point = (point - mass_flat) / base_weight
                        c = draw_by(point, w, word_ptr, word_labels, base_by_word, base_by_floor)
                    z[i] = c
                    n_labels = add(c, share, label, label_place, n_labels)
                    i += 1
            for i in range(tokens if T > 0 else 0):
                u, a, b = draw(a, b)
                c = z[i]
                t = draw_topic(
                    c, u, topic_share, topic, n_topics, by_label, running_by_label, gamma, running
                )
                z_topic[i] = t
                n_topics = add(t, topic_share, topic, topic_place, n_topics)
            for sweep in range(burn_in + n_samples * thin):
                i = 0
                for e in range(first, last):
                    w = words[e]
                    row, topic_row = (e - first) * C, (e - first) * T
                    mass_topics = 0.0
                    for k in range(n_topics):
                        mass_topics += topic_share[topic[k]] * topic_slab[topic_row + topic[k]]
                        running_topics[k] = mass_topics
                    mass_topics *= kappa
                    mass_flat = alpha * P[w]
                    mass_prior = mass_topics + mass_flat + base_weight * J[w]
                    for _ in range(counts[e]):
                        n_labels = remove(z[i], share, label, label_place, n_labels)
                        mass = weighted_sum(share, slab, row, label, n_labels)
                        u, a, b = draw(a, b)
                        point = u * (mass + mass_prior)
                        if point < mass:
                            c = label[0]
                            point -= share[c] * slab[row + c]
                            k = 0
                            while point >= 0.0 and k < n_labels - 1:
                                k += 1
                                c = label[k]
                                point -= share[c] * slab[row + c]
                        else:
                            point -= mass
                            if point < mass_topics:
                                point /= kappa
                                k = 0
                                while k < n_topics - 1 and running_topics[k] <= point:
                                    k += 1
                                t = topic[k]
                                if k > 0:
                                    point -= running_topics[k - 1]
                                point /= topic_share[t]
                                counted = topic_slab[topic_row + t] - topic_floor[t] * P[w]
                                if point < counted:
                                    p, end = topic_ptr[t], topic_ptr[t + 1]
                                    c = np.int64(topic_labels[p])
                                    point -= topic_excess[p] * slab[row + c]
                                    while point >= 0.0 and p < end - 1:
                                        p += 1
                                        c = np.int64(topic_labels[p])
                                        point -= topic_excess[p] * slab[row + c]
                                else:
                                    point = (point - counted) / topic_floor[t]
                                    c = draw_by(point, w, word_ptr, word_labels, by_word, by_floor)
                            else:
                                point -= mass_topics
                                if point < mass_flat:
                                    point /= alpha
                                    c = draw_by(point, w, word_ptr, word_labels, by_word, by_floor)
                                else:
                                    point = (point - mass_flat) / base_weight
                                    c = draw_by(
                                        point, w, word_ptr, word_labels, base_by_word, base_by_floor
                                    )
                        z[i] = c
                        n_labels = add(c, share, label, label_place, n_labels)
                        i += 1
                for i in range(tokens if T > 0 else 0):
                    n_topics = remove(z_topic[i], topic_share, topic, topic_place, n_topics)
                    u, a, b = draw(a, b)
                    c = z[i]
                    t = draw_topic(
                        c,
                        u,
                        topic_share,
                        topic,
                        n_topics,
                        by_label,
                        running_by_label,
                        gamma,
                        running,
                    )
                    z_topic[i] = t
                    n_topics = add(t, topic_share, topic, topic_place, n_topics)
                if sweep >= burn_in and (sweep - burn_in + 1) % thin == 0:
                    for k in range(n_labels):
                        label_sums[d, label[k]] += share[label[k]]
                    for k in range(n_topics):
                        topic_sums[d, topic[k]] += topic_share[topic[k]]
                    if entry_sums.size > 0:
                        i = 0
                        for e in range(first, last):
                            for _ in range(counts[e]):
                                entry_sums[e, z[i]] += 1.0
                                i += 1
