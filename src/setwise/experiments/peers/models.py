"""Peers: scikit-learn's and LightGBM's ways to predict label sets, tuned on training rows.

For each target a setting is chosen by its measure on a fifth of the training rows. Labels that all
or no training rows have are predicted as they are there; most of these classifiers refuse them.
All are given their rows on the same scale as our default, and one thread of BLAS: with more, its
threads and those of scikit-learn wait for each other, up to ten times as long as they work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from lightgbm import LGBMClassifier
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from threadpoolctl import threadpool_limits

from setwise.data import holdout
from setwise.data.labels import as_binary_csr
from setwise.errors import DataError
from setwise.metrics import set_measures
from setwise.pipeline.row_scale import LikeliestScale

#: target -> its measure, and whether more or less of it is better
TARGETS = {
    "set_accuracy": ("set_accuracy", 1),
    "f1": ("instance_f1", 1),
    "hamming": ("hamming_loss", -1),
}
N_CHAINS = 10
SHARED = 50_000  # cells of Y, from which on processes pay


class Peer(BaseEstimator):  # type: ignore[misc]
    """Base: chooses a setting for each target, and fits each setting that was chosen.

    Parameters
    ----------
    settings : sequence of dict
        Parameters of the classifiers within, among which held-out training rows choose.
    random_state : int

    Attributes
    ----------
    chosen_ : dict, target -> setting
    fitted_ : dict, target -> what was fitted with that setting
    """

    def __init__(
        self, settings: Sequence[Mapping[str, Any]] = ({},), random_state: int = 0
    ) -> None:
        self.settings = settings
        self.random_state = random_state

    def fit(self, X: Any, Y: Any, groups: Any = None) -> Self:
        """Choose settings on held-out training rows, then fit with all of them."""
        labels = as_binary_csr(Y)
        self.scale_ = LikeliestScale(self.random_state).fit(X, labels, groups)
        X = self.scale_.transform(X)
        # scikit-learn's one-vs-rest counts columns in the type of their cells: of more than 127
        # labels in int8 it predicts wrong ones, without a word.
        dense = labels.toarray().astype(np.int64)
        numbers = dict.fromkeys(TARGETS, 0)
        if len(self.settings) > 1:
            split = holdout(labels, test_size=0.2, groups=groups, random_state=self.random_state)
            numbers = self._best_numbers(X, dense, *split)
        self.chosen_ = {target: dict(self.settings[number]) for target, number in numbers.items()}
        fitted = dict(self._fitted(X, dense, set(numbers.values())))
        self.fitted_ = {target: fitted[number] for target, number in numbers.items()}
        return self

    def predict_for(self, X: Any, target: str) -> np.ndarray:
        """Sets, 0/1 (n, L), by the setting that is best for a target."""
        found: np.ndarray = self.fitted_[target]._sets(self.scale_.transform(X))
        return found

    def _best_numbers(
        self, X: Any, Y: np.ndarray, train: np.ndarray, test: np.ndarray
    ) -> dict[str, int]:
        """The number of the setting that is best for each target, on held-out rows."""
        scores = np.full((len(TARGETS), len(self.settings)), -np.inf)
        judges = self._judge()._fitted(X[train], Y[train], range(len(self.settings)))
        for number, judge in judges:
            measured = set_measures(Y[test], judge._sets(X[test]))
            scores[:, number] = [sign * measured[name] for name, sign in TARGETS.values()]
        return dict(zip(TARGETS, scores.argmax(axis=1).tolist(), strict=True))

    def _fitted(self, X: Any, Y: np.ndarray, numbers: Iterable[int]) -> Iterator[tuple[int, Peer]]:
        """Copies that are fitted with the settings of these numbers, one after another."""
        for number in numbers:
            yield number, clone(self)._fit_all(X, Y, self.settings[number])

    def _judge(self) -> Peer:
        """What settings are judged by."""
        twin: Peer = clone(self)
        return twin

    def predict(self, X: Any) -> np.ndarray:
        """Sets for set accuracy."""
        return self.predict_for(X, "set_accuracy")

    def _sets(self, X: Any) -> np.ndarray:
        """Sets, 0/1 (n, L), of what one setting has fitted."""
        found = np.tile(self.constant_, (X.shape[0], 1))
        with threadpool_limits(1, user_api="blas"):
            found[:, self.varied_] = self._predict(_as_matrix(X))
        return found

    def _fit_all(self, X: Any, Y: np.ndarray, setting: Mapping[str, Any]) -> Self:
        self.varied_ = np.flatnonzero((Y.min(axis=0) == 0) & (Y.max(axis=0) == 1))
        self.constant_ = Y[0].astype(np.int8)
        with threadpool_limits(1, user_api="blas"):
            self._fit(_as_matrix(X), Y[:, self.varied_], setting)
        return self

    def _fit(self, X: Any, Y: np.ndarray, setting: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def _predict(self, X: Any) -> np.ndarray:
        predicted: np.ndarray = self.model_.predict(X)
        return predicted

    def _logistic(self, X: Any, setting: Mapping[str, Any]) -> LogisticRegression:
        solver = "liblinear" if sparse.issparse(X) else "lbfgs"
        return LogisticRegression(
            solver=solver, max_iter=1000, random_state=self.random_state, **setting
        )


class OneVsRest(Peer):
    """scikit-learn's one-vs-rest logistic regressions."""

    def _fit(self, X: Any, Y: np.ndarray, setting: Mapping[str, Any]) -> None:
        self.model_ = OneVsRestClassifier(self._logistic(X, setting), n_jobs=_jobs(Y)).fit(X, Y)


