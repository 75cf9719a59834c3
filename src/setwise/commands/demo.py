"""``setwise demo``: three models on the bundled packages, what they say, what may go out unread.

Some source packages of Debian are learnt from, others judge. All that is printed is a dict of facts
first, which ``--json`` prints as it is; ``demo_tables`` lays it out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from setwise.commands.demo_data import some_packages
from setwise.commands.demo_tables import Progress, end, models, packages, start, unread
from setwise.commands.fit import check_writable
from setwise.commands.talk import Talk
from setwise.data import load_dataset
from setwise.data.formats.files import write_atomically
from setwise.errors import NotConverged
from setwise.metrics import set_measures
from setwise.models import CBM, BinaryRelevance
from setwise.pipeline import FitSettings, Table, TableModel, fit_table
from setwise.pipeline.evaluation import Judged, judge
from setwise.pipeline.label_columns import LabelColumns
from setwise.pipeline.roles import Role
from setwise.pipeline.table_encoder import TableEncoder
from setwise.report import page_of, report_facts

# Few enough rows for half a minute on two cores; penalties are those of the experiments on debtags.
TRAINING_ROWS = 5000
C_OF_LABELS = 10.0
C_OF_MIXTURE = 30.0
COMPONENTS = 25
FOLDS = 3
PROMISES = (0.9, 0.95)
EXAMPLES = 5
ALTERNATIVES = 2
DRAWS = 100  # of the report's intervals
SMALL = 60  # rows of a first fit, which loads and compiles what the others use

Measured = dict[str, dict[str, float]]  # model -> measure -> value
Now = Callable[[str, Measured], None]


@dataclass(frozen=True, eq=False)
class Rows:
    """Features and tags; tags that only test packages have stand behind the others in Y_test."""

    X: sparse.csr_array
    Y: sparse.csr_array
    X_test: sparse.csr_array
    Y_test: sparse.csr_array


def tour(talk: Talk, n_rows: int, out: str) -> None:
    """Learn, print, and write a report to ``out``; about ``n_rows`` packages judge."""
    check_writable(out)
    begin = perf_counter()
    is_shown = not (talk.quiet or talk.as_json)
    with talk.doing("reading the bundled packages"):
        train, test = some_packages(load_dataset("debtags"), TRAINING_ROWS, n_rows)
    facts: dict[str, Any] = {"data": data_facts(train, test)}
    if is_shown:
        talk.show(start(facts["data"]))
    with Progress(talk.out if is_shown else None) as progress:
        model, judged, facts["models"] = learn(train, test, progress.now)
    with talk.doing("judging, and writing the report"):
        told = report_facts(model, test, judged, accuracy=PROMISES[0], draws=DRAWS)
        with write_atomically(out) as stream:
            stream.write(page_of(told).encode())
    facts |= {
        "packages": package_facts(model, test, judged),
        "unread": [rule for rule in told["accept"] if rule["target"] in PROMISES],
        "out": out,
        "seconds": perf_counter() - begin,
    }
    if talk.as_json:
        talk.data(facts)
    elif is_shown:
        talk.show(models(facts["models"]), packages(facts["packages"]))
        talk.show(unread(facts["unread"]), end(facts))


def data_facts(train: Table, test: Table) -> dict[str, Any]:
    """How much there is to learn from and to be judged on."""
    sets = [tags.split(", ") for tags in train.columns["tags"]]
    return {
        "train_packages": len(train),
        "train_sources": len(set(train.columns["source"])),
        "test_packages": len(test),
        "test_sources": len(set(test.columns["source"])),
        "tags": len({tag for tags in sets for tag in tags}),
        "tags_of_a_package": sum(map(len, sets)) / len(sets),
        "different_sets": len(set(map(frozenset, sets))),
    }


def learn(train: Table, test: Table, now: Now) -> tuple[TableModel, Judged, Measured]:
    """BR-rerank and what it says of the test packages, and what each of three models gets right.

    ``now`` is told which model is learning, and what those before have reached.
    """
    measured: Measured = {}
    now("", measured)
    _get_ready(train.taken(np.arange(min(SMALL, len(train)))))
    rows = encoded(train, test)
    for name, model in (
        ("binary relevance", BinaryRelevance(C=C_OF_LABELS)),
        ("CBM", CBM(COMPONENTS, C=C_OF_MIXTURE)),
    ):
        now(name, measured)
        begin = perf_counter()
        model.fit(rows.X, rows.Y)
        seconds = perf_counter() - begin
        measured[name] = _measures(rows.Y_test, model.predict(rows.X_test), seconds)
    now("BR-rerank", measured)
    reranked = fit_table(train, _settings())
    judged = judge(reranked, test)
    seconds = reranked.facts_["seconds"]
    measured["BR-rerank"] = _measures(judged.truth, judged.predicted, seconds)
    return reranked, judged, measured


def encoded(train: Table, test: Table) -> Rows:
    """What ``setwise fit`` makes of the same tables."""
    encoder = TableEncoder().fit(train, [Role("words", "text", "")])
    labels = LabelColumns(("tags",), ",").fit(train)
    (Y, _), (Y_test, _) = (labels.encode(labels.sets(table)) for table in (train, test))
    return Rows(encoder.transform(train), Y, encoder.transform(test), Y_test)


def package_facts(model: TableModel, test: Table, judged: Judged) -> list[dict[str, Any]]:
    """Some packages by name, from the surest to the least sure, with what else they could be."""
    rows = spread(judged.confidence, EXAMPLES)
    some = test.taken(rows)
    said = model.predict(some, top=ALTERNATIVES + 1)
    return [
        {
            "package": name,
            "set": list(tags),
            "confidence": float(confidence),
            "truth": sorted(truth.split(", ")),
            "alternatives": [{"set": list(other), "probability": p} for other, p in others],
        }
        for name, tags, confidence, truth, others in zip(
            some.columns["package"], said.sets, said.confidence, some.columns["tags"],
            said.alternatives, strict=True,
        )
    ]  # fmt: skip


def spread(probability: np.ndarray, count: int) -> np.ndarray:
    """Some rows from the surest to the least sure, evenly by rank.

    >>> spread(np.array([0.1, 0.9, 0.5, 0.7, 0.2]), 3).tolist()
    [1, 2, 0]
    """
    order = np.argsort(-probability, kind="stable")
    ranks = np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(int)
    chosen: np.ndarray = order[ranks]
    return chosen


def _settings() -> FitSettings:
    return FitSettings(
        labels=("tags",), text=("words",), ignore=("package",), groups="source",
        model="BRRerank", options={"C": C_OF_LABELS}, folds=FOLDS, promise="approximate",
    )  # fmt: skip


def _get_ready(few: Table) -> None:
    """Fit all models to a few rows, so that no time below is that of a compiler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        rows = encoded(few, few)
        CBM(2, C=C_OF_MIXTURE).fit(rows.X, rows.Y).predict(rows.X)
        judge(fit_table(few, _settings()), few)


def _measures(truth: sparse.csr_array, predicted: Any, seconds: float) -> dict[str, float]:
    sets = sparse.csr_array(predicted)
    sets.resize(truth.shape)
    values = set_measures(truth, sets)
    return {
        "set_accuracy": values["set_accuracy"],
        "f1": values["instance_f1"],
        "seconds": seconds,
    }
