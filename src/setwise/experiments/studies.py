"""The studies there are, by name."""

from __future__ import annotations

from setwise.experiments.accepting import ACCEPTING
from setwise.experiments.calibration_table import CALIBRATION
from setwise.experiments.noise_study import NOISE
from setwise.experiments.reranking import RERANKING, RERANKING_CBM, RERANKING_COUNTS
from setwise.experiments.study import Study

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        CALIBRATION,
        RERANKING,
        RERANKING_COUNTS,
        RERANKING_CBM,
        NOISE,
        ACCEPTING,
    )
}
