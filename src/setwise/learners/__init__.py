"""FIT: many weighted problems that share X, solved at once.

=================================  ==============================================================
bank (binary targets)              gate (soft classes)
=================================  ==============================================================
`LogisticBank`, L2                 `SoftmaxRegression`, L2
`ElasticNetBank`, exact zeros      `ElasticNetSoftmax`, exact zeros
`BoostedBank`, trees added         `BoostedSoftmax`, trees added
`AdaptedBank`, any scikit-learn    `AdaptedGate`, any scikit-learn
=================================  ==============================================================

`Isotonic`, `Platt` and their banks map scores to probabilities.
"""

from setwise.learners import foreign
from setwise.learners.adapt import AdaptedBank, AdaptedGate
from setwise.learners.boosted_trees import BinnedRows
from setwise.learners.boosting import BoostedBank, BoostedSoftmax
from setwise.learners.elastic import ElasticNetBank, elastic_path, largest_penalty
from setwise.learners.elastic_softmax import ElasticNetSoftmax
from setwise.learners.isotonic import Isotonic, IsotonicBank
from setwise.learners.logistic import LogisticBank
from setwise.learners.make import Bank, make_bank, make_gate
from setwise.learners.platt import Platt, PlattBank
from setwise.learners.softmax import SoftmaxRegression
from setwise.storage import Foreign, store_foreign

# Models around scikit-learn's classifiers can be stored, too.
store_foreign(Foreign(foreign.is_estimator, foreign.to_bytes, foreign.from_bytes))

__all__ = [
    "AdaptedBank",
    "AdaptedGate",
    "Bank",
    "BinnedRows",
    "BoostedBank",
    "BoostedSoftmax",
    "ElasticNetBank",
    "ElasticNetSoftmax",
    "Isotonic",
    "IsotonicBank",
    "LogisticBank",
    "Platt",
    "PlattBank",
    "SoftmaxRegression",
    "elastic_path",
    "largest_penalty",
    "make_bank",
    "make_gate",
]
