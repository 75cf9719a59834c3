"""HOW SURE: calibrated confidence of label sets, reranking, and what may be accepted unread.

| file | what |
|---|---|
| candidates.py, prior.py, features.py | sets that may be the answer, and what speaks for each |
| labelwise.py | single labels, calibrated |
| first_stage.py, cross_fit.py | models, curves and counts that have not seen a row judge it |
| kinds.py, confidence.py | calibrators: none, constant, isotonic, trees, boosting |
| set_calibrator.py, rerank.py, normalise.py | the estimators |
| noise.py, robust_*.py, noise_rates.py, noisy_labels.py | annotators who err |
| autoaccept.py, accept_curve.py, promise_check.py | what may be sent off unread |
| plots.py | pictures of all of it: reliability_plots.py, coverage_plots.py |
"""

from setwise.calibration.accept_curve import AccuracyCoverage, accuracy_coverage
from setwise.calibration.autoaccept import AutoAccept
from setwise.calibration.labelwise import LabelCalibrator
from setwise.calibration.noise import NoiseRates
from setwise.calibration.rerank import BRRerank, Reranker
from setwise.calibration.set_calibrator import SetCalibrator

__all__ = [
    "AccuracyCoverage",
    "AutoAccept",
    "BRRerank",
    "LabelCalibrator",
    "NoiseRates",
    "Reranker",
    "SetCalibrator",
    "accuracy_coverage",
]
