import re

import numpy as np
import pytest

from setwise.errors import StorageError
from setwise.learners import BoostedBank
from setwise.learners.tree_text import checked_text


@pytest.fixture(scope="module")
def text():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    bank = BoostedBank(n_trees=4, n_jobs=1).fit(X, (X[:, :2] > 0).astype(float))
    (stage,) = bank.trees_
    return stage[0]


def test_whole_trees_pass_without_their_offsets(text):
    checked = checked_text(text)
    assert "tree_sizes" in text
    assert "tree_sizes" not in checked
    assert checked.count("Tree=") == text.count("Tree=") == 8


def edited(text, key, change):
    """The text with the first list of that key changed."""
    found = re.search(rf"^{key}=(.*)$", text, re.MULTILINE)
    return text[: found.start(1)] + change(found[1]) + text[found.end(1) :]


@pytest.mark.parametrize(
    ("key", "change", "sentence"),
    [
        ("split_feature", lambda v: "999 " + v.split(" ", 1)[1], "feature that is not there"),
        ("split_feature", lambda v: "-1 " + v.split(" ", 1)[1], "feature that is not there"),
        ("split_feature", lambda v: v + " 0", "split_feature is not"),
        ("left_child", lambda v: "7 " + v.split(" ", 1)[1], "do not hang together"),
        ("left_child", lambda v: "0 " + v.split(" ", 1)[1], "do not hang together"),
        ("right_child", lambda v: "x " + v.split(" ", 1)[1], "right_child is not"),
        ("leaf_value", lambda v: v.split(" ", 1)[1], "as many values as leaves"),
        ("threshold", lambda v: v.split(" ", 1)[1], "as many thresholds as splits"),
        ("decision_type", lambda v: "1 " + v.split(" ", 1)[1], "feature that is not there"),
        ("num_leaves", lambda v: "99999999", "as many values as leaves"),
        ("num_leaves", lambda v: "9" * 30, "num_leaves is not 1 whole number"),
        ("num_cat", lambda v: "1", "not written here"),
        ("num_tree_per_iteration", lambda v: "3", "same number for each target"),
        ("max_feature_idx", lambda v: "0", "feature that is not there"),
    ],
)
def test_trees_that_are_not_whole_are_refused(text, key, change, sentence):
    with pytest.raises(StorageError, match=sentence):
        checked_text(edited(text, key, change))


def test_a_tree_that_runs_in_a_circle_is_refused():
    tree = {
        "num_leaves": "4",
        "num_cat": "0",
        "split_feature": "0 0 0",
        "threshold": "0 0 0",
        "decision_type": "2 2 2",
        "left_child": "-1 2 1",
        "right_child": "-2 -3 -4",
        "leaf_value": "1 2 3 4",
    }
    lines = "\n".join(f"{key}={value}" for key, value in tree.items())
    with pytest.raises(StorageError, match="runs in a circle"):
        checked_text(
            f"max_feature_idx=0\nnum_tree_per_iteration=1\n\nTree=0\n{lines}\n\nend of trees\n"
        )
