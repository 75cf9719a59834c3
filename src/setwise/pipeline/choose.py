"""``--model auto``: sensible models compared on held-out rows, within a budget of time.

Each candidate learns from the same rows, at most ``MOST_ROWS`` of them, and is judged by the
measure of the target on the same others. A small trial first tells what it would cost: one that
does not fit into the budget, in comparison or in the last fit on all rows, is left out and said so.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.labels import distinct_sets
from setwise.data.split import holdout
from setwise.errors import NotConverged
from setwise.metrics import set_measures
from setwise.models import BinaryRelevance
from setwise.pipeline.build import RERANKED, Choice, bare_model, folds_of
from setwise.pipeline.settings import FitSettings

MOST_ROWS = 8000  # that candidates learn from
JUDGES = 0.25  # the share of these that judge
SMALL = 8  # a trial has so much less rows
MOST_SETS_OF_POWERSET = 300
SHORT_SETS = 1.5  # labels a row, up to which few candidates are enough
#: What is measured for a target, and whether more of it is better.
MEASURES = {
    "set_accuracy": ("set_accuracy", True),
    "f1": ("instance_f1", True),
    "f1_calibrated": ("instance_f1", True),
    "f1_threshold": ("instance_f1", True),
    "hamming": ("hamming_loss", False),
    "micro_f1": ("micro_f1", True),
    "jaccard": ("instance_jaccard", True),
    "macro_f1": ("label_f1", True),
}

Say = Callable[[str], None]


@dataclass(frozen=True)
class Trial:
    """How a candidate did, or why it was not tried."""

    model: str
    options: dict[str, Any]
    value: float | None  # of the target's measure
    seconds: float  # of the comparison
    expected: float  # seconds of the last fit on all rows
    note: str = ""


@dataclass(frozen=True)
class Chosen:
    """The winner, all trials, and the reason in a sentence."""

    choice: Choice
    trials: list[dict[str, Any]]
    reason: str


def candidates_for(settings: FitSettings, Y: sparse.csr_array, C: float) -> list[Choice]:
    """What is worth comparing, the cheapest first; C is for binary relevance."""
    found = [Choice("BinaryRelevance", {"C": C})]
    if settings.target == "set_accuracy":
        # Where most rows have one label, the right set is nearly always among the first five.
        is_short = Y.nnz < SHORT_SETS * Y.shape[0]
        found.append(Choice(RERANKED, {"C": C, "n_candidates": 5 if is_short else 10}))
    if len(distinct_sets(Y)) <= MOST_SETS_OF_POWERSET:
        found.append(Choice("PowerSet"))
    return [*found, Choice("CBM")]


def choose(
    X: Any, Y: sparse.csr_array, groups: Any, settings: FitSettings, say: Say = lambda _: None
) -> Chosen:
    """The candidate that is best on held-out rows."""
    measure, more_is_better = MEASURES[settings.target]
    rows = _some_rows(Y.shape[0], settings.seed)
    part = None if groups is None else groups[rows]
    train, judges = holdout(Y[rows], test_size=JUDGES, groups=part, random_state=settings.seed)
    train, judges = rows[train], rows[judges]
    begin = time.perf_counter()
    trials: list[Trial] = []
    say("choosing a penalty for binary relevance")
    C = _best_C(X[train], Y[train], settings)
    for choice in candidates_for(settings, Y, C):
        left = settings.budget - (time.perf_counter() - begin)
        say(f"trying {choice.name} on {len(train):,} rows")
        trials.append(_tried(choice, X, Y, train, judges, settings, left, bool(trials)))
    tried = [trial for trial in trials if trial.value is not None]
    sign = 1 if more_is_better else -1
    best = max(tried, key=lambda trial: sign * (trial.value or 0.0))
    return Chosen(
        Choice(best.model, best.options),
        [asdict(trial) for trial in trials],
        _reason(best, trials, measure, len(judges)),
    )


def _best_C(X: Any, Y: sparse.csr_array, settings: FitSettings) -> float:
    """The penalty that held-out rows like best, found once for all that build on it."""
    model = BinaryRelevance(C="auto", random_state=settings.seed, n_jobs=settings.jobs)
    return float(model.with_chosen_C(X, Y).C)


def _tried(
    choice: Choice,
    X: Any,
    Y: sparse.csr_array,
    train: np.ndarray,
    judges: np.ndarray,
    settings: FitSettings,
    left: float,
    may_skip: bool,
) -> Trial:
    with warnings.catch_warnings():  # the last fit warns of what matters
        warnings.simplefilter("ignore", NotConverged)
        few = train[::SMALL]
        small = _timed(choice, X, Y, few, settings)[1]
        if may_skip and _cost(choice, small, len(few), len(train), Y.shape[0], settings) > left:
            # A first call may have had to load or compile what later ones have.
            small = min(small, _timed(choice, X, Y, few, settings)[1])
        cost = _cost(choice, small, len(few), len(train), Y.shape[0], settings)
        if may_skip and cost > left:
            note = f"would take about {cost:.0f} s, and {max(left, 0):.0f} s were left"
            return Trial(choice.name, choice.options, None, small, cost, note)
        model, seconds = _timed(choice, X, Y, train, settings)
        measures = set_measures(Y[judges], sparse.csr_array(model.predict(X[judges])))
    value = measures[MEASURES[settings.target][0]]
    last = _last_fit(choice, seconds, Y.shape[0] / len(train), settings)
    note = ""
    if may_skip and last > left - seconds:
        note = f"too slow for the last fit, which would take about {last:.0f} s"
        return Trial(choice.name, choice.options, None, seconds, last, note)
    return Trial(choice.name, choice.options, value, seconds, last)


def _timed(
    choice: Choice, X: Any, Y: sparse.csr_array, rows: np.ndarray, settings: FitSettings
) -> tuple[Any, float]:
    begin = time.perf_counter()
    model = bare_model(choice, settings).fit(X[rows], Y[rows])
    return model, time.perf_counter() - begin


def _cost(
    choice: Choice, seconds: float, few: int, some: int, every: int, settings: FitSettings
) -> float:
    """Seconds of comparison and last fit, if those on a few rows grow as their number does."""
    expected = seconds * some / few
    return expected + _last_fit(choice, expected, every / some, settings)


def _last_fit(choice: Choice, seconds: float, ratio: float, settings: FitSettings) -> float:
    """Seconds on all rows: a calibrator fits each fold's model too, a reranker has done so."""
    return seconds * ratio * (1 if choice.name == RERANKED else folds_of(settings) + 1)


def _reason(best: Trial, trials: list[Trial], measure: str, n: int) -> str:
    words = measure.replace("_", " ").replace("f1", "F1")
    rivals = [
        f"{trial.model} {trial.value:.4f}"
        for trial in trials
        if trial is not best and trial.value is not None
    ]
    against = f" (against {', '.join(rivals)})" if rivals else ""
    left_out = [f"{trial.model} was left out: {trial.note}" for trial in trials if trial.note]
    sentence = (
        f"{best.model} has the best {words} on {n:,} held-out rows: {best.value:.4f}{against}"
    )
    return "; ".join([sentence, *left_out])


def _some_rows(n: int, seed: int) -> np.ndarray:
    """Row numbers, as many as candidates are given in all, in rising order."""
    most = int(MOST_ROWS / (1 - JUDGES))
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])
