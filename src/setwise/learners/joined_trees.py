"""Trees as LightGBM writes them, made longer and shorter, and for other targets.

A text is a header, the trees, and a footer that readers need not understand; tree after tree is
added without the numbers being put right, as LightGBM does not read them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_TREE = re.compile(r"^Tree=\d+$", flags=re.MULTILINE)
_END = "end of trees"
# A tree that is a leaf, and says nothing.
_NOTHING = """Tree=0
num_leaves=1
num_cat=0
split_feature=
split_gain=
threshold=
decision_type=
left_child=
right_child=
leaf_value=0
leaf_weight=
leaf_count=
internal_value=
internal_weight=
internal_count=
is_linear=0
shrinkage=1


"""


def joined(text: str, more: str) -> str:
    """The trees of ``text`` and then those of ``more``, which may have none."""
    first, end = _TREE.search(more), text.rindex(_END)
    trees = more[first.start() : more.rindex(_END)] if first else ""
    return text[:end] + trees + text[end:]


def shortened(text: str, n_iterations: int) -> str:
    r"""The first ``n_iterations`` trees of each target.

    >>> lines = ["num_tree_per_iteration=1", "Tree=0", "...", "Tree=1", "...", "end of trees"]
    >>> shortened("\n".join(lines), 1).splitlines()
    ['num_tree_per_iteration=1', 'Tree=0', '...', 'end of trees']
    """
    starts = [match.start() for match in _TREE.finditer(text)]
    n_kept = n_iterations * _n_targets(text)
    if n_kept >= len(starts):
        return text
    return text[: starts[n_kept]] + text[text.rindex(_END) :]


def retargeted(text: str, sources: Sequence[int]) -> str:
    r"""The trees of the targets ``sources`` (L,), in that order; -1 stands for a new target.

    >>> lines = ["num_class=2", "num_tree_per_iteration=2", "Tree=0", "Tree=1", "end of trees"]
    >>> retargeted("\n".join(lines), [1]).splitlines()
    ['num_class=1', 'num_tree_per_iteration=1', 'Tree=1', 'end of trees']
    """
    n_before, end = _n_targets(text), text.rindex(_END)
    starts = [match.start() for match in _TREE.finditer(text)] + [end]
    trees = [text[start:stop] for start, stop in pairwise(starts)]
    chosen = [
        _NOTHING if source < 0 else trees[first + source]
        for first in range(0, len(trees), n_before)
        for source in sources
    ]
    count = r"^(num_class|num_tree_per_iteration)=\d+$"
    header = re.sub(count, rf"\1={len(sources)}", text[: starts[0]], flags=re.MULTILINE)
    return header + "".join(chosen) + text[end:]


def _n_targets(text: str) -> int:
    found = re.search(r"^num_tree_per_iteration=(\d+)$", text, flags=re.MULTILINE)
    return int(found[1]) if found else 1
