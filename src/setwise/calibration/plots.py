"""Figures of confidence: is it true, how far does it spread, what can be accepted unseen.

After the figures of Li 2019 (thesis), chapter 4. Each ``plot_`` takes arrays and returns axes; the
numbers behind it come from a function that needs no matplotlib:

    plot_reliability, plot_before_after, plot_noise    reliability_curves    (figures 4.1-4.9)
    plot_accuracy_coverage                             accuracy_coverage
    plot_sharpness                                     confidence_shares
    plot_candidates                                    its own arguments     (figure 4.6)
"""

from setwise.calibration.accept_curve import accuracy_coverage
from setwise.calibration.coverage_plots import (
    confidence_shares,
    plot_accuracy_coverage,
    plot_candidates,
    plot_sharpness,
)
from setwise.calibration.reliability_plots import (
    ReliabilityCurve,
    plot_before_after,
    plot_noise,
    plot_reliability,
    reliability_curves,
    wilson_interval,
)

__all__ = [
    "ReliabilityCurve",
    "accuracy_coverage",
    "confidence_shares",
    "plot_accuracy_coverage",
    "plot_before_after",
    "plot_candidates",
    "plot_noise",
    "plot_reliability",
    "plot_sharpness",
    "reliability_curves",
    "wilson_interval",
]
