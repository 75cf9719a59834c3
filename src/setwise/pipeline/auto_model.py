"""What ``setwise fit --model auto`` does with a table, for features and label sets as arrays.

Sensible models are compared on rows held out of training, alone, averaged and reranked, and the
best of all for the target is fitted to all rows, with a calibrator that says how sure to be.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from setwise.calibration import SetCalibrator
from setwise.data.arguments import check_count, is_over_zero
from setwise.decisions import DECISIONS, Decision, decision_for
from setwise.distributions import Distribution
from setwise.errors import DataError
from setwise.metrics.options import check_choice
from setwise.models.about import About
from setwise.models.base import SetClassifier
from setwise.models.containers import in_container
from setwise.pipeline.build import with_confidence
from setwise.pipeline.choose import choose
from setwise.pipeline.fitting import folds_for
from setwise.pipeline.row_scale import LikeliestScale
from setwise.pipeline.settings import FitSettings
from setwise.storage import storable

SCALES = ("auto", "as_given")


@storable
class AutoModel(SetClassifier):
    """The model that is best on held-out rows, with calibrated confidence in its sets.

    Parameters
    ----------
    target : str
        The metric that models are compared by and predictions made for, see ``setwise.decisions``.
    budget : float
        Seconds for comparison and last fit together, about; what would take longer is left out.
        The first candidate, binary relevance, is always fitted.
    keep_rows : bool
        Whether models are tried that hold training rows, so that a saved model does, too.
    scale : {"auto", "as_given"}
        "auto" standardises dense features, and brings sparse rows to length one if held-out rows
        are likelier then; "as_given" leaves both as they are.
    n_folds : int, optional
        Of the calibrator's cross-fitting; by default 5, and 3 where there are many rows.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    random_state : int
        Seeds what chance decides.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        1 says what is being tried.

    Attributes
    ----------
    model_ : ``SetCalibrator`` or ``Reranker``, fitted to rows on the scale of ``scale_``
    choice_ : dict, the name of the chosen model and its options
    reason_ : str, why it was chosen
    trials_ : list of dict, how each candidate did, what it took, or why it was left out
    out_of_fold_confidence_, out_of_fold_correct_ : (n,) of the training rows, by what had not seen
    them: ``AutoAccept`` can be fitted on them, with ``out_of_fold=True``
    label_names_ : tuple of the labels' names

    Notes
    -----
    With a budget that leaves nothing out, the seed decides; where time is short, so does the
    machine. Choosing a scale of sparse rows is not cut short. Rows of one group stay together in
    the comparison and in folds. All rows count alike: there are no sample weights.

    Examples
    --------
    >>> import setwise as sw
    >>> ds = sw.load_dataset("debtags")
    >>> model = AutoModel(budget=1e-3).fit(ds.X_train[:300], ds.Y_train[:300, :4])
    >>> model.choice_["model"]
    'BinaryRelevance'
    >>> sets, confidence = model.predict_with_confidence(ds.X_train[300:305])
    >>> sets.shape, confidence.shape
    ((5, 4), (5,))
    """

    about: ClassVar[About] = About(
        paper="Li 2019, 4.11; Yao 2018",
        joint=True,
        learners="any models",
        cost="as many seconds as it may",
        keeps_rows=True,
    )
    model_: SetCalibrator
    scale_: LikeliestScale | None

    def __init__(
        self,
        target: str = "set_accuracy",
        *,
        budget: float = FitSettings.budget,
        keep_rows: bool = True,
        scale: str = "auto",
        n_folds: int | None = None,
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.target = target
        self.budget = budget
        self.keep_rows = keep_rows
        self.scale = scale
        self.n_folds = n_folds
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def out_of_fold_confidence_(self) -> np.ndarray:
        """How sure of each training row's set what had not seen the row was, (n,)."""
        confidence: np.ndarray = self._fitted().out_of_fold_confidence_
        return confidence

    @property
    def out_of_fold_correct_(self) -> np.ndarray:
        """Whether that set was right, (n,)."""
        correct: np.ndarray = self._fitted().out_of_fold_correct_
        return correct

    def predict_with_confidence(self, X: Any) -> tuple[Any, np.ndarray]:
        """The predicted sets, in the container that y was, and how likely each is right, (n,)."""
        sets, confidence = self._answers(X)
        decided = sets.astype(self.label_dtype_)
        return in_container(decided, self.label_container_, self._space), confidence

    def predict_confidence(self, X: Any) -> np.ndarray:
        """How likely each predicted set is right as a whole, (n,)."""
        return self._answers(X)[1]

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        if sample_weight is not None:
            raise DataError(
                "AutoModel compares models by rows that count alike, so that it takes no "
                "sample_weight; leave it out, or fit one model with it"
            )
        settings = self._settings(X.shape[0])
        begin = time.perf_counter()
        scale = None
        if self.scale == "auto":
            self._say("choosing a scale")
            scale = LikeliestScale(settings.seed).fit(X, Y, groups)
            X = scale.transform(X)
        left = max(settings.budget - (time.perf_counter() - begin), 1e-9)
        chosen = choose(X, Y, groups, replace(settings, budget=left), self._say)
        self._say(f"fitting {chosen.choice.name} to {X.shape[0]:,} rows")
        model = with_confidence(chosen.choice, settings)
        model.set_params(allow_empty=self.allow_empty).fit(X, Y, groups=groups)
        return {
            "scale_": scale,
            "model_": model,
            "choice_": {"model": chosen.choice.name, "options": chosen.choice.options},
            "reason_": chosen.reason,
            "trials_": chosen.trials,
        }

    def _settings(self, n: int) -> FitSettings:
        """What ``setwise fit`` would be told; it refuses what it does not know."""
        check_choice("scale", self.scale, SCALES)
        check_choice("target", self.target, tuple(DECISIONS))
        if not is_over_zero(self.budget):
            raise DataError(f"budget is a number of seconds over zero, not {self.budget!r}")
        if self.n_folds is not None:
            check_count("n_folds", self.n_folds, at_least=2)
        seed = self.random_state
        if seed is None:
            seed = int(np.random.default_rng().integers(2**31))
        check_count("random_state", seed, at_least=0)
        return FitSettings(
            target=str(self.target),
            budget=float(self.budget),
            keep_rows=self.keep_rows,
            folds=int(self.n_folds or folds_for(n)),
            seed=int(seed),
            jobs=None if self.n_jobs is None else int(self.n_jobs),
        )

    def _fitted(self) -> SetCalibrator:
        check_is_fitted(self, "model_")
        return self.model_

    def _say(self, what: str) -> None:
        if self.verbose:
            print(what)

    def _decision(self) -> Decision:
        # Whatever the target: the model inside decides for it, and there is nothing more to tune.
        return decision_for("set_accuracy")

    def _scaled(self, X: Any) -> Any:
        return X if self.scale_ is None else self.scale_.transform(X)

    def _distribution(self, X: Any) -> Distribution:
        return self.model_.predict_dist(self._scaled(X))

    def _decided(self, X: Any) -> np.ndarray:
        return self._answers(X)[0]

    def _answers(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The predicted sets, dense, and how likely each is right."""
        X = self._features(X)
        sets, confidence = self.model_.predict_with_confidence(self._scaled(X))
        return sparse.csr_array(sets).toarray(), confidence
