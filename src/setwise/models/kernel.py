"""Any linear model as a kernel machine: learnt on nearness to landmarks instead of on features.

    p(y|x) = q(y | φ(x))

where q is any model of label sets and φ(x) are the features of a Gaussian kernel, see
``kernel_features``. Chains, random fields and power sets that are linear in φ bend around the rows,
and say as before how labels go together. Where a few dense features tell much together and little
alone, of images and sounds say, that is worth points; counts of words are linear enough.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from setwise.data.arguments import check_count, check_over_zero
from setwise.decisions import Decision
from setwise.distributions.base import Distribution
from setwise.errors import DataError
from setwise.models.about import About
from setwise.models.base import SetClassifier
from setwise.models.crf import PairwiseCRF
from setwise.models.folds import n_units
from setwise.models.kernel_features import KernelFeatures
from setwise.models.set_only import SetOnlyClassifier
from setwise.storage import storable

WIDEST = 1000.0  # typical distances: beyond it, and below its inverse, rows are all alike
LEAST_UNITS = 10  # rows or groups, fewer than which are not worth holding out
MAX_ITER = 2000  # of the default model: rows that landmarks set apart well take hardly any penalty


@storable
class KernelModel(SetClassifier):
    """A model of label sets, learnt on the features of a Gaussian kernel.

    Parameters
    ----------
    estimator : SetClassifier, optional
        A model of this library that is linear in its features; by default a pairwise random field
        that chooses its penalty on held-out rows. It is cloned; its own target does not matter.
    n_landmarks : int
        How many, at most half as many as rows.
    width : float
        Of the kernel; one is a typical distance between rows.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one. The model is told so.
    random_state : int
        Seeds the landmarks, and the default model.
    n_jobs : int, optional
        Threads of the default model; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    kernel_ : ``KernelFeatures``, with the landmarks
    model_ : the fitted model of its features
    chosen_ : dict of what that model has chosen on held-out rows
    label_names_ : tuple of the labels' names

    Notes
    -----
    Memory is n m numbers for m landmarks, and m d for the landmarks of d features, also where the
    features are sparse.

    Examples
    --------
    >>> X = np.arange(12.0)[:, None]
    >>> middle = [{"in"} if 4 <= x < 8 else {"out"} for x in range(12)]
    >>> from setwise.models import PowerSet
    >>> model = KernelModel(PowerSet(C=100), width=0.3).fit(X, middle)
    >>> model.predict_sets([[1.0], [5.5], [10.0]])
    [('out',), ('in',), ('out',)]
    >>> model.kernel_.landmarks_.shape
    (6, 1)
    """

    about: ClassVar[About] = About(
        paper="Williams 2001; Zhang 2008",
        joint=True,
        learners="any model",
        cost="n d m for m landmarks, then that of its model with m features",
        keeps_rows=True,
    )

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_landmarks: int = 500,
        width: float = 1.0,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_landmarks = n_landmarks
        self.width = width
        self.target = target
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        check_count("n_landmarks", self.n_landmarks, at_least=1)
        check_over_zero("width", self.width, advice="one is a typical distance")
        if not 1 / WIDEST <= self.width <= WIDEST:
            raise DataError(
                f"width is from {1 / WIDEST:g} to {WIDEST:g} typical distances, not {self.width}; "
                "try 0.5, 1 and 2"
            )
        units = n_units(sample_weight, groups, X.shape[0])
        model = self._model(may_hold_out=units >= LEAST_UNITS)
        model.set_params(allow_empty=self._may_be_empty(Y))
        weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        counts = np.flatnonzero(weight > 0)
        random = np.random.default_rng(self.random_state)
        kernel = KernelFeatures(self.n_landmarks, self.width).fit(X[counts], weight[counts], random)
        return {
            "kernel_": kernel,
            "model_": model.fit(kernel.transform(X), Y, sample_weight, groups),
        }

    def _model(self, *, may_hold_out: bool) -> SetClassifier:
        """The model of the features, not fitted."""
        if self.estimator is None:
            C: Any = "auto" if may_hold_out else 1.0
            return PairwiseCRF(
                C=C, max_iter=MAX_ITER, random_state=self.random_state, n_jobs=self.n_jobs
            )
        if not isinstance(self.estimator, SetClassifier):
            raise DataError(
                f"estimator is a model of setwise, such as PowerSet(), not {self.estimator!r}"
            )
        if isinstance(self.estimator, SetOnlyClassifier):
            name = type(self.estimator).__name__
            raise DataError(
                f"estimator is a model with a probability of sets, and {name} has none; "
                "pass PowerSet() or another that list_models() shows with one"
            )
        model: SetClassifier = clone(self.estimator)
        return model

    @property
    def chosen_(self) -> dict[str, Any]:
        """What the model inside has chosen on held-out rows."""
        return dict(getattr(self.model_, "chosen_", {}))

    def _distribution(self, X: Any) -> Distribution:
        said: Distribution = self.model_.predict_dist(self.kernel_.transform(X))
        return said

    def _iterations(self) -> int:
        return int(self.model_.n_iter_)
