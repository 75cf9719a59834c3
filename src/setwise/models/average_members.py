"""The models that an average is made of where none are given: different in kind, none too slow.

Linear models of the whole set see what a linear boundary shows; boosted ones see the rest where
features are dense. Which of them count on data at hand is for held-out rows to say.
"""

from __future__ import annotations

from typing import Any

from scipy import sparse

from setwise.data.labels import distinct_sets
from setwise.models.binary_relevance import BinaryRelevance
from setwise.models.cbm import CBM
from setwise.models.chains import ClassifierChain
from setwise.models.crf import PairwiseCRF
from setwise.models.powerset import PowerSet

MOST_SETS = 2000  # distinct ones, up to which each can be a class of a linear model
MOST_SETS_OF_TREES = 300
ROUNDS = 50  # of boosting


def default_members(X: Any, Y: sparse.csr_array, *, may_hold_out: bool, **common: Any) -> list[Any]:
    """Models of different kinds, the cheapest first.

    With ``may_hold_out`` they choose their own penalties, for which they hold rows out; ``common``
    are parameters of all.
    """
    C: Any = "auto" if may_hold_out else 1.0
    n_sets = len(distinct_sets(Y))
    members: list[Any] = [ClassifierChain("frequency", C=C, **common)]
    if n_sets <= MOST_SETS:
        members += [PowerSet(C=C, **common), PairwiseCRF(C=C, **common)]
    members.append(CBM(C=C, sharing="auto" if may_hold_out else None, **common))
    if not sparse.issparse(X):
        members.append(BinaryRelevance("boosting", max_iter=ROUNDS, **common))
        if n_sets <= MOST_SETS_OF_TREES:
            members.append(PowerSet("boosting", max_iter=ROUNDS, **common))
    return members
