"""Figures 6, 7, 10, 11 and 13 of Rubin 2012 on the Yahoo! data, and Figure 12 on data at hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise.data import holdout, load_dataset
from setwise.experiments.study import Measured, ResultTable, Study, figure
from setwise.metrics import (
    average_precision,
    cutoff_f1,
    mean_average_precision,
    ranking_measures,
)
from setwise.models import DependencyLDA, FlatLDA, PriorLDA, TunedSVM

RANKS = (
    *("auc_pr", "auc_roc", "average_precision", "ranking_loss"),
    *("one_error", "is_error", "margin"),
)
LESS = ("ranking_loss", "one_error", "is_error", "margin")
PERCENT = ("ranking_loss", "one_error", "is_error")
CUTS = tuple((c, a) for c in ("proportional", "calibrated", "bep") for a in ("macro", "micro"))
MEASURES = (*RANKS, *(f"F1 {cut} {average}" for cut, average in CUTS))
PIVOTS = ("document", "label")
#: Rows of Figures 6 and 7 (by document), 10 and 11 (by label), in the order of MEASURES.
_BY_DOCUMENT = """\
yahoo_arts SVM 0.553 0.828 0.565 17.15 55.5 68.3 4.28 0.376 0.339 0.42 0.397 0.648 0.502
yahoo_arts TunedSVM 0.615 0.833 0.625 16.71 44.2 60.9 4.28 0.461 0.425 0.508 0.482 0.689 0.519
yahoo_arts DependencyLDA 0.619 0.855 0.63 14.51 45.4 62.4 3.76 0.454 0.416 0.494 0.464 0.698 0.548
yahoo_arts PriorLDA 0.607 0.853 0.619 14.67 46.8 64.6 3.87 0.448 0.406 0.479 0.439 0.69 0.545
yahoo_arts FlatLDA 0.579 0.81 0.589 18.99 47.1 66.7 5.01 0.438 0.403 0.464 0.431 0.66 0.496
yahoo_health SVM 0.682 0.887 0.694 11.3 44.1 58 2.21 0.463 0.428 0.574 0.573 0.763 0.687
yahoo_health TunedSVM 0.779 0.898 0.788 10.17 24.3 43 2.01 0.617 0.58 0.693 0.67 0.824 0.724
yahoo_health DependencyLDA 0.795 0.926 0.805 7.45 24.7 44.1 1.52 0.619 0.577 0.7 0.675 0.841 0.766
yahoo_health PriorLDA 0.738 0.909 0.75 9.06 34.3 53.9 1.89 0.543 0.503 0.629 0.613 0.803 0.736
yahoo_health FlatLDA 0.744 0.893 0.757 10.66 27 53.1 2.2 0.594 0.559 0.633 0.605 0.796 0.71
"""
_BY_LABEL = """\
yahoo_arts SVM 0.297 0.751 0.298 24.89 28.4 100 6370 0.325 0.428 0.324 0.429 0.35 0.42
yahoo_arts TunedSVM 0.329 0.757 0.33 24.25 27.4 100 6367 0.355 0.454 0.357 0.457 0.376 0.448
yahoo_arts DependencyLDA 0.339 0.755 0.341 24.49 44.2 100 6355 0.367 0.451 0.368 0.452 0.385 0.439
yahoo_arts PriorLDA 0.332 0.748 0.333 25.24 46.3 100 6378 0.358 0.44 0.359 0.442 0.378 0.419
yahoo_arts FlatLDA 0.328 0.749 0.329 25.09 46.3 100 6377 0.355 0.435 0.354 0.437 0.373 0.417
yahoo_health SVM 0.541 0.846 0.542 15.38 20 100 7965 0.548 0.638 0.553 0.641 0.571 0.65
yahoo_health TunedSVM 0.569 0.849 0.57 15.08 14.3 100 7968 0.571 0.656 0.575 0.658 0.593 0.669
yahoo_health DependencyLDA 0.568 0.85 0.569 15.03 17.1 100 7988 0.562 0.646 0.567 0.649 0.589 0.659
yahoo_health PriorLDA 0.526 0.82 0.526 18.04 17.1 100 8016 0.521 0.61 0.526 0.611 0.544 0.617
yahoo_health FlatLDA 0.513 0.813 0.514 18.69 15.7 100 8013 0.512 0.599 0.517 0.601 0.532 0.61
"""


def _figures(text: str) -> dict[tuple[str, str], list[float]]:
    rows = [line.split() for line in text.splitlines()]
    return {(row[0], row[1]): [float(cell) for cell in row[2:]] for row in rows}


PUBLISHED = {"document": _figures(_BY_DOCUMENT), "label": _figures(_BY_LABEL)}
N_LABELS = {"yahoo_arts": 19, "yahoo_health": 14}
MODELS = ("SVM", "TunedSVM", "DependencyLDA", "PriorLDA", "FlatLDA")
ROUNDED = 0.05  # per cent: published errors have one decimal
PRESET = "fast"
#: what is chosen on training rows: whether rows have sum one, as in the paper, or length one, and
#: what weight the prior has in the answer of Dependency-LDA (1 in the paper)
SCALES = tuple({"normalize": scale} for scale in ("l1", "l2"))
CHOICES: dict[str, tuple[dict[str, Any], ...]] = {
    "SVM": SCALES,
    "TunedSVM": SCALES,
    "DependencyLDA": tuple({"prior_weight": weight} for weight in (0.25, 0.5, 1.0)),
}


def model_of(
    name: str, seed: int, preset: str = PRESET, normalize: str = "l2", prior_weight: float = 1.0
) -> Any:
    """A model with the paper's settings for the Yahoo! data (Table 6), but for what is chosen."""
    common: dict[str, Any] = {"preset": preset, "calibration": "size", "random_state": seed}
    if name == "DependencyLDA":
        common |= {"eta": 100.0, "alpha": 1.0, "gamma": 1.0, "prior_weight": prior_weight}
        return DependencyLDA(n_topics=20, beta_labels=1.0, **common)
    if name == "PriorLDA":
        return PriorLDA(eta=70.0, alpha=30.0, beta_labels=10.0, **common)
    if name == "FlatLDA":
        return FlatLDA(alpha=100.0, **common)
    return TunedSVM(tune=name == "TunedSVM", normalize=normalize, random_state=seed)


