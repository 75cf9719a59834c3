"""Rows of a component, gathered a block at a time, are those of a copy; scratch arrays."""

from threading import Thread

import numpy as np
import pytest

from setwise.learners.design import DenseRows
from setwise.models.cbm.linear import ChosenRows, with_origin
from setwise.models.cbm.rows import Scratch


@pytest.fixture
def chosen():
    random = np.random.default_rng(0)
    X, rows = random.normal(size=(3000, 5)), np.sort(random.choice(3000, 2500, replace=False))
    return ChosenRows(X, rows, Scratch()), DenseRows(with_origin(X, rows), bias=True)


def test_chosen_rows_are_those_of_a_copy(chosen):
    gathered, copied = chosen
    assert gathered.shape == copied.shape
    random = np.random.default_rng(1)
    W, weight = random.normal(size=(6, 3)), random.uniform(size=2501)
    for start, stop in [(0, 900), (900, 2501), (0, 900), (2500, 2501)]:
        parts, gradients = [], []
        for rows in chosen:
            Z, G = np.empty((stop - start, 3)), np.ones((6, 3))
            rows.fill_logits(start, stop, W, Z)
            rows.add_gradient(start, stop, Z, G)
            parts.append(Z)
            gradients.append(G)
        np.testing.assert_allclose(*parts, rtol=1e-12)
        np.testing.assert_allclose(*gradients, rtol=1e-12)
    np.testing.assert_allclose(gathered.square_sums(weight), copied.square_sums(weight), rtol=1e-12)


def test_a_logit_after_the_square_sums_is_not_of_their_block(chosen):
    gathered, copied = chosen
    W = np.ones((6, 1))
    gathered.square_sums(np.ones(2501))
    found, expected = np.empty((10, 1)), np.empty((10, 1))
    gathered.fill_logits(0, 10, W, found)
    copied.fill_logits(0, 10, W, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_scratch_arrays_are_used_again_by_their_thread_only():
    scratch = Scratch()
    first = scratch.array("a", (10, 4), np.float32)
    assert np.shares_memory(first, scratch.array("a", (3, 5), np.float32))
    assert not np.shares_memory(first, scratch.array("b", (10, 4), np.float32))
    others = []
    thread = Thread(target=lambda: others.append(scratch.array("a", (10, 4), np.float32)))
    thread.start()
    thread.join()
    assert not np.shares_memory(first, others[0])
    assert scratch.array("a", (20, 4), np.float64).shape == (20, 4)
    scratch.clear()
    assert not np.shares_memory(first, scratch.array("a", (10, 4), np.float32))
