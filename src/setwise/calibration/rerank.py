"""Reranking: the best of a model's likeliest sets by calibrated confidence (Li 2019, section 4.7).

Stage one lists the sets that a model finds likeliest; stage two judges each as a whole, by a
calibrator that sees what the model does not: how common the set is, how many labels it has, and
which labels stand together. On binary relevance this is BR-rerank: as simple as its parts, and as
accurate as models of the joint distribution.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import logit

from setwise.calibration.candidates import Candidates
from setwise.calibration.confidence import Confidence, check_target, rightness
from setwise.calibration.cross_fit import CrossFitted, TrainingRows
from setwise.calibration.features import CandidateFeatures
from setwise.calibration.first_stage import FirstStage
from setwise.calibration.kinds import Judged
from setwise.calibration.noise import NO_NOISE, NoiseRates
from setwise.calibration.normalise import Normaliser
from setwise.calibration.set_calibrator import SetCalibrator
from setwise.decisions.base import BATCH_CELLS
from setwise.distributions.base import Distribution, positive_count
from setwise.distributions.batched import Batched
from setwise.distributions.shortlist import Shortlist
from setwise.errors import DataError
from setwise.models.about import ANY_LEARNER, About
from setwise.models.binary_relevance import BinaryRelevance
from setwise.models.strength import LEARNERS_WITH_C
from setwise.storage import storable

LEAST = 1e-9  # confidence that counts as none, so that log-odds are finite


@storable
class Reranker(SetCalibrator):
    """The candidate of highest calibrated confidence.

    Parameters
    ----------
    estimator, kind, objective, n_boosters, monotone, features, label_calibration, n_folds
        As for ``SetCalibrator``.
    ensemble, allow_empty, random_state, n_jobs, verbose
        As for ``SetCalibrator``.
    n_candidates : int
        How many of the model's likeliest sets are judged; ten are mostly enough.
    n_training_sets : int
        How many of the likeliest sets seen in training are judged as well: more right sets are
        among the candidates, at some price in F1.
    target : {"set_accuracy", "f1"}
        Whether the set that is likeliest right is chosen, or that of highest expected F1; two empty
        sets have an F1 of 1.
    confidence_in : {"set_accuracy", "f1"}, optional
        What the confidence of the chosen set is about; by default the target. Sets that are chosen
        for F1 can so come with the probability that they are exactly right.

    Attributes
    ----------
    stages_, confidence_, out_of_fold_confidence_, out_of_fold_correct_ : as of ``SetCalibrator``
    certainty_ : what judges the chosen set, where ``confidence_`` only chooses it
    normaliser_ : what makes confidences one distribution

    Notes
    -----
    Noisy judgements are not corrected for here: how often a wrong candidate is judged right differs
    from candidate to candidate, as near-misses are what an annotator who errs writes down. Correct
    for them with ``SetCalibrator``, whose one prediction a row has one rate.
    """

    about: ClassVar[About] = About(
        paper="Li 2019, 4.11",
        joint=True,
        learners="any model, any calibrator",
        cost="that of its model for each fold, and n K (L + 3)",
    )

    certainty_: Confidence
    normaliser_: Normaliser

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_candidates: int = 10,
        n_training_sets: int = 0,
        kind: str = "boosting",
        objective: str = "squared",
        n_boosters: int = 1,
        monotone: bool = False,
        target: str = "set_accuracy",
        confidence_in: str | None = None,
        features: Any = "all",
        label_calibration: str | None = "isotonic",
        n_folds: int = 5,
        ensemble: bool = False,
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            kind=kind,
            objective=objective,
            n_boosters=n_boosters,
            monotone=monotone,
            target=target,
            features=features,
            label_calibration=label_calibration,
            n_candidates=n_candidates,
            n_folds=n_folds,
            ensemble=ensemble,
            allow_empty=allow_empty,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_training_sets = n_training_sets
        self.confidence_in = confidence_in

    def predict_candidates(self, X: Any) -> list[list[tuple[tuple[Any, ...], float]]]:
        """The candidates of each row by falling confidence: (label names, confidence) each."""
        X = self._features(X)
        candidates, verdicts = self._candidates(X)
        confidence = verdicts[:, 1]
        order = np.lexsort((candidates.place, -confidence, candidates.row))
        names = self._space.decode(candidates.sets)
        starts = candidates.starts
        return [[(names[j], float(confidence[j])) for j in order[a:b]] for a, b in pairwise(starts)]

    def chosen_out_of_fold(self, crossed: CrossFitted) -> sparse.csr_array:
        """The sets (n, L) that this reranker would choose for cross-fitted rows, each out of fold.

        It tells how good a reranker would be where models have been asked already; nothing of it
        is kept.
        """
        judged = self._judged(crossed, self._template())
        confidence = Confidence().fit(self._maker(), judged, crossed.part, self.n_jobs)
        said = confidence.out_of_fold(judged.features, crossed.part)
        candidates = judged.features.candidates
        return candidates.sets[candidates.best(said)]

    def _learn(
        self,
        X: Any,
        Y: sparse.csr_array,
        sample_weight: Any,
        groups: Any,
        calibration_data: Any = None,
        noise: NoiseRates = NO_NOISE,
    ) -> dict[str, Any]:
        if not noise.is_none:
            raise DataError(
                "reranking and noise rates do not combine: how often a wrong candidate is judged "
                "right differs from candidate to candidate; use SetCalibrator with these rates"
            )
        if self.confidence_in is not None:
            check_target(self.confidence_in)
        return super()._learn(X, Y, sample_weight, groups, calibration_data)

    def _judgements(
        self, confidence: Confidence, judged: Judged, crossed: CrossFitted
    ) -> dict[str, Any]:
        said = confidence.out_of_fold(judged.features, crossed.part)
        candidates = judged.features.candidates
        best = candidates.best(said)
        right = (judged.correct == 1).astype(np.float64)  # an F1 of 1 is an exact set
        own = {}
        if self._is_judged_apart:
            correct = rightness(candidates, crossed.rows.Y, str(self.confidence_in))
            judged = replace(judged, correct=correct)
            certainty = Confidence().fit(self._maker(), judged, crossed.part, self.n_jobs)
            said = certainty.out_of_fold(judged.features, crossed.part)
            own["certainty_"] = certainty
        weight = np.zeros(candidates.n_rows)
        weight[candidates.row] = judged.weight
        z = self._log_scores(candidates, said)
        return {
            "out_of_fold_confidence_": said[best],
            "out_of_fold_correct_": judged.correct[best],
            "normaliser_": Normaliser().fit(candidates, z, right, weight),
            **own,
        }

    def _verdicts(self, features: CandidateFeatures) -> np.ndarray:
        verdicts = super()._verdicts(features)
        if self._is_judged_apart:
            verdicts[:, 1] = self.certainty_.of(features)
        return verdicts

    def _template(self) -> FirstStage:
        if self.n_training_sets:
            positive_count(self.n_training_sets, "n_training_sets")
        k = positive_count(self.n_candidates, "n_candidates")
        return FirstStage(k, self.n_training_sets, for_f1=self.target == "f1")

    def _log_scores(self, candidates: Candidates, confidence: np.ndarray) -> np.ndarray:
        """What probabilities over the candidates are made of, (m,)."""
        return np.asarray(logit(np.clip(confidence, LEAST, 1 - LEAST)))

    def _distribution(self, X: Any) -> Distribution:
        """The candidates with normalised confidences, made a batch of rows at a time."""
        L = len(self.label_names_)
        most = (self.n_candidates + self.n_training_sets) * len(self.stages_)
        size = max(1, BATCH_CELLS // (L * most))
        return Batched(
            lambda rows: self._shortlist(X[rows]),
            np.arange(X.shape[0]),
            L,
            size,
            self._lists_empty,
        )

    def _shortlist(self, X: Any) -> Shortlist:
        candidates, verdicts = self._candidates(X)
        z = self._log_scores(candidates, verdicts[:, 1])
        log_p = self.normaliser_.log_probabilities(candidates, z)
        n, k = candidates.n_rows, int(np.diff(candidates.starts).max(initial=1))
        sets = np.zeros((k, n, candidates.sets.shape[1]), dtype=np.int8)
        weights = np.full((k, n), -np.inf)
        cell = (candidates.place, candidates.row)
        sets[cell] = candidates.sets.toarray()
        weights[cell] = log_p
        listed = np.exp(weights).sum(axis=0)
        return Shortlist(sets, weights, self._lists_empty, np.clip(1 - listed, 0, 1 - LEAST))

    @property
    def _is_judged_apart(self) -> bool:
        """Whether confidence is in something else than what sets are chosen by."""
        return self.confidence_in not in (None, self.target)

    @property
    def _lists_empty(self) -> bool:
        """Whether the model lists the empty set; a frozen one goes by its own training."""
        return bool(self.stages_[0].model_.allow_empty_)


@storable
class BRRerank(Reranker):
    """Calibrated reranking of binary relevance.

    Parameters
    ----------
    learner : {"logistic", "elastic", "boosting"}, learner object, or scikit-learn classifier
        What learns each label.
    C : float or "auto"
        Inverse strength of the penalty of "logistic" and "elastic"; "auto" chooses it on held-out
        rows.
    max_iter : int
        Cap on the label learners' iterations.
    n_candidates, n_training_sets, target, confidence_in and all others
        As for ``Reranker``.

    Examples
    --------
    >>> import setwise as sw
    >>> ds = sw.load_dataset("debtags")
    >>> labels = ds.Y_train[:600][:, :30]
    >>> model = BRRerank(C=1.0, n_folds=3).fit(ds.X_train[:600], labels)
    >>> sets, log_prob = model.predict_dist(ds.X_train[600:605]).top(3)
    >>> sets.shape
    (5, 3, 30)
    """

    about: ClassVar[About] = About(
        paper="Li 2019, 4.7",
        joint=True,
        learners=ANY_LEARNER,
        cost="n d L for each fold, and n K (L + 3)",
    )

    def __init__(
        self,
        learner: Any = "logistic",
        *,
        C: float | str = "auto",
        max_iter: int = 1000,
        n_candidates: int = 10,
        n_training_sets: int = 0,
        kind: str = "boosting",
        objective: str = "squared",
        n_boosters: int = 1,
        monotone: bool = False,
        target: str = "set_accuracy",
        confidence_in: str | None = None,
        features: Any = "all",
        label_calibration: str | None = "isotonic",
        n_folds: int = 5,
        ensemble: bool = False,
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            None,
            n_candidates=n_candidates,
            n_training_sets=n_training_sets,
            confidence_in=confidence_in,
            kind=kind,
            objective=objective,
            n_boosters=n_boosters,
            monotone=monotone,
            target=target,
            features=features,
            label_calibration=label_calibration,
            n_folds=n_folds,
            ensemble=ensemble,
            allow_empty=allow_empty,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        del self.estimator  # the first stage is made of what follows
        self.learner = learner
        self.C = C
        self.max_iter = max_iter

    def _first_model(self, rows: TrainingRows) -> BinaryRelevance:
        needs_no_C = self.C == "auto" and self.learner not in LEARNERS_WITH_C
        model = BinaryRelevance(
            self.learner,
            C=1.0 if needs_no_C else self.C,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        # Chosen once, on all rows: folds must not differ in what the calibrator learns from.
        return model.with_chosen_C(rows.X, rows.Y, rows.weight, rows.groups)
