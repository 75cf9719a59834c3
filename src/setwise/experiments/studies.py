"""The studies there are, by name."""

from __future__ import annotations

from setwise.experiments.accepting import ACCEPTING, ACCEPTING_ANEW
from setwise.experiments.artificial_study import ARTIFICIAL
from setwise.experiments.calibration_table import CALIBRATION
from setwise.experiments.component_study import COMPONENTS
from setwise.experiments.noise_study import NOISE
from setwise.experiments.reranking import (
    RERANKING,
    RERANKING_CALIBRATORS,
    RERANKING_CBM,
    RERANKING_COUNTS,
)
from setwise.experiments.study import Study
from setwise.experiments.topic_presets import TOPIC_PRESETS
from setwise.experiments.topic_study import FREQUENCY, YAHOO

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        ARTIFICIAL,
        COMPONENTS,
        CALIBRATION,
        RERANKING,
        RERANKING_COUNTS,
        RERANKING_CALIBRATORS,
        RERANKING_CBM,
        NOISE,
        ACCEPTING,
        ACCEPTING_ANEW,
        YAHOO,
        FREQUENCY,
        TOPIC_PRESETS,
    )
}
