"""Trees as LightGBM writes them, checked before LightGBM reads them.

Its reader is native code that trusts what it reads: a child or a feature out of range would make it
touch memory that is not its own. So a stored text is taken apart here first, and refused unless
every tree is a whole binary tree over features that exist.
"""

from __future__ import annotations

import re

from setwise.errors import StorageError

_PLAIN = re.compile(r"-?\d{1,9}")
_CATEGORICAL = 1  # the bit of a decision type that stands for sets of categories


def checked_text(text: str) -> str:
    """The text, if its trees are whole; without the offsets that LightGBM would jump to."""
    header, *trees = re.split(r"^Tree=\d+$", text.split("end of trees")[0], flags=re.MULTILINE)
    facts = _facts(header)
    n_features = _integers(facts, "max_feature_idx", 1)[0] + 1
    if len(trees) > 0 and len(trees) % max(1, _integers(facts, "num_tree_per_iteration", 1)[0]):
        raise _damaged("the trees are not the same number for each target")
    for tree in trees:
        _check_tree(_facts(tree), n_features)
    return re.sub(r"^tree_sizes=.*\n", "", text, flags=re.MULTILINE)


def _check_tree(facts: dict[str, str], n_features: int) -> None:
    n_leaves = _integers(facts, "num_leaves", 1)[0]
    if n_leaves < 1 or facts.get("num_cat", "0") != "0" or facts.get("is_linear", "0") != "0":
        raise _damaged("a tree is of a kind that is not written here")
    if len(facts.get("leaf_value", "").split()) != n_leaves:
        raise _damaged("a tree has not as many values as leaves")
    if n_leaves == 1:
        return
    n_splits = n_leaves - 1
    features, kinds = (
        _integers(facts, key, n_splits) for key in ("split_feature", "decision_type")
    )
    children = _integers(facts, "left_child", n_splits) + _integers(facts, "right_child", n_splits)
    if len(facts.get("threshold", "").split()) != n_splits:
        raise _damaged("a tree has not as many thresholds as splits")
    if min(features) < 0 or max(features) >= n_features or any(k & _CATEGORICAL for k in kinds):
        raise _damaged("a tree splits a feature that is not there")
    # Every node but the root is somebody's child, once: splits from 1 on, leaf i as -(i + 1).
    if sorted(children) != [*range(-n_leaves, 0), *range(1, n_splits)]:
        raise _damaged("the nodes of a tree do not hang together")
    if any(0 <= child <= number % n_splits for number, child in enumerate(children)):
        raise _damaged("a tree runs in a circle")


def _facts(block: str) -> dict[str, str]:
    """The lines ``key=value`` of a block."""
    lines = (line.partition("=") for line in block.splitlines())
    return {key: value for key, equals, value in lines if equals}


def _integers(facts: dict[str, str], key: str, count: int) -> list[int]:
    words = facts.get(key, "").split()
    if len(words) != count or not all(map(_PLAIN.fullmatch, words)):
        raise _damaged(f"{key} is not {count} whole number{'s' * (count != 1)}")
    return [int(word) for word in words]


def _damaged(problem: str) -> StorageError:
    return StorageError(f"the boosted trees are damaged: {problem}; save the model again")
