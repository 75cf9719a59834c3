"""How likely a whole predicted set is right, for any model (Li 2019, chapter 4).

    c(y) = P(the predicted set y is exactly right | features of y)

The confidence that models give their own sets is off: independent labels are under-confident where
labels go together, mixtures that over-fit are over-confident. Calibrators learn from sets that a
model predicted for rows it had not seen, and from whether they were right.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from rich.progress import track
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from setwise.calibration.candidates import Candidates, found_in, merged
from setwise.calibration.confidence import Confidence, check_target, rightness, weights_of
from setwise.calibration.cross_fit import CrossFitted, TrainingRows, cross_fit, judge_apart
from setwise.calibration.features import NUMBERS, OF_THE_THESIS, CandidateFeatures
from setwise.calibration.first_stage import FirstStage
from setwise.calibration.kinds import Judged, Kind, make_kind
from setwise.calibration.labelwise import check_kind
from setwise.calibration.noise import NO_NOISE, NoiseRates
from setwise.data.arguments import check_count
from setwise.decisions import Decision
from setwise.decisions.base import row_batches
from setwise.distributions.base import Distribution, positive_count
from setwise.errors import DataError, LabelMismatch
from setwise.models.base import (
    SetClassifier,
    checked_features,
    checked_groups,
    checked_weights,
)
from setwise.models.binary_relevance import BinaryRelevance
from setwise.models.containers import in_container
from setwise.storage import storable

#: Which features a calibrator sees, by name.
FEATURES = {"all": tuple(NUMBERS), "thesis": OF_THE_THESIS}


@storable
class SetCalibrator(SetClassifier):
    """A model whose predicted sets come with calibrated confidence.

    Parameters
    ----------
    estimator : SetClassifier, optional
        Any model of setwise; binary relevance by default. It is cloned, and predicts by its own
        ``target``. One that is fitted already and must stay so is wrapped in scikit-learn's
        ``FrozenEstimator``; ``fit`` is then given rows that it has not seen.
    kind : {"boosting", "tree", "isotonic", "isotonic_by_size", "constant", "none"}
        What maps features to confidence; see ``setwise.calibration.kinds``.
    objective : {"squared", "kl", "likelihood"}
        What boosting minimises. Under noise "likelihood" is the stable one.
    n_boosters : int
        Of the kind "boosting", boosters of other random thresholds each, averaged: steadier
        confidence at so many times the cost of the calibrator.
    monotone : bool
        Trees may not fall with score, prior, and the set's share and lead among the candidates; of
        a ``ModelAverage``, neither with what its models say.
    target : {"set_accuracy", "f1"}
        What confidence is about: the probability that the set is exactly right, or its expected F1.
    features : {"all", "thesis"} or tuple of names
        What trees see beside the labels of the set: the three features of the thesis (score, prior,
        size), or all of ``setwise.calibration.features.NUMBERS``; of a ``ModelAverage`` that is
        also what each of its models says, and how far they agree.
    label_calibration : {"isotonic", "platt", None}
        Calibrates single labels first, where the model's labels are independent.
    n_candidates : int
        The model's likeliest sets, which a predicted set is compared with.
    n_folds : int
        Folds of cross-fitting.
    ensemble : bool
        Predict by the models of the folds, averaged, and not by one fitted to all rows: its scores
        are then just those that the calibrator has learnt from, at ``n_folds`` times the cost.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    random_state : int
        Seeds folds and trees.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    stages_ : the model, or models, with label curves and set counts; confidence_ : the calibrator;
    out_of_fold_confidence_, out_of_fold_correct_ : (n,) of the rows given, by what had not seen
    them: ``AutoAccept`` can be fitted on them, with ``out_of_fold=True``.

    Examples
    --------
    >>> import setwise as sw
    >>> ds = sw.load_dataset("debtags")
    >>> rows = slice(0, 600)
    >>> labels = ds.Y_train[rows][:, :30]
    >>> model = SetCalibrator(kind="isotonic", n_folds=3).fit(ds.X_train[rows], labels)
    >>> sets, confidence = model.predict_with_confidence(ds.X_train[600:605])
    >>> sets.shape, bool(((confidence >= 0) & (confidence <= 1)).all())
    ((5, 30), True)
    """

    stages_: list[FirstStage]
    confidence_: Confidence

    def __init__(
        self,
        estimator: Any = None,
        *,
        kind: str = "boosting",
        objective: str = "squared",
        n_boosters: int = 1,
        monotone: bool = False,
        target: str = "set_accuracy",
        features: Any = "all",
        label_calibration: str | None = "isotonic",
        n_candidates: int = 10,
        n_folds: int = 5,
        ensemble: bool = False,
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.kind = kind
        self.objective = objective
        self.n_boosters = n_boosters
        self.monotone = monotone
        self.target = target
        self.features = features
        self.label_calibration = label_calibration
        self.n_candidates = n_candidates
        self.n_folds = n_folds
        self.ensemble = ensemble
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        calibration_data: tuple[Any, ...] | None = None,
        alpha: Any = 0.0,
        beta: Any = 0.0,
    ) -> Self:
        """Learn model and calibrator from one set of rows.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for every model. Rows of one group stay in one fold: without that, folds that share
            near-copies of rows make the confidence too high.
        calibration_data : (X, y), (X, y, sample_weight) or (X, y, sample_weight, groups), optional
            Rows to calibrate on, all others being for the model alone; else folds of X serve.
        alpha, beta : float or array (n,)
            Known error rates of whoever judged the rows that are calibrated on: how often a right
            set is judged wrong, and a wrong one right. See ``setwise.calibration.noise``.
        """
        return self._fit_whole(
            X,
            y,
            sample_weight,
            groups,
            calibration_data=calibration_data,
            noise=NoiseRates(alpha, beta),
        )

    def predict_with_confidence(self, X: Any) -> tuple[Any, np.ndarray]:
        """The predicted sets, in the container that y was, and their confidence (n,)."""
        sets, confidence = self._answers(self._features(X))
        dense = sets.toarray().astype(self.label_dtype_)
        return in_container(dense, self.label_container_, self._space), confidence

    def predict_confidence(self, X: Any) -> np.ndarray:
        """How likely each predicted set is right, (n,); for "f1", its expected F1."""
        return self._answers(self._features(X))[1]

    def _learn(
        self,
        X: Any,
        Y: sparse.csr_array,
        sample_weight: Any,
        groups: Any,
        calibration_data: Any = None,
        noise: NoiseRates = NO_NOISE,
    ) -> dict[str, Any]:
        rows = TrainingRows(X, Y, sample_weight, groups)
        make = self._maker()
        make()  # refuses what it does not know before anything is fitted
        template = self._template()
        estimator, options = self._first_model(rows), self._cross_fit_options(Y)
        if calibration_data is None:
            crossed = cross_fit(
                estimator, rows, refit=not self.ensemble, watch=self._watch(), **options
            )
        else:
            crossed = judge_apart(
                estimator, rows, self._calibration_rows(calibration_data), **options
            )
        judged = self._judged(crossed, template, noise)
        confidence = Confidence().fit(make, judged, crossed.part, self.n_jobs)
        keep_folds = self.ensemble and calibration_data is None
        return {
            "stages_": crossed.stages(template) if keep_folds else [crossed.final(template)],
            "confidence_": confidence,
            **self._judgements(confidence, judged, crossed),
        }

    def _judged(
        self, crossed: CrossFitted, template: FirstStage, noise: NoiseRates = NO_NOISE
    ) -> Judged:
        """Candidates of cross-fitted models, with how right they are."""
        features = crossed.features(template)
        candidates = features.candidates
        return Judged(
            features,
            rightness(candidates, crossed.rows.Y, str(self.target)),
            weights_of(candidates, crossed.rows.weight),
            noise.check_rows(crossed.rows.n).of_rows(candidates.row),
        )

    def _judgements(
        self, confidence: Confidence, judged: Judged, crossed: CrossFitted
    ) -> dict[str, Any]:
        """What is said of the rows themselves, out of fold, and how right that is."""
        said = confidence.out_of_fold(judged.features, crossed.part)
        best = judged.features.candidates.best(said)
        return {
            "out_of_fold_confidence_": said[best],
            "out_of_fold_correct_": judged.correct[best],
        }

    def _first_model(self, rows: TrainingRows) -> Any:
        """The model of the first stage, not fitted unless it is frozen."""
        if self.estimator is None:
            return BinaryRelevance(random_state=self.random_state, n_jobs=self.n_jobs)
        frozen = isinstance(self.estimator, FrozenEstimator)
        model = self.estimator.estimator if frozen else self.estimator
        if not isinstance(model, SetClassifier):
            raise DataError(
                f"estimator is a model of setwise, such as BinaryRelevance(), not {model!r}; a "
                "scikit-learn classifier can be its learner"
            )
        if frozen:
            _check_same_labels(model, self.label_names_)
        return self.estimator

    def _decision(self) -> Decision:
        check_target(self.target)
        return super()._decision()

    def _maker(self) -> Callable[[], Kind]:
        """Makes calibrators of the kind that is asked for."""
        given = self.features
        names = tuple(given) if isinstance(given, tuple | list) else FEATURES.get(given, (given,))
        return partial(
            make_kind,
            self.kind,
            names,
            self.monotone,
            self.objective,
            self.random_state,
            positive_count(self.n_boosters, "n_boosters"),
        )

    def _template(self) -> FirstStage:
        return FirstStage(positive_count(self.n_candidates, "n_candidates"), own_only=True)

    def _cross_fit_options(self, Y: sparse.csr_array) -> dict[str, Any]:
        empty_rows = bool((np.diff(Y.indptr) == 0).any())
        check_count("n_folds", self.n_folds, at_least=2)
        if self.label_calibration is not None:
            check_kind(self.label_calibration)
        return {
            "n_folds": self.n_folds,
            "label_calibration": self.label_calibration,
            "allow_empty": empty_rows if self.allow_empty == "auto" else bool(self.allow_empty),
            "random_state": self.random_state,
        }

    def _calibration_rows(self, given: Any) -> TrainingRows:
        """The calibration rows, checked as those of training are."""
        if not isinstance(given, tuple | list) or not 2 <= len(given) <= 4:
            raise DataError(
                "calibration_data is a pair (X, y), or (X, y, sample_weight, groups); pass X and y"
            )
        X, y, weight, groups = (*given, None, None)[:4]
        X = checked_features(self, X)
        Y = self._space.encode(y)
        if Y.shape[0] != X.shape[0]:
            raise DataError(
                f"calibration_data has {X.shape[0]} rows of X but {Y.shape[0]} label sets; "
                "pass as many of both"
            )
        n = X.shape[0]
        return TrainingRows(X, Y, checked_weights(weight, X), checked_groups(groups, n))

    def _watch(self) -> Any:
        if not self.verbose:
            return iter
        return partial(track, description="folds", transient=True)

    def _candidates(self, X: Any) -> tuple[Candidates, np.ndarray]:
        """Candidates of rows of checked features, and what is said of them, (m, 2)."""
        said = [stage.distribution(X) for stage in self.stages_]
        own = [stage.features(of) for stage, of in zip(self.stages_, said, strict=True)]
        if len(own) == 1:
            return own[0].candidates, self._verdicts(own[0])
        answers = merged(*(features.candidates for features in own))
        verdicts = np.zeros((len(answers), 2))
        for stage, of in zip(self.stages_, said, strict=True):
            features = stage.features_of_answers(of, answers)
            for column, judged in enumerate(self._verdicts(features).T):
                verdicts[:, column] += found_in(features.candidates, judged, answers) / len(said)
        return answers, verdicts

    def _verdicts(self, features: CandidateFeatures) -> np.ndarray:
        """What candidates are chosen by, and what is told of the chosen one, (m, 2)."""
        confidence = self.confidence_.of(features)
        return np.column_stack([confidence, confidence])

    def _answers(self, X: Any) -> tuple[sparse.csr_array, np.ndarray]:
        """The best candidate of each row and its confidence, a batch of rows at a time."""
        L = len(self.label_names_)
        sets, confidence = [sparse.csr_array((0, L), dtype=np.int8)], [np.empty(0)]
        for rows in row_batches(X.shape[0], L * max(self.n_candidates, 1)):
            candidates, verdicts = self._candidates(X[rows])
            best = candidates.best(verdicts[:, 0])
            sets.append(candidates.sets[best])
            confidence.append(verdicts[best, 1])
        return sparse.vstack(sets, format="csr"), np.concatenate(confidence)

    def _decided(self, X: Any) -> np.ndarray:
        return np.asarray(self._answers(self._features(X))[0].toarray())

    def _distribution(self, X: Any) -> Distribution:
        """What the model says; that of the first fold's model for an ensemble."""
        return self.stages_[0].distribution(X)


def _check_same_labels(model: SetClassifier, names: tuple[Any, ...]) -> None:
    """Refuse label sets over other labels than those of a fitted model.

    Columns of a matrix have numbers for names; then only how many there are can be compared.
    """
    check_is_fitted(model, "label_names_")
    known, numbers = model.label_names_, tuple(range(len(names)))
    if len(known) != len(names) or (known != names and numbers not in (known, names)):
        raise LabelMismatch(
            f"the frozen model knows {len(known)} labels, {_shown(known)}, but y has {len(names)}, "
            f"{_shown(names)}; pass y as a matrix or a DataFrame with the model's columns"
        )


def _shown(names: tuple[Any, ...]) -> str:
    return ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
