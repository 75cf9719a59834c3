"""What ``--model auto`` compares: sensible models for the data, the cheapest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy import sparse

from setwise.data.labels import distinct_sets
from setwise.models.average_members import MOST_SETS, MOST_SETS_OF_TREES, ROUNDS
from setwise.models.strength import ROUGH_TOL
from setwise.pipeline.build import KERNEL, Choice, keeps_rows

MOST_LISTED = 4000  # distinct sets that a field adds up over: they share weights, and cost less
MOST_CHAINED = 600  # labels, of which `benchmarks/chains.py` tells how long listing sets takes
#: Linear models that are also tried as kernel machines.
BENT = ("ClassifierChain", "PairwiseCRF", "PowerSet")
#: Linear models that are also tried with most of their weights at zero.
SPARED = ("BinaryRelevance", "ClassifierChain", "PowerSet")
NEIGHBOURS = "LPkNN"


@dataclass(frozen=True)
class Candidate:
    """A model to be tried.

    ``start``: its penalty is near to this one, from which it is looked for; None: the model has
    one, or looks for it by itself.
    """

    choice: Choice
    start: float | None = None


def candidates_for(
    X: Any,
    Y: sparse.csr_array,
    C: float,
    *,
    keep_rows: bool = True,
    few_weights: float | None = None,
) -> list[Candidate]:
    """Models of different kinds, without ``keep_rows`` none that may hold training rows.

    With ``few_weights``, the best C of binary relevance under an elastic net, some linear ones are
    also tried under one. C is its best under squares. Chains, linear in the same features, do well
    with the same, fields and power sets with that or a few times as much. These are fitted roughly,
    in the end too: what is judged is what is used.
    """
    n_sets, n_labels = len(distinct_sets(Y)), Y.shape[1]
    found = [Candidate(Choice("BinaryRelevance", {"C": C})), _neighbours(X)]
    if n_labels <= MOST_CHAINED:
        found.append(Candidate(Choice("ClassifierChain", {"order": "frequency", "C": C})))
    rough = {"tol": ROUGH_TOL}
    if n_sets <= MOST_LISTED:
        found.append(Candidate(Choice("PairwiseCRF", rough), start=C))
    if n_sets <= MOST_SETS:
        found.append(Candidate(Choice("PowerSet", rough), start=C))
    found.append(Candidate(Choice("CBM", {"C": "auto", "sharing": "auto"})))
    more = [] if few_weights is None else _of_few_weights(found, few_weights)
    if not sparse.issparse(X):
        more += _of_kernels(found) + _boosted(n_sets)
    return [one for one in found + more if keep_rows or not keeps_rows(one.choice)]


def _neighbours(X: Any) -> Candidate:
    """Votes of the nearest rows: weak alone, but they err elsewhere than all others do."""
    metric = "cosine" if sparse.issparse(X) else "euclidean"  # words, whatever their number
    return Candidate(Choice(NEIGHBOURS, {"metric": metric}))


def _of_few_weights(linear: list[Candidate], C: float) -> list[Candidate]:
    """Linear models under an elastic net, beside those under squares, not in place of them."""
    found = []
    for one in linear:
        if one.choice.name in SPARED:
            own = {name: value for name, value in one.choice.options.items() if name != "tol"}
            options = own | {"learner": "elastic", "C": C}
            is_known = one.choice.name == "BinaryRelevance"  # for which C was found
            found.append(Candidate(Choice(one.choice.name, options), None if is_known else C))
    return found


def _of_kernels(linear: list[Candidate]) -> list[Candidate]:
    """Linear models on nearness to landmarks, for dense features: they bend around the rows."""
    names = [one.choice.name for one in linear if one.choice.name in BENT]
    inside = [{"model": name, "options": {"C": "auto"}} for name in names]
    return [Candidate(Choice(KERNEL, {"inside": model})) for model in inside]


def _boosted(n_sets: int) -> list[Candidate]:
    """Trees, for dense features: they see what is not linear.

    Mixtures of trees are left out: on small data they take longer than all others together, and
    add next to nothing to them.
    """
    names = ["BinaryRelevance", *(["PowerSet"] if n_sets <= MOST_SETS_OF_TREES else [])]
    boosted = {"learner": "boosting", "max_iter": ROUNDS}
    return [Candidate(Choice(name, dict(boosted))) for name in names]
