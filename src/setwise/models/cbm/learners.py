"""What learns the labels and the gate, by name."""

from __future__ import annotations

from typing import Any

from setwise.errors import DataError
from setwise.models.cbm.component import Labels
from setwise.models.cbm.em import Gate
from setwise.models.cbm.linear import LinearGate, LinearLabels

LEARNERS = ("logistic",)


def make_labels(learner: Any, *, C: float, steps: int, random_state: int | None) -> Labels:
    """Classifiers of one component's labels, not fitted."""
    if learner == "logistic":
        return LinearLabels(C, steps, random_state)
    raise DataError(f"learner must be one of {', '.join(LEARNERS)}; got {learner!r}")


def make_gate(gate: Any, *, C: float, steps: int) -> Gate:
    """A gate, not fitted."""
    if gate == "logistic":
        return LinearGate(C, steps)
    raise DataError(f"gate must be one of {', '.join(LEARNERS)}; got {gate!r}")
