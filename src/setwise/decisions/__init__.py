"""PICK: the label set that is best for a metric, given p(y|x).

================  =====================  =========================================================
target            rule                   what it takes
================  =====================  =========================================================
set_accuracy      `MostLikelySet`        the mode
f1                `ExpectedF1`           GFM on exact size marginals
f1_calibrated     `CalibratedF1`         GFM on calibrated size marginals (tuned)
hamming           `LikelyLabels`         marginals over one half
micro_f1          `MicroF1Threshold`     marginals over one tuned threshold
f1_threshold      `InstanceF1Threshold`  marginals over one tuned threshold
jaccard           `JaccardThreshold`     marginals over one tuned threshold
macro_f1          `MacroF1Thresholds`    marginals over a tuned threshold for each label
================  =====================  =========================================================

``SampledMode`` looks for the most likely set by sampling, where a distribution has no better way.
"""

from setwise.decisions.base import Decision
from setwise.decisions.expected_f1 import (
    CalibratedF1,
    ExpectedF1,
    ExpectedF1Answer,
    maximise_f1,
)
from setwise.decisions.pointwise import LikelyLabels, MostLikelySet, rank_labels
from setwise.decisions.sampled_mode import SampledMode
from setwise.decisions.thresholds import (
    InstanceF1Threshold,
    JaccardThreshold,
    MacroF1Thresholds,
    MicroF1Threshold,
)
from setwise.errors import DataError

DECISIONS: dict[str, type[Decision]] = {
    decision.target: decision
    for decision in (
        MostLikelySet,
        ExpectedF1,
        CalibratedF1,
        LikelyLabels,
        MicroF1Threshold,
        InstanceF1Threshold,
        JaccardThreshold,
        MacroF1Thresholds,
    )
}


def decision_for(target: str | Decision) -> Decision:
    """The rule that is best for a metric: a new one by its name, or the rule itself.

    >>> decision_for("hamming").needs_tuning
    False
    """
    if isinstance(target, Decision):
        return target
    if target not in DECISIONS:
        raise DataError(f"target must be one of {', '.join(DECISIONS)}, got {target!r}")
    return DECISIONS[target]()


__all__ = [
    "DECISIONS",
    "CalibratedF1",
    "Decision",
    "ExpectedF1",
    "ExpectedF1Answer",
    "InstanceF1Threshold",
    "JaccardThreshold",
    "LikelyLabels",
    "MacroF1Thresholds",
    "MicroF1Threshold",
    "MostLikelySet",
    "SampledMode",
    "decision_for",
    "maximise_f1",
    "rank_labels",
]