def chosen(name: str, X: Any, Y: Any, seed: int) -> dict[str, Any]:
    """The best of a model's choices, by average precision on a fifth of the training rows."""
    choices = CHOICES.get(name, ({},))
    if len(choices) == 1:
        return choices[0]
    train, judge = holdout(Y, test_size=0.2, random_state=seed)

    def value(choice: dict[str, Any]) -> float:
        model = model_of(name, seed, **choice).fit(X[train], Y[train])
        return float(average_precision(Y[judge], model.rank_scores(X[judge])))

    return max(choices, key=value)


def fitted(name: str, X: Any, Y: Any, seed: int) -> Any:
    """A model that has learnt from training rows alone, and so were its choices made."""
    return model_of(name, seed, **chosen(name, X, Y, seed)).fit(X, Y)


def measure(name: str, split: int, part: str) -> dict[str, Any]:
    """All thirteen measures, by document and by label, of one model on one split."""
    data = load_dataset(name, split=split)
    model = fitted(part, data.X_train, data.Y_train, split)
    scores = model.rank_scores(data.X_test)
    return {"model": part, **{pivot: _measured(data, scores, pivot) for pivot in PIVOTS}}


def tabulate(measured: Measured) -> list[ResultTable]:
    """One table for each pivot, and how often each model is best."""
    tables = []
    best: dict[str, int] = dict.fromkeys(MODELS, 0)
    theirs_best: dict[str, int] = dict.fromkeys(MODELS, 0)
    by_document: dict[str, dict[str, np.ndarray]] = {}
    for pivot in PIVOTS:
        table = ResultTable(
            f"Topic models, {pivot}-pivoted (Rubin 2012, "
            f"Figures {'6, 7' if pivot == 'document' else '10, 11'})",
            ("data", "model", "measure", "ours", "published", "change", "held"),
            notes="Means and deviations over the five splits of the paper; losses and errors in "
            f"per cent. Sampling by the preset {PRESET!r}. On a fifth of the training rows SVMs "
            "choose whether rows have sum or length one, Dependency-LDA the weight of its prior in "
            "the answer: 0.25, 0.5 or, as in the paper, 1. Held: better, or within 2%; "
            "one-error by label within two of its steps, a label in a split.",
        )
        for name, runs in measured.items():
            means = _rows(table, name, runs, pivot)
            if pivot == "document":
                by_document[name] = means
            for place, what in enumerate(MEASURES):
                sign = -1 if what in LESS else 1
                best[max(means, key=lambda m: sign * means[m][place])] += 1
                theirs = {model: PUBLISHED[pivot][name, model] for model in means}
                theirs_best[max(theirs, key=lambda m: sign * theirs[m][place])] += 1
        tables.append(table)
    rows = [[model, best[model], theirs_best[model]] for model in MODELS]
    counted = ResultTable(
        "On how many measures is a model the best? (Rubin 2012, Figure 13)",
        ("model", "ours", "published"),
        rows,
        "Over all data sets and pivots here; the paper compares Dependency-LDA and tuned SVMs.",
    )
    return [*tables, ordering(by_document), counted]


def _measured(data: Any, scores: np.ndarray, pivot: str) -> list[float]:
    ranks = ranking_measures(data.Y_test, scores, pivot=pivot)
    values = [100 * ranks[name] if name in PERCENT else ranks[name] for name in RANKS]
    return values + [
        cutoff_f1(data.Y_test, scores, cut, pivot=pivot, average=average, Y_train=data.Y_train)
        for cut, average in CUTS
    ]


