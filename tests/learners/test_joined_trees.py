import lightgbm
import numpy as np
import pytest

from setwise.learners.boosted_trees import read_trees
from setwise.learners.joined_trees import joined, retargeted, shortened


@pytest.fixture(scope="module")
def booster():
    """Three classes, six iterations."""
    rng = np.random.default_rng(0)
    rows = lightgbm.Dataset(rng.normal(size=(200, 4)), rng.integers(0, 3, 200))
    return lightgbm.train({"objective": "multiclass", "num_class": 3, "verbosity": -1}, rows, 6)


def predicted(text):
    return read_trees([text])[0].predict(np.eye(4), raw_score=True)


def test_joined_parts_are_the_whole(booster):
    first, rest = booster.model_to_string(4), booster.model_to_string(2, 4)
    expected = booster.predict(np.eye(4), raw_score=True)
    np.testing.assert_allclose(predicted(joined(first, rest)), expected, rtol=1e-12)
    assert joined(first, shortened(rest, 0)) == first


@pytest.mark.parametrize("size", [1, 4, 6, 9])
def test_shortened_trees_are_the_first(booster, size):
    text = shortened(booster.model_to_string(), size)
    expected = booster.predict(np.eye(4), raw_score=True, num_iteration=min(size, 6))
    np.testing.assert_allclose(predicted(text), expected, rtol=1e-12)


def test_no_trees_say_nothing(booster):
    np.testing.assert_array_equal(predicted(shortened(booster.model_to_string(), 0)), 0)


def test_retargeted_trees_are_those_of_their_targets(booster):
    text = retargeted(booster.model_to_string(), [2, -1, 0, 1, -1])
    expected = booster.predict(np.eye(4), raw_score=True)
    found = predicted(text)
    np.testing.assert_allclose(found[:, [0, 2, 3]], expected[:, [2, 0, 1]], rtol=1e-12)
    np.testing.assert_array_equal(found[:, [1, 4]], 0)
    np.testing.assert_allclose(predicted(retargeted(text, [2])), expected[:, 0], rtol=1e-12)
