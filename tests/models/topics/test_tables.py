"""What the samplers read, against plain sums over all labels and topics."""

import numpy as np
from scipy import sparse

from setwise.models.topics import _bag_kernel as bags
from setwise.models.topics import _document_kernel as documents
from setwise.models.topics.label_topics import LabelTopics
from setwise.models.topics.tables import Documents, prior_tables, running_sums, topics_of_labels
from setwise.models.topics.words import WordDistributions


def made(V=7, C=5, T=4):
    random = np.random.default_rng(0)
    excess = random.random((V, C)) * (random.random((V, C)) < 0.5)
    words = WordDistributions(sparse.csr_array(excess), 0.01 + 0.1 * random.random(C))
    counts = random.integers(0, 5, size=(T, C)).astype(np.int32)
    return words, LabelTopics(sparse.csr_array(counts), 1, 0.3)


def test_alias_tables_hold_the_weights_exactly():
    phi = np.random.default_rng(1).random((6, 9)) ** 4  # T = 6 topics, C = 9 labels
    tables = topics_of_labels(phi)
    accept, other = tables.accept.reshape(9, 6), tables.other.reshape(9, 6)
    for c in range(9):
        drawn = accept[c].astype(float)
        np.add.at(drawn, other[c], 1 - accept[c])
        np.testing.assert_allclose(drawn / 6, phi[:, c] / phi[:, c].sum(), rtol=1e-5)
    np.testing.assert_allclose(tables.mass, phi.sum(axis=0), rtol=1e-12)


def test_one_weight_that_has_it_all_is_always_drawn():
    tables = topics_of_labels(np.array([[0.0], [2.0], [0.0]]))
    assert (tables.accept.tolist(), tables.other.tolist()[::2]) == ([0, 1, 0], [1, 1])


def test_masses_are_sums_over_all_labels():
    words, topics = made()
    flat = running_sums(words, np.ones(5))
    tables = prior_tables(words, flat, topics, 0)
    phi, phi_topics = words.dense(), topics.dense(0)
    np.testing.assert_allclose(tables.flat.mass, phi.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(tables.base.mass, phi @ phi_topics.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(tables.topics.by_word, phi @ phi_topics.T, rtol=1e-6)
    assert prior_tables(words, flat, None, 0).topics.by_word.shape == (7, 0)


def test_masses_that_follow_exchanges_are_those_summed_anew():
    random = np.random.default_rng(2)
    n_items, size = 6, 11
    weights = random.random(n_items * size).astype(np.float32)
    floor, items = random.random(n_items), random.integers(0, n_items, 30)
    bag = bags.new_bag(n_items)
    for item in items:
        bags.add(bag, item)
    masses, anew = np.zeros(size), np.zeros(size)
    bags.weigh(bag, weights, floor, size, masses)
    for i, new in enumerate(random.integers(0, n_items, 30)):
        bags.remove(bag, items[i])
        bags.add(bag, new)
        bags.exchange(items[i], new, weights, floor, size, 3, masses)
    bags.weigh(bag, weights, floor, size, anew)
    assert bag.count.sum() == 30
    assert sorted(bag.active[: bag.size[0]]) == np.flatnonzero(bag.count).tolist()
    np.testing.assert_allclose(masses[3:], anew[3:], rtol=1e-12)
    assert np.abs(masses[:3] - anew[:3]).max() > 0.1  # entries that were left behind
    table = weights.reshape(n_items, size).astype(float) + floor[:, None]
    np.testing.assert_allclose(anew, bag.count @ table, rtol=1e-12)


def test_a_document_is_as_long_as_its_counts():
    documents = Documents(np.array([0, 2, 2, 3]), np.array([1, 4, 0]), np.array([3, 1, 5]))
    assert documents.lengths.tolist() == [4, 0, 5]


def test_topics_are_expected_by_their_conditional_then_drawn():
    phi = np.random.default_rng(2).dirichlet(np.ones(3), size=4)  # T = 4 topics, C = 3 labels
    by_label, gamma = topics_of_labels(phi), 0.3
    labels, topics, z = bags.new_bag(3), bags.new_bag(4), np.zeros(400, np.int64)
    tokens = np.repeat(np.array([0, 2]), [300, 100])
    for c in tokens:
        bags.add(labels, c)
    before = np.array([200.0, 0.0, 100.0, 100.0])
    bags.fill(topics, before, 0.0)
    assert sorted(topics.active[: topics.size[0]]) == [0, 2, 3]
    documents.expect_topics(labels, topics, by_label, gamma, np.empty(4))
    weight = phi[:, [0, 2]] * (before + gamma)[:, None]
    expected = weight / weight.sum(axis=0) @ [300, 100]
    np.testing.assert_allclose(topics.count, expected, rtol=1e-5)
    assert topics.size[0] == 4

    stream = np.array([3, 5], dtype=np.uint64)
    documents.draw_topics(400, tokens, z, topics, by_label, gamma, stream)
    np.testing.assert_array_equal(topics.count, np.bincount(z, minlength=4))
    weight = phi[:, [0, 2]] * (expected + gamma)[:, None]
    drawn = np.array([np.bincount(z[tokens == c], minlength=4) for c in (0, 2)]).T
    np.testing.assert_allclose(drawn / [300, 100], weight / weight.sum(axis=0), atol=0.12)


def test_a_topic_that_nothing_is_expected_of_is_left_out():
    topics = bags.new_bag(3)
    bags.fill(topics, np.array([0.005, 2.5, 0.02]), documents.LEAST_EXPECTED)
    assert topics.count.tolist() == [0.0, 2.5, 0.02]
    assert topics.active[: topics.size[0]].tolist() == [1, 2]
    bags.clear(topics)
    assert topics.count.sum() == 0
