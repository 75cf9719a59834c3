"""What learns the labels and the gate, by name."""

from __future__ import annotations

from typing import Any

from setwise.errors import DataError
from setwise.learners.adapt import weight_keyword
from setwise.models.cbm.adapted import ClassifierGate, ClassifierLabels
from setwise.models.cbm.boosted import BoostedGate, BoostedLabels
from setwise.models.cbm.component import Labels
from setwise.models.cbm.elastic import ElasticGate, ElasticLabels
from setwise.models.cbm.em import Gate
from setwise.models.cbm.linear import LinearGate, LinearLabels
from setwise.models.cbm.shared import LinearShared, SharedLabels
from setwise.models.cbm.shared_boosted import BoostedShared
from setwise.models.cbm.tree_gate import TreeGate

LEARNERS = ("logistic", "elastic", "boosting")
GATES = (*LEARNERS, "tree")


def check_learners(learner: Any, gate: Any) -> None:
    """Refuse what is no learner, before anything is learnt."""
    _check("learner", LEARNERS, learner)
    _check("gate", GATES, gate)


def _check(what: str, names: tuple[str, ...], given: Any) -> None:
    if isinstance(given, str) and given in names:
        return
    if isinstance(given, str | type) or not hasattr(given, "predict_proba"):
        raise DataError(
            f"{what} must be one of {', '.join(names)}, or a scikit-learn classifier with "
            f"predict_proba; got {given!r}"
        )
    if weight_keyword(given) is None:
        raise DataError(
            f"{type(given).__name__}.fit takes no sample_weight, which a mixture needs; "
            f"choose another {what}"
        )


def is_in_basis(learner: Any) -> bool:
    """Whether a learner works in a basis of uncorrelated coordinates."""
    return isinstance(learner, str) and learner in ("logistic", "tree")


def needs_scaling(*learners: Any) -> bool:
    """Whether there is a penalty on weights: trees, and what others bring, take features as is."""
    return any(isinstance(learner, str) and learner != "boosting" for learner in learners)


def make_labels(
    learner: Any,
    *,
    C: float,
    l1_ratio: float,
    steps: int,
    smoothing: float,
    random_state: int | None,
) -> Labels:
    """Classifiers of one component's labels, not fitted; names are those of ``LEARNERS``."""
    if not isinstance(learner, str):
        return ClassifierLabels(learner)
    if learner == "logistic":
        return LinearLabels(C, steps, smoothing, random_state)
    if learner == "elastic":
        return ElasticLabels(C, l1_ratio, steps, smoothing)
    return BoostedLabels(steps, smoothing, random_state)


def make_shared(
    learner: Any, *, C: float, steps: int, smoothing: float, random_state: int | None
) -> SharedLabels:
    """Classifiers of all components' labels, not fitted."""
    if isinstance(learner, str) and learner == "logistic":
        return LinearShared(C, steps)
    if isinstance(learner, str) and learner == "boosting":
        return BoostedShared(steps, smoothing, random_state)
    raise DataError(
        f'sharing="labels" needs learner="logistic" or learner="boosting"; got {learner!r}'
    )


def make_gate(
    gate: Any, *, C: float, l1_ratio: float, steps: int, random_state: int | None
) -> Gate:
    """A gate, not fitted; names are those of ``GATES``."""
    if not isinstance(gate, str):
        return ClassifierGate(gate)
    if gate == "logistic":
        return LinearGate(C, steps)
    if gate == "elastic":
        return ElasticGate(C, l1_ratio, steps)
    if gate == "boosting":
        return BoostedGate(steps, random_state)
    return TreeGate(C, steps, random_state=random_state)
