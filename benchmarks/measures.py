"""How long the measures take, beside scikit-learn's: ``python benchmarks/measures.py``.

Set measures on a sparse pair of 100,000 rows, 500 labels and 4 labels a row; ranking measures on
20,000 rows and 100 labels. Each time is the least of three, of fewer where they take seconds; both
sides run in one process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import sklearn.metrics as theirs
from scipy import sparse
from timing import least_time

from setwise import metrics as ours

Case = tuple[str, Callable[[], object], Callable[[], object] | None]


def random_sets(n: int, L: int, size: int, seed: int) -> sparse.csr_array:
    """Rows with at most ``size`` labels each, drawn evenly."""
    columns = np.random.default_rng(seed).integers(0, L, size=(n, size))
    dense = np.zeros((n, L), dtype=np.int8)
    np.put_along_axis(dense, columns, 1, axis=1)
    return sparse.csr_array(dense)


def set_cases(truth: sparse.csr_array, predicted: sparse.csr_array) -> list[Case]:
    """Each set measure with scikit-learn's function of the same meaning."""
    pairs = {
        "precision": theirs.precision_score,
        "recall": theirs.recall_score,
        "f1": theirs.f1_score,
        "jaccard": theirs.jaccard_score,
    }
    cases: list[Case] = []
    for name, reference in pairs.items():
        for average, synonym in (("instance", "samples"), ("label", "macro"), ("micro", "micro")):
            mine = partial(getattr(ours, name), truth, predicted, average=average)
            other = partial(reference, truth, predicted, average=synonym, zero_division=0.0)
            cases.append((f"{name}, {average}", mine, other))
    for name, reference in (
        ("hamming_loss", theirs.hamming_loss),
        ("subset_accuracy", theirs.accuracy_score),
    ):
        mine = partial(getattr(ours, name), truth, predicted)
        cases.append((name, mine, partial(reference, truth, predicted)))
    cases.append(("set_measures (all 14)", partial(ours.set_measures, truth, predicted), None))
    return cases


def ranking_cases(truth: np.ndarray, scores: np.ndarray) -> list[Case]:
    """Each ranking measure, with scikit-learn's counterpart where there is one."""
    counterparts: dict[str, Callable[[], object]] = {
        "auc_roc": partial(theirs.roc_auc_score, truth, scores, average="samples"),
        "average_precision": partial(theirs.label_ranking_average_precision_score, truth, scores),
        "ranking_loss": partial(theirs.label_ranking_loss, truth, scores),
        "mean_average_precision": partial(theirs.average_precision_score, truth, scores),
        "ndcg_at_k": partial(theirs.ndcg_score, truth, scores, k=5),
    }
    names = ["auc_roc", "auc_pr", "average_precision", "mean_average_precision", "one_error"]
    names += ["is_error", "margin", "ranking_loss", "precision_at_k", "ndcg_at_k"]
    names += ["ranking_measures"]
    return [
        (name, partial(getattr(ours, name), truth, scores), counterparts.get(name))
        for name in names
    ]


def print_table(title: str, cases: list[Case]) -> None:
    print(f"\n{title}\n{'measure':28}{'setwise ms':>12}{'sklearn ms':>12}{'ratio':>8}")
    for name, mine, other in cases:
        own = least_time(mine)
        if other is None:
            print(f"{name:28}{own * 1e3:12.1f}{'-':>12}{'-':>8}")
        else:
            reference = least_time(other)
            print(f"{name:28}{own * 1e3:12.1f}{reference * 1e3:12.1f}{reference / own:8.1f}")


def main() -> None:
    truth, predicted = (random_sets(100_000, 500, 4, seed) for seed in (0, 1))
    print_table("sets, 100,000 x 500 sparse", set_cases(truth, predicted))
    relevant = random_sets(20_000, 100, 4, 2).toarray()
    scores = np.random.default_rng(3).random(relevant.shape)
    print_table("rankings, 20,000 x 100", ranking_cases(relevant, scores))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
