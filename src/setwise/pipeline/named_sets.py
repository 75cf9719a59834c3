"""Models that name a set but know no probability of sets, as models that know one.

Whoever has seen how often the words of such a model come true has a p(y|x), of labels apart:

    P(y_l = 1 | the model names l or not)

two numbers a label, which the label curves of ``SetCalibrator`` learn from rows that the model has
not seen; a curve takes their place where the model has probabilities of single labels. All that
stands on a distribution is so there for these models too: the confidence of whole sets,
alternatives, probabilities of labels. The predicted set remains the one that the model names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone

from setwise.data.labels import binary_csr
from setwise.decisions import Decision
from setwise.distributions import Product
from setwise.distributions.base import Distribution, Rows
from setwise.models import LabelSizeF1
from setwise.models.base import SetClassifier
from setwise.models.set_only import SetOnlyClassifier
from setwise.storage import storable

NAMERS = (SetOnlyClassifier, LabelSizeF1)  # models that know no probability of a set
BELIEF = 0.9  # in a named label, before anything is known of the model
LEAST = 1e-9  # how near to 0 and 1 a belief may be


@dataclass(frozen=True, eq=False)
class NamedSets(Product):
    """Independent labels around one set a row that a model has named.

    >>> said = NamedSets.of(np.array([[1, 0]], dtype=np.int8), np.array([[0.8, 0.7]]))
    >>> said.marginals().round(3), AsNamed().decide(said)
    (array([[0.8, 0.7]]), array([[1, 0]], dtype=int8))
    """

    named: np.ndarray = field(kw_only=True)  # int8 (n, L)

    @classmethod
    def of(
        cls,
        named: np.ndarray,
        belief: np.ndarray,
        *,
        allow_empty: bool = True,
        n_jobs: int | None = None,
    ) -> NamedSets:
        """Named sets with a probability for each label, both (n, L)."""
        return cls(logit(belief.clip(LEAST, 1 - LEAST)), allow_empty, n_jobs, named=named)

    def rows(self, selection: Rows) -> NamedSets:
        """The distributions of some rows."""
        return replace(self, logits=self.logits[selection], named=self.named[selection])


@storable
class AsNamed(Decision):
    """The set that the model has named, whatever is thought of its labels."""

    target = "named"

    def decide(self, distribution: Distribution) -> np.ndarray:
        """The named sets, int8 (n, L)."""
        assert isinstance(distribution, NamedSets)
        return distribution.named


@storable
class SetNamer(SetClassifier):
    """A model that names sets, with a distribution around each.

    Parameters
    ----------
    estimator : SetClassifier
        It is cloned, and names sets by its own ``target``.
    allow_empty : bool or "auto"
        As for every model; that of the estimator is set to it.
    random_state, n_jobs
        Of whoever is around it; the estimator has its own.

    Attributes
    ----------
    model_ : the fitted estimator.

    Examples
    --------
    >>> from setwise.models import CLEMS
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = SetNamer(CLEMS(C=10)).fit(X, [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}])
    >>> model.predict_sets(X[[0, 3]])
    [('a',), ('a', 'b')]
    >>> model.predict_proba(X[[0]]).round(2).tolist()  # given that some label is there
    [[0.99, 0.11]]
    """

    model_: SetClassifier

    def __init__(
        self,
        estimator: Any,
        *,
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        model = clone(self.estimator).set_params(allow_empty=self.allow_empty)
        return {"model_": model.fit(X, Y, sample_weight, groups)}

    def _distribution(self, X: Any) -> NamedSets:
        named = binary_csr(self.model_.predict(X)).toarray().astype(np.int8)
        knows_labels = hasattr(self.model_, "predict_proba")
        belief = self.model_.predict_proba(X) if knows_labels else _belief_in(named)
        return NamedSets.of(named, belief, allow_empty=self.allow_empty_, n_jobs=self.n_jobs)

    def _decision(self) -> Decision:
        return AsNamed()


def _belief_in(named: np.ndarray) -> np.ndarray:
    return np.where(named == 1, BELIEF, 1 - BELIEF)
