"""``setwise demo``: a tour of the bundled data, and of what the measures say about a simple rule.

The rule copies the tags of the most similar package (cosine of tf-idf), with the similarity as its
confidence. It stands in for a model: the point is to see what is measured.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from scipy import sparse

from setwise.data import Dataset, distinct_sets, load_dataset
from setwise.data.labels import rows_equal
from setwise.metrics import ReliabilityTable, brier_decomposition, reliability_table, set_measures

_BAR = "█"


def tour(console: Console, n_rows: int) -> None:
    """Print the tour; ``n_rows`` test rows are predicted."""
    dataset = load_dataset("debtags")
    _introduce(console, dataset)
    _show_labels(console, dataset)
    n_rows = min(n_rows, dataset.Y_test.shape[0])
    rows = np.sort(np.random.default_rng(0).permutation(dataset.Y_test.shape[0])[:n_rows])
    truth = dataset.Y_test[rows]
    with console.status(f"looking for the nearest of {dataset.Y_train.shape[0]:,} packages"):
        nearest, similarity = nearest_rows(dataset.X_train, dataset.X_test[rows])
    copied = dataset.Y_train[nearest]
    common = distinct_sets(dataset.Y_train).sets[np.zeros(n_rows, dtype=int)]
    _show_measures(
        console, truth, {"the commonest set": common, "tags of the most similar": copied}
    )
    _show_confidence(console, rows_equal(truth, copied), similarity)


def nearest_rows(
    X_train: sparse.csr_array, X_test: sparse.csr_array
) -> tuple[np.ndarray, np.ndarray]:
    """For each test row the most similar training row, and their cosine in tf-idf."""
    document_frequency = np.bincount(X_train.indices, minlength=X_train.shape[1])
    idf = np.log((1 + X_train.shape[0]) / (1 + document_frequency)) + 1
    train, test = _unit_tfidf(X_train, idf), _unit_tfidf(X_test, idf)
    words_first = sparse.csr_array(train.T)
    nearest = np.empty(test.shape[0], dtype=np.intp)
    similarity = np.empty(test.shape[0])
    for start in range(0, test.shape[0], 500):  # 500 rows of similarities fit in memory
        batch = slice(start, start + 500)
        cosine = (test[batch] @ words_first).toarray()
        nearest[batch] = cosine.argmax(axis=1)
        similarity[batch] = cosine.max(axis=1)
    return nearest, np.clip(similarity, 0, 1)


def _unit_tfidf(X: sparse.csr_array, idf: np.ndarray) -> sparse.csr_array:
    weighted = X.copy()
    weighted.data = (1 + np.log(X.data)) * idf[X.indices]
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    norm = np.sqrt(np.bincount(row, weights=weighted.data**2, minlength=X.shape[0]))
    weighted.data /= norm[row]
    return weighted


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


def _show_measures(
    console: Console, truth: sparse.csr_array, predictions: dict[str, sparse.csr_array]
) -> None:
    table = Table(
        title=f"Two simple rules on {truth.shape[0]:,} test packages", title_justify="left"
    )
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
    table = Table(title="Is the similarity a good confidence?", title_justify="left")
    for column in ("similarity", "packages", "exactly right"):
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
        "A calibrated confidence brings the alignment error near zero."
    )


def _bar(share: float, width: int = 20) -> str:
    return _BAR * max(round(share * width), 1 if share > 0 else 0)