def _rows(table: ResultTable, name: str, runs: Any, pivot: str) -> dict[str, np.ndarray]:
    """Add the rows of a data set; the means of each model."""
    means = {}
    for model in dict.fromkeys(run["model"] for run in runs):
        values = np.array([run[pivot] for run in runs if run["model"] == model])  # (splits, 13)
        means[model] = values.mean(axis=0)
        theirs = PUBLISHED[pivot][name, model]
        for place, what in enumerate(MEASURES):
            ours = figure(values[:, place].tolist())
            change = f"{100 * (ours.mean / theirs[place] - 1):+.1f}%"
            kept = held(what, ours.mean, theirs[place], pivot, N_LABELS[name] * len(values))
            row = [name, model, what, str(ours), f"{theirs[place]:g}", change]
            table.rows.append([*row, "yes" if kept else "no"])
    return means


def held(what: str, ours: float, theirs: float, pivot: str, n_items: int) -> bool:
    """Whether a figure is as good as the published one, or near it.

    >>> held("auc_roc", 0.84, 0.85, "document", 70), held("auc_roc", 0.82, 0.85, "document", 70)
    (True, False)
    """
    worse = (ours - theirs) * (1 if what in LESS else -1)
    in_steps = what == "one_error" and pivot == "label"
    return bool(worse <= (200 / n_items + ROUNDED if in_steps else 0.02 * theirs) + 1e-9)


def ordering(means: dict[str, dict[str, np.ndarray]]) -> ResultTable:
    """On how many document-pivoted measures Dependency-LDA is better than the simpler models."""
    table = ResultTable(
        "Is Dependency-LDA better than the simpler models, by document?",
        ("data", "than", "better", "measures", "not better in"),
    )
    sign = np.array([-1 if what in LESS else 1 for what in MEASURES])
    for name, of_models in means.items():
        for rival in ("PriorLDA", "FlatLDA"):
            if {"DependencyLDA", rival} <= set(of_models):
                better = sign * (of_models["DependencyLDA"] - of_models[rival]) > 0
                rest = ", ".join(np.array(MEASURES)[~better])
                table.rows.append([name, rival, int(better.sum()), len(MEASURES), rest])
    return table


def measure_frequency(name: str, seed: int, part: str) -> dict[str, Any]:
    """Average precision of labels, by quintiles of their frequency in training."""
    data = load_dataset(name)
    n_train, n_test = (np.asarray(Y.sum(axis=0)).ravel() for Y in (data.Y_train, data.Y_test))
    tested = np.flatnonzero((n_train > 0) & (n_test > 0))
    quintiles = np.array_split(tested[np.argsort(n_train[tested], kind="stable")], 5)
    models: dict[str, Any] = {
        "DependencyLDA": DependencyLDA(calibration="size", random_state=seed),
        "FlatLDA": FlatLDA(calibration="size", random_state=seed),
        "SVM": TunedSVM(tune=False, random_state=seed),
        "TunedSVM": TunedSVM(random_state=seed),
    }
    model = models[part]
    scores = model.fit(data.X_train, data.Y_train).rank_scores(data.X_test)
    return {
        "model": part,
        "quintiles": [f"{n_train[q].min():g} to {n_train[q].max():g}" for q in quintiles],
        "medians": [float(np.median(n_train[q])) for q in quintiles],
        "precision": [
            float(mean_average_precision(data.Y_test[:, q], scores[:, q]))
            for q in (tested, *quintiles)
        ],
    }


def tabulate_frequency(measured: Measured) -> list[ResultTable]:
    """One row a model; curves over the number of training documents."""
    table = ResultTable(
        "Average precision of labels by their frequency (Rubin 2012, Figure 12)",
        ("data", "model", "all labels", *(f"quintile {n}" for n in range(1, 6))),
        notes="Labels in five parts by the number of training documents, the rarest first. The "
        "paper has NYT and EUR-Lex; these are the sets with power-law labels at hand.",
    )
    for name, runs in measured.items():
        curves: dict[str, list[tuple[float, float]]] = {}
        for model in dict.fromkeys(run["model"] for run in runs):
            some = [run for run in runs if run["model"] == model]
            values = np.array([run["precision"] for run in some])  # (seeds, 6)
            shown = [figure(column) for column in values.T.tolist()]
            table.rows.append([name, model, *map(str, shown)])
            points = zip(some[0]["medians"], shown[1:], strict=True)
            curves[model] = [(place, value.mean) for place, value in points]
        table.rows.append([name, "training documents", "", *runs[0]["quintiles"]])
        table.curves[f"average precision on {name} by training documents of a label"] = curves
    return [table]


YAHOO = Study(
    "topics-yahoo",
    "Topic models and SVMs: 13 measures, by document and by label",
    ("yahoo_arts", "yahoo_health"),
    measure,
    tabulate,
    seeds=(0, 1, 2, 3, 4),
    parts=MODELS,
    settings={"preset": PRESET, "choices": CHOICES},
    quick={"datasets": ("yahoo_arts",), "parts": ("SVM", "FlatLDA")},
)
FREQUENCY = Study(
    "topics-frequency",
    "Are topic models better on rare labels?",
    ("debtags", "stackex_cooking", "bibtex"),
    measure_frequency,
    tabulate_frequency,
    seeds=(0, 1),
    parts=("DependencyLDA", "FlatLDA", "SVM", "TunedSVM"),
    quick={"datasets": ("medical",), "parts": ("FlatLDA", "SVM")},
)