class Chain(Peer):
    """scikit-learn's classifier chain, in a random order."""

    def _fit(self, X: Any, Y: np.ndarray, setting: Mapping[str, Any]) -> None:
        self.model_ = self._chain(X, setting, 0).fit(X, Y)

    def _chain(self, X: Any, setting: Mapping[str, Any], number: int) -> ClassifierChain:
        seed = 1000 * self.random_state + number
        return ClassifierChain(self._logistic(X, setting), order="random", random_state=seed)


class TenChains(Chain):
    """Ten chains in random orders; the mean of their probabilities over one half.

    The setting is chosen for one of them.
    """

    def _judge(self) -> Peer:
        return Chain(self.settings, self.random_state)

    def _fit(self, X: Any, Y: np.ndarray, setting: Mapping[str, Any]) -> None:
        self.models_ = [self._chain(X, setting, number).fit(X, Y) for number in range(N_CHAINS)]

    def _predict(self, X: Any) -> np.ndarray:
        mean = np.mean([chain.predict_proba(X) for chain in self.models_], axis=0)
        return np.asarray(mean > 0.5, dtype=np.int8)


class MultinomialSets(Peer):
    """Each distinct label set a class of scikit-learn's multinomial logistic regression."""

    def _fit(self, X: Any, Y: np.ndarray, setting: Mapping[str, Any]) -> None:
        self.sets_, classes = np.unique(Y, axis=0, return_inverse=True)
        model = LogisticRegression(max_iter=300, random_state=self.random_state, **setting)
        self.model_ = model.fit(X, classes.ravel())

    def _predict(self, X: Any) -> np.ndarray:
        found: np.ndarray = self.sets_[self.model_.predict(X)]
        return found


class LightGBMOneVsRest(Peer):
    """One booster of LightGBM for each label; settings are numbers of trees.

    The boosters of the most trees serve all settings: the first trees of each are what it would
    have grown had it been told to stop there.
    """

    def _fitted(self, X: Any, Y: np.ndarray, numbers: Iterable[int]) -> Iterator[tuple[int, Peer]]:
        settings = {number: {"n_estimators": 100, **self.settings[number]} for number in numbers}
        if odd := [setting for setting in settings.values() if len(setting) > 1]:
            raise DataError(f"settings of LightGBM are numbers of trees alone, not {odd[0]}")
        most = max(settings.values(), key=lambda setting: setting["n_estimators"])
        grown = clone(self)._fit_all(X, Y, most)
        for number, setting in settings.items():
            part = copy(grown)
            part.n_trees_ = setting["n_estimators"]
            yield number, part

    def _fit(self, X: Any, Y: np.ndarray, setting: Mapping[str, Any]) -> None:
        X = X.astype(np.float32)
        booster = LGBMClassifier(
            verbosity=-1, n_jobs=1, random_state=self.random_state, **setting
        )  # labels side by side: its own threads wait for each other at every small step
        self.model_ = OneVsRestClassifier(booster, n_jobs=_jobs(Y)).fit(X, Y)

    def _predict(self, X: Any) -> np.ndarray:
        X = X.astype(np.float32)
        boosters = self.model_.estimators_
        return np.column_stack([one.predict(X, num_iteration=self.n_trees_) for one in boosters])


def _as_matrix(X: Any) -> Any:
    """Rows as all of them take them: not all take sparse arrays."""
    return sparse.csr_matrix(X) if sparse.issparse(X) else X


def _jobs(Y: np.ndarray) -> int | None:
    """All cores where there is enough to share; starting processes takes seconds."""
    return -1 if Y.size > SHARED else None
