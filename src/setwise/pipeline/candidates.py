"""What ``--model auto`` compares: sensible models for the data, the cheapest first."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from setwise.data.labels import distinct_sets
from setwise.models.average_members import MOST_SETS, MOST_SETS_OF_TREES, ROUNDS
from setwise.pipeline.build import RERANKED, RERANKED_FOR, Choice
from setwise.pipeline.settings import FitSettings

SHORT_SETS = 1.5  # labels a row, up to which few candidates are enough


def candidates_for(settings: FitSettings, X: Any, Y: sparse.csr_array, C: float) -> list[Choice]:
    """Models of different kinds; C is for binary relevance."""
    n_sets = len(distinct_sets(Y))
    found = [Choice("BinaryRelevance", {"C": C})]
    if settings.target in RERANKED_FOR:
        # Where most rows have one label, the right set is nearly always among the first five.
        is_short = Y.nnz < SHORT_SETS * Y.shape[0]
        found.append(Choice(RERANKED, {"C": C, "n_candidates": 5 if is_short else 10}))
    found.append(Choice("ClassifierChain", {"order": "frequency", "C": "auto"}))
    if n_sets <= MOST_SETS:
        found += [Choice(name, {"C": "auto"}) for name in ("PairwiseCRF", "PowerSet")]
    found.append(Choice("CBM", {"C": "auto", "sharing": "auto"}))
    return found if sparse.issparse(X) else found + _boosted(n_sets)


def _boosted(n_sets: int) -> list[Choice]:
    """Trees, for dense features: they see what is not linear."""
    boosted = {"learner": "boosting", "max_iter": ROUNDS}
    found = [Choice("BinaryRelevance", dict(boosted))]
    if n_sets <= MOST_SETS_OF_TREES:
        found.append(Choice("PowerSet", dict(boosted)))
    return [*found, Choice("CBM", boosted | {"n_components": 20, "tol": -1.0})]
