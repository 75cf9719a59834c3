"""What every model shares: labels in and out, the decision for a metric, storage.

A model implements ``_learn``, which returns its fitted attributes, and ``_distribution``, which
turns rows of features into p(y|x). Everything else is here, so that all models agree on it.
"""

from __future__ import annotations

from abc import abstractmethod
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from setwise import metrics, storage
from setwise.data.formats.files import StrPath
from setwise.data.labels import Label, LabelSpace, is_frame
from setwise.decisions import Decision, decision_for
from setwise.decisions.base import row_batches
from setwise.distributions.base import Distribution
from setwise.errors import DataError, LabelMismatch
from setwise.models.about import About
from setwise.models.containers import container_of, in_container
from setwise.models.tuning import tune_decisions


class SetClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the models: a scikit-learn classifier of label sets.

    Subclasses have the parameters ``target``, ``allow_empty`` and ``random_state``, and say
    ``about`` themselves what ``list_models`` shows.
    """

    about: ClassVar[About]
    #: Whether ``verbose`` shows a fit as it goes, so that a line at its end would only disturb.
    shows_rounds: ClassVar[bool] = False

    target: str | Decision
    allow_empty: bool | str
    random_state: int | None

    @abstractmethod
    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        """The fitted attributes, by name; X is checked, Y canonical."""

    @abstractmethod
    def _distribution(self, X: Any) -> Distribution:
        """p(y|x) for rows of checked features."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn p(y|x) from rows with their label sets.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d)
        y : 0/1 array, sparse matrix, DataFrame (n, L), or a list of n label sets
        sample_weight : array (n,), optional
            How much each row counts.
        groups : array (n,), optional
            Rows of one group stay together wherever rows are held out.
        """
        return self._fit_whole(X, y, sample_weight, groups)

    def _fit_whole(self, X: Any, y: Any, sample_weight: Any, groups: Any, **more: Any) -> Self:
        """All of a fit or nothing: one that fails leaves an earlier one as it was."""
        before, start = dict(vars(self)), perf_counter()
        try:
            X = validate_data(self, X, **_FEATURES)
            self._fit(X, y, sample_weight, groups, **more)
        except BaseException:
            self.__dict__ = before
            raise
        if getattr(self, "verbose", 0) and not self.shows_rounds:
            print(self._told(X.shape[0], perf_counter() - start))
        return self

    def _told(self, n: int, seconds: float) -> str:
        """A fit in a line."""
        words = [f"{n:,} rows", f"{len(self.label_names_):,} labels"]
        if self.n_iter_ > 1:  # one stands for solvers that count none as well
            words.append(f"{self.n_iter_:,} iterations")
        return f"{type(self).__name__}: {', '.join(words)}, {seconds:.1f} s"

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, **more: Any) -> None:
        y = _array_if_like_one(y)
        space, Y = _labels(y, X.shape[0])
        weights = checked_weights(sample_weight, X)
        groups = checked_groups(groups, X.shape[0])
        allow_empty = self._may_be_empty(Y)
        decision = self._decision()
        # A rule must be tuned on rows that its model has not seen.
        if decision.needs_tuning:
            tune_decisions(self, [decision], X, Y, weights, groups, allow_empty=allow_empty)
        self.label_names_ = space.names
        fitted = self._learn(X, Y, weights, groups, **more)
        fitted |= {
            "allow_empty_": allow_empty,
            "decision_": decision,
            "label_container_": container_of(y),
            "label_dtype_": y.dtype.name if isinstance(y, np.ndarray) and y.ndim == 2 else "int64",
        }
        for name, value in fitted.items():
            setattr(self, name, value)

    def _may_be_empty(self, Y: sparse.csr_array) -> bool:
        """Whether the empty set may be predicted, by what was asked for or by training."""
        if self.allow_empty not in (True, False, "auto"):
            raise DataError(f'allow_empty is True, False or "auto", not {self.allow_empty!r}')
        if self.allow_empty == "auto":
            return bool((np.diff(Y.indptr) == 0).any())
        return bool(self.allow_empty)

    def predict_dist(self, X: Any) -> Distribution:
        """p(y|x) for each row, as a distribution object."""
        return self._distribution(self._features(X))

    def predict(self, X: Any) -> Any:
        """The label sets that are best for ``target``, 0/1, in the container that y was."""
        decided = self._decided(X).astype(self.label_dtype_)
        return in_container(decided, self.label_container_, self._space)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label, (n, L)."""
        return self.predict_dist(X).marginals()

    def predict_sets(self, X: Any) -> list[tuple[Label, ...]]:
        """The predicted label sets as tuples of label names."""
        decided = self._decided(X)
        return self._space.decode(decided)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Set accuracy: the share of rows whose predicted set is exactly right."""
        decided = self._decided(X)
        truth = self._space.encode(_array_if_like_one(y))
        return metrics.set_accuracy(truth, decided, sample_weight=sample_weight)

    def save(self, path: StrPath) -> None:
        """Write the model as one file that cannot run code; ``setwise.load`` reads it."""
        storage.save(self, path)

    @property
    def classes_(self) -> np.ndarray:
        """The label names in column order, as scikit-learn calls them."""
        check_is_fitted(self, "label_names_")
        return np.array(self.label_names_)

    @property
    def n_iter_(self) -> int:
        """Iterations of the solver that took most of them, 1 where it counts none."""
        check_is_fitted(self, "label_names_")
        return max(1, int(self._iterations()))

    def _iterations(self) -> int:
        return 1

    def _decision(self) -> Decision:
        """The rule that ``target`` asks for, not tuned."""
        return clone_decision(self.target)

    @property
    def _space(self) -> LabelSpace:
        return LabelSpace(self.label_names_)

    def _features(self, X: Any) -> Any:
        check_is_fitted(self, "label_names_")
        return checked_features(self, X)

    def _decided(self, X: Any) -> np.ndarray:
        X = self._features(X)
        n, L = X.shape[0], len(self.label_names_)
        parts = [self.decision_.decide(self._distribution(X[rows])) for rows in row_batches(n, L)]
        return np.concatenate([np.zeros((0, L), dtype=np.int8), *parts])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags


def checked_features(model: SetClassifier, X: Any) -> Any:
    """Rows of features like those that the model was given in fit."""
    return validate_data(model, X, reset=False, **_FEATURES)


_FEATURES = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


def _array_if_like_one(y: Any) -> Any:
    """Objects that numpy takes for arrays as arrays; containers of labels as they are."""
    is_known = y is None or sparse.issparse(y) or is_frame(y) or isinstance(y, np.ndarray)
    return np.asarray(y) if not is_known and hasattr(y, "__array__") else y


def _labels(y: Any, n: int) -> tuple[LabelSpace, sparse.csr_array]:
    """The label space of ``y`` and its canonical matrix, with as many rows as X has."""
    if y is None:
        raise DataError(
            "fit requires y to be passed, but the target y is None; pass the rows' label sets"
        )
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype != object:
        raise LabelMismatch(
            f"Unknown label type: {type_of_target(y)}. Label sets are a 0/1 matrix (n, L), a "
            "DataFrame or a list of sets; reshape a single 0/1 label to (n, 1). "
            "Only binary classification is supported."
        )
    space = LabelSpace.infer(y)
    encoded = space.encode(y)
    if encoded.shape[0] != n:
        raise LabelMismatch(f"X has {n} rows but y has {encoded.shape[0]}; pass the same rows")
    if encoded.shape[1] == 0:
        raise LabelMismatch("y has no labels, so there is nothing to learn; pass at least one")
    return space, encoded


def checked_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """One weight a row from zero on, not all zero; or None."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise DataError("sample_weight is zero everywhere; give some row a weight")
    checked: np.ndarray = weights
    return checked


def checked_groups(groups: Any, n: int) -> np.ndarray | None:
    """One group a row, or None."""
    if groups is None:
        return None
    given: np.ndarray = np.asarray(groups)
    if given.shape != (n,):
        raise DataError(f"groups has shape {given.shape}, but X has {n} rows; pass one a row")
    return given


def clone_decision(target: str | Decision) -> Decision:
    """A fresh rule: one given as an object is copied, so that fitting does not change it."""
    return clone(target, safe=False) if isinstance(target, Decision) else decision_for(target)
