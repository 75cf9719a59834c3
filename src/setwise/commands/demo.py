"""``setwise demo``: a tour of the bundled data, of a model at work, and of what is measured.

A conditional Bernoulli mixture learns from some of the packages, beside binary relevance on the
same rows. The tour shows whole sets that it predicts, how sure it is of them and how often it is
right, and why one package gets its tags.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from scipy import sparse

from setwise.data import Dataset, distinct_sets, load_dataset
from setwise.data.labels import Label, rows_equal
from setwise.metrics import ReliabilityTable, brier_decomposition, reliability_table, set_measures

# Few enough rows and components for some seconds; C is what `setwise bench run cbm-debtags` has.
TRAINING_ROWS = 2500
COMPONENTS = 25
C_OF_MIXTURE = 30.0
C_OF_BINARY_RELEVANCE = 10.0
EXAMPLES = 6
MANY = 6  # tags in a cell

_BAR = "█"


@dataclass(frozen=True, eq=False)
class Rows:
    """Some packages: tf-idf of their words, their tags, their names."""

    X: sparse.csr_array
    Y: sparse.csr_array
    names: np.ndarray


def tour(console: Console, n_rows: int) -> None:
    """Print the tour; ``n_rows`` test rows are predicted."""
    dataset = load_dataset("debtags")
    _introduce(console, dataset)
    _show_labels(console, dataset)
    train, test = some_rows(dataset, TRAINING_ROWS, n_rows)
    n_train, n_test = train.Y.shape[0], test.Y.shape[0]

    from setwise.models import CBM, BinaryRelevance  # scikit-learn takes a second to import

    with console.status(f"binary relevance learns from {n_train:,} packages"):
        relevance = BinaryRelevance(C=C_OF_BINARY_RELEVANCE).fit(train.X, train.Y)
        one_by_one = relevance.predict(test.X)
    started = perf_counter()
    model = CBM(COMPONENTS, C=C_OF_MIXTURE, verbose="auto").fit(train.X, train.Y)
    seconds = perf_counter() - started
    with console.status(f"predicting {n_test:,} packages"):
        distribution = model.predict_dist(test.X)
        sets, log_prob = distribution.mode()
        lifted = ((distribution.marginals() < 0.5) & (sets > 0)).any(axis=1)
        lifted &= sets.sum(axis=1) > 1
    predicted, probability = sparse.csr_array(sets), np.exp(log_prob)
    right = rows_equal(test.Y, predicted)

    console.print(
        f"\nA conditional Bernoulli mixture of {COMPONENTS} components has learnt from "
        f"{n_train:,} packages in {seconds:.1f} s."
    )
    _show_predictions(console, dataset, test, predicted, probability)
    common = distinct_sets(train.Y).sets[np.zeros(n_test, dtype=int)]
    _show_measures(
        console,
        test.Y,
        {"the commonest set": common, "binary relevance": one_by_one, "CBM": predicted},
    )
    _show_confidence(console, right, probability)
    gained = right & ~rows_equal(test.Y, one_by_one)
    row = most_instructive(gained, lifted, probability)
    told = model.explain(
        test.X[[row]],
        label_names=dataset.label_names,
        feature_names=dataset.feature_names,
        n_components=2, n_sets=3, n_near=1, n_features=3,
    )  # fmt: skip
    console.print(Rule(f"Why {test.names[row]} gets its tags: model.explain(x)", align="left"))
    console.print(told)


def some_rows(dataset: Dataset, n_train: int, n_test: int) -> tuple[Rows, Rows]:
    """So many training and test rows, or all if there are fewer, always the same ones."""
    from sklearn.feature_extraction.text import TfidfTransformer

    random = np.random.default_rng(0)
    train = np.sort(random.permutation(dataset.Y_train.shape[0])[:n_train])
    test = np.sort(random.permutation(dataset.Y_test.shape[0])[:n_test])
    words = TfidfTransformer(sublinear_tf=True).fit(dataset.X_train[train])
    return (
        Rows(
            words.transform(dataset.X_train[train]),
            dataset.Y_train[train],
            np.asarray(dataset.row_names_train)[train],
        ),
        Rows(
            words.transform(dataset.X_test[test]),
            dataset.Y_test[test],
            np.asarray(dataset.row_names_test)[test],
        ),
    )


def most_instructive(gained: np.ndarray, lifted: np.ndarray, probability: np.ndarray) -> int:
    """The surest row that the mixture alone has right (``gained``), of all if there is none.

    Better still one with a tag that is unlikely by itself, but not beside the others (``lifted``).

    >>> most_instructive(np.array([1, 1, 0]), np.array([1, 0, 1]), np.array([0.3, 0.6, 0.9]))
    0
    """
    return int(np.argmax(probability + gained + (gained & lifted)))


def spread(probability: np.ndarray, count: int) -> np.ndarray:
    """Some rows from the surest to the least sure, evenly by rank.

    >>> spread(np.array([0.1, 0.9, 0.5, 0.7, 0.2]), 3).tolist()
    [1, 2, 0]
    """
    order = np.argsort(-probability, kind="stable")
    ranks = np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(int)
    chosen: np.ndarray = order[ranks]
    return chosen


def few(labels: tuple[Label, ...], many: int = MANY) -> str:
    """The first labels on a line.

    >>> few(("role::program", "uitoolkit::gtk", "x11::applet"), many=2)
    'role::program, uitoolkit::gtk, 1 more'
    """
    more = [f"{len(labels) - many} more"] if len(labels) > many else []
    return ", ".join([*map(str, labels[:many]), *more]) or "none"


def _introduce(console: Console, dataset: Dataset) -> None:
    facts = dataset.statistics()
    example = 0
    words = [dataset.feature_names[word] for word in dataset.X_train[[example]].indices[:12]]  # type: ignore[index]
    (tags,) = dataset.labels.decode(dataset.Y_train[[example]])
    console.print(
        Panel(
            f"{facts.n_rows:,} Debian packages, {facts.n_labels} tags, {facts.cardinality:.1f} a "
            f"package in {facts.n_distinct_sets:,} different sets.\n"
            f"{dataset.row_names_train[example]}: "  # type: ignore[index]
            f"{', '.join(words)}, ... -> [bold]{', '.join(map(str, tags))}[/]\n"
            "The task: the whole set of tags of a new package, and how sure to be of it.",
            title="debtags, bundled with setwise",
        )
    )


def _show_labels(console: Console, dataset: Dataset) -> None:
    frequency = np.bincount(dataset.Y_train.indices, minlength=len(dataset.label_names))
    sizes = np.bincount(np.diff(dataset.Y_train.indptr))
    table = Table(title="Most frequent tags, and tags per package", title_justify="left")
    for column in ("tag", "packages", "", "tags", "packages", ""):
        table.add_column(column, justify="left" if column in ("tag", "") else "right", no_wrap=True)
    for rank, label in enumerate(np.argsort(-frequency, kind="stable")[:8]):
        size = rank + 1
        table.add_row(
            dataset.label_names[label],
            f"{frequency[label]:,}",
            _bar(frequency[label] / frequency.max(), width=10),
            str(size),
            f"{sizes[size]:,}",
            _bar(sizes[size] / sizes.max(), width=10),
        )
    console.print(table)


def _show_predictions(
    console: Console,
    dataset: Dataset,
    test: Rows,
    predicted: sparse.csr_array,
    probability: np.ndarray,
) -> None:
    table = Table(
        title="What it predicts for new packages, from the surest to the least sure",
        title_justify="left",
        show_lines=True,
    )
    table.add_column("package", no_wrap=True)
    table.add_column("likeliest set of tags")
    table.add_column("probability", justify="right", no_wrap=True)
    table.add_column("true set")
    rows = spread(probability, EXAMPLES)
    answers, truths = (dataset.labels.decode(Y[rows]) for Y in (predicted, test.Y))
    for row, answer, truth in zip(rows, answers, truths, strict=True):
        table.add_row(
            Text(str(test.names[row])),
            Text(few(answer)),
            f"{probability[row]:.3f}",
            Text("the same" if truth == answer else few(truth)),
        )
    console.print(table)


def _show_measures(
    console: Console, truth: sparse.csr_array, predictions: dict[str, sparse.csr_array]
) -> None:
    table = Table(title=f"On {truth.shape[0]:,} test packages", title_justify="left")
    table.add_column("measure")
    measured = {name: set_measures(truth, Y) for name, Y in predictions.items()}
    for name in measured:
        table.add_column(name, justify="right")
    for measure in ("set_accuracy", "instance_f1", "micro_f1", "label_f1", "hamming_loss"):
        words = measure.replace("_", " ")
        table.add_row(words, *(f"{values[measure]:.4f}" for values in measured.values()))
    console.print(table)


def _show_confidence(console: Console, correct: np.ndarray, confidence: np.ndarray) -> None:
    buckets: ReliabilityTable = reliability_table(correct, confidence)
    table = Table(title="Is CBM as often right as it says?", title_justify="left")
    for column in ("probability", "packages", "exactly right"):
        table.add_column(column, justify="right")
    table.add_column("")
    for lower, upper, count, accuracy in zip(
        buckets.lower, buckets.upper, buckets.count, buckets.accuracy, strict=True
    ):
        if count:
            interval = f"{lower:.1f} to {upper:.1f}"
            table.add_row(interval, f"{count:.0f}", f"{accuracy:.1%}", _bar(accuracy))
    console.print(table)
    parts = brier_decomposition(correct, confidence)
    console.print(
        f"Squared error {parts.score:.4f} = uncertainty {parts.uncertainty:.4f} "
        f"- sharpness {parts.sharpness:.4f} + alignment error {parts.alignment_error:.4f} "
        f"{'+' if parts.residual >= 0 else '-'} rest {abs(parts.residual):.4f}. "
        "A calibrated confidence brings the alignment error near zero.\n"
    )


def _bar(share: float, width: int = 20) -> str:
    return _BAR * max(round(share * width), 1 if share > 0 else 0)
