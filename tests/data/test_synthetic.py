from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit

from setwise.data import synthetic
from setwise.data.synthetic import make_cbm
from setwise.errors import DataError, LabelMismatch


def probability_by_hand(data, row, labels):
    """p(y | x) of one row as the paper writes it, outside log space."""
    mu = expit(data.logits[row])  # (K, L)
    each = np.where(labels, mu, 1 - mu).prod(axis=1)
    return float(np.exp(data.log_pi[row]) @ each)


def every_set(L):
    return np.array(list(product([0, 1], repeat=L)), dtype=np.int8)


@pytest.fixture
def small():
    return make_cbm(20, n_labels=4, gate_scale=2, label_scale=2)


def test_probabilities_of_all_sets_sum_to_one(small):
    log_probs = [small.log_prob(np.tile(labels, (20, 1))) for labels in every_set(4)]
    np.testing.assert_allclose(np.exp(log_probs).sum(axis=0), 1, rtol=1e-12)


def test_log_prob_agrees_with_the_formula(small):
    by_hand = [probability_by_hand(small, row, small.Y[row]) for row in range(20)]
    np.testing.assert_allclose(np.exp(small.log_prob(small.Y)), by_hand, rtol=1e-10)


def test_mode_is_the_best_of_all_sets(small, monkeypatch):
    monkeypatch.setattr(synthetic, "BATCH_ENTRIES", 3 * 16 * 7)  # batches of 7, 7 and 6 rows
    Y, log_prob = small.mode()
    for row in range(20):
        table = [probability_by_hand(small, row, labels) for labels in every_set(4)]
        np.testing.assert_array_equal(Y[row], every_set(4)[np.argmax(table)])
        np.testing.assert_allclose(np.exp(log_prob[row]), max(table), rtol=1e-10)


def test_marginals_add_up_the_sets(small):
    expected = np.zeros((20, 4))
    for labels in every_set(4):
        expected += np.exp(small.log_prob(np.tile(labels, (20, 1))))[:, None] * labels
    np.testing.assert_allclose(small.marginals(), expected, rtol=1e-10)


def test_samples_follow_the_marginals():
    data = make_cbm(20_000, gate_scale=2, label_scale=2)
    p = data.marginals()
    deviation = np.sqrt((p * (1 - p)).sum(axis=0))
    z = (data.Y.sum(axis=0) - p.sum(axis=0)) / deviation
    assert np.abs(z).max() < 4
    # Pairs too: a sampler that drew labels from the marginals would pass the test above.
    joint = np.einsum("nk,nkl,nkm->lm", np.exp(data.log_pi), *[expit(data.logits)] * 2)
    upper = np.triu_indices(data.Y.shape[1], 1)
    gap = (data.Y.T.astype(float) @ data.Y - joint)[upper]
    assert np.abs(gap).max() < 4 * np.sqrt(20_000 / 4)


def test_the_truth_is_logistic_in_x(small):
    scores = small.X @ small.gate_weights + small.gate_biases
    expected = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(small.log_pi, expected, rtol=1e-10, atol=1e-12)
    for k in range(3):
        logits = small.X @ small.label_weights[k] + small.label_biases[k]
        np.testing.assert_allclose(small.logits[:, k], logits, rtol=1e-10, atol=1e-12)


def test_argmax_without_noise_is_always_right():
    assert make_cbm(2000, draw="argmax").upper_bound == 1


def test_noise_lowers_the_bound_and_leaves_the_truth():
    bounds = [make_cbm(3000, draw="argmax", noise=noise).upper_bound for noise in (0.5, 1.07, 3)]
    assert 1 > bounds[0] > bounds[1] > bounds[2]
    clean, noisy = make_cbm(50, noise=0), make_cbm(50, noise=2)
    np.testing.assert_array_equal(clean.logits, noisy.logits)
    np.testing.assert_array_equal(clean.log_pi, noisy.log_pi)


@pytest.mark.parametrize(
    ("draw", "noise", "table"),
    [("argmax", 1.07, 0.764), ("sample", 0, 0.652), ("sample", 2.2, 0.481)],
)
def test_defaults_come_near_the_table_of_the_paper(draw, noise, table):
    assert abs(make_cbm(draw=draw, noise=noise).upper_bound - table) < 0.01


def test_same_seed_same_data():
    first, second, other = make_cbm(50), make_cbm(50), make_cbm(50, random_state=1)
    for field in fields(first):
        np.testing.assert_array_equal(getattr(first, field.name), getattr(second, field.name))
    assert not np.array_equal(first.X, other.X)


def test_shapes():
    data = make_cbm(11, n_features=2, n_labels=20, n_components=4)
    assert data.X.shape == (11, 2)
    assert data.Y.shape == (11, 20)
    assert data.Y.dtype == np.int8
    assert data.log_pi.shape == (11, 4)
    assert data.logits.shape == (11, 4, 20)


def test_the_bound_counts_whole_sets():
    data = make_cbm(50, draw="argmax")
    Y = data.Y.copy()
    Y[:10, 0] ^= 1
    assert replace(data, Y=Y).upper_bound == 0.8


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_labels": 17, "draw": "argmax"}, "for L up to 16, not 17"),
        ({"draw": "best"}, "'sample' or 'argmax', not 'best'"),
        ({"noise": -1}, "noise is a standard deviation from 0 up, not -1"),
        ({"n_components": 0}, "n_components is a whole number from 1 up, not 0"),
    ],
)
def test_what_is_refused(arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        make_cbm(10, **arguments)


def test_log_prob_refuses_other_rows(small):
    with pytest.raises(LabelMismatch, match="one label set for each row"):
        small.log_prob(small.Y[:5])


def test_a_component_has_a_set_of_its_own_where_biases_outweigh_x():
    shared = make_cbm(500, draw="argmax", gate_scale=5, label_scale=0.5)
    own = make_cbm(500, draw="argmax", gate_scale=5, label_scale=0.5, label_bias_scale=20)
    assert np.array_equal(shared.label_weights, own.label_weights)
    assert own.label_biases.std() > 10 * shared.label_biases.std()
    assert len(np.unique(own.Y, axis=0)) < len(np.unique(shared.Y, axis=0))
