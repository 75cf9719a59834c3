"""What learns the labels and the gate, by name."""

from __future__ import annotations

from typing import Any

from setwise.errors import DataError
from setwise.models.cbm.component import Labels
from setwise.models.cbm.em import Gate
from setwise.models.cbm.linear import LinearGate, LinearLabels
from setwise.models.cbm.shared import LinearShared, SharedLabels
from setwise.models.cbm.tree_gate import TreeGate

LEARNERS = ("logistic",)


def make_labels(
    learner: Any, *, C: float, steps: int, smoothing: float, random_state: int | None
) -> Labels:
    """Classifiers of one component's labels, not fitted."""
    if learner == "logistic":
        return LinearLabels(C, steps, smoothing, random_state)
    raise DataError(f"learner must be one of {', '.join(LEARNERS)}; got {learner!r}")


def make_shared(learner: Any, *, C: float, steps: int) -> SharedLabels:
    """Classifiers of all components' labels, not fitted."""
    if learner == "logistic":
        return LinearShared(C, steps)
    raise DataError(f'sharing="labels" needs learner="logistic"; got {learner!r}')


def make_gate(gate: Any, *, C: float, steps: int) -> Gate:
    """A gate, not fitted."""
    if gate == "logistic":
        return LinearGate(C, steps)
    if gate == "tree":
        return TreeGate(C, steps)
    raise DataError(f"gate must be one of {', '.join((*LEARNERS, 'tree'))}; got {gate!r}")
