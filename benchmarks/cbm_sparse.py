"""What the sparse structure saves: ``python benchmarks/cbm_sparse.py [rcv1sub1|debtags]``.

The same mixture is fitted twice in one process, with the same settings and threads: with the
default thresholds, by which a row takes part in few components and a component has classifiers for
few labels (Li 2019, section 3.5), and with both at zero, where every component learns every label
that varies from every row. Whole fits are compared, each with the rounds that it takes itself, and
their set accuracy on the same test rows.

A dense fit of debtags would take hours. Its rounds are those of a mixture with fewer components,
measured, and multiplied: its work is proportional to their number. Rounds that were not measured
count as much as the last that was, which is the cheapest. Such lines say "extrapolated". Accuracy
is then that of both structures with the fewer components and rounds.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import setwise as sw
from setwise.data import Dataset, load_dataset
from setwise.experiments.entries import ENTRIES
from setwise.experiments.measuring import prepared

DENSE: dict[str, Any] = {"min_responsibility": 0.0, "min_label_share": 0.0}
AIM, WITHIN = 3.0, 0.005  # the ratio to reach, and what set accuracy may differ by


@dataclass(frozen=True)
class Case:
    """A data set, a mixture, and a smaller one where the dense side is extrapolated."""

    name: str
    K: int
    C: float
    repeats: int  # of the sparse fit, of which the fastest counts
    smaller_K: int | None = None
    fewer_rounds: int = 20


CASES = (
    Case("rcv1sub1", 45, 10.0, 3),
    Case("debtags", 60, 30.0, 2, smaller_K=4, fewer_rounds=3),
)


@dataclass(frozen=True)
class Fit:
    """One fit: how long it took, in all and in its rounds, and how well it predicts."""

    seconds: float
    rounds: list[float]
    accuracy: float

    @property
    def outside_rounds(self) -> float:
        """Scaling, and the start by labels alone."""
        return self.seconds - sum(self.rounds)


def fitted(case: Case, data: Dataset, structure: str, K: int, max_iter: int = 20) -> Fit:
    """Fit the training rows, measure on the test rows, and print a line."""
    Y, truth = (data.labels.encode(part) for part in (data.Y_train, data.Y_test))
    thresholds = DENSE if structure == "dense" else {}
    begin = perf_counter()
    model = sw.CBM(K, C=case.C, max_iter=max_iter, random_state=0, **thresholds)
    model.fit(data.X_train, Y)
    seconds = perf_counter() - begin
    predicted = model.predict_dist(data.X_test).mode()[0]
    rounds = [done["seconds"] for done in model.history_]
    fit = Fit(seconds, rounds, sw.metrics.set_accuracy(truth, predicted))
    print(
        f"{case.name}, K = {K}, {structure}: {seconds:.1f} s, {len(rounds)} rounds, "
        f"set accuracy {fit.accuracy:.4f}",
        flush=True,
    )
    return fit


def extrapolated(sparse: Fit, small: Fit, factor: float) -> float:
    """Seconds of a dense fit, from one with fewer components, with as many rounds as the sparse."""
    missing = len(sparse.rounds) - len(small.rounds)
    return sparse.outside_rounds + factor * (sum(small.rounds) + missing * small.rounds[-1])


def compare(case: Case) -> None:
    """Print how both did."""
    data = prepared(ENTRIES["cbm-debtags"], load_dataset(case.name))
    sw.CBM(3, max_iter=1).fit(data.X_train[:500], data.Y_train[:500])  # compile
    fits = [fitted(case, data, "sparse", case.K) for _ in range(case.repeats)]
    ours = min(fits, key=lambda fit: fit.seconds)
    if case.smaller_K is None:
        small, theirs = ours, fitted(case, data, "dense", case.K)
        seconds, how = theirs.seconds, "measured"
    else:
        small, theirs = (
            fitted(case, data, structure, case.smaller_K, case.fewer_rounds)
            for structure in ("sparse", "dense")
        )
        seconds = extrapolated(ours, theirs, case.K / case.smaller_K)
        how = f"extrapolated from {len(theirs.rounds)} rounds, K = {case.smaller_K}"
    print(
        f"{case.name}: ours {ours.seconds:.1f} s, theirs {seconds:.0f} s ({how}), ratio "
        f"{seconds / ours.seconds:.1f} (to reach {AIM:.0f}); set accuracy {small.accuracy:.4f} and "
        f"{theirs.accuracy:.4f} (ours at most {WITHIN} below)",
        flush=True,
    )


def main() -> None:
    """Print a comparison for each case."""
    warnings.simplefilter("ignore")
    for case in CASES:
        if case.name in (sys.argv[1:] or [case.name for case in CASES]):
            compare(case)


if __name__ == "__main__":
    main()
