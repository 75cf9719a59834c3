"""Several models' probabilities of label sets, averaged: a linear opinion pool.

    p(y|x) = sum over m of  w_m p_m(y|x)

Models that err in different ways are surer together of what they agree on, and less sure of the
rest. The weights are those under which rows that the models have not seen are likeliest (Yao et al.
2018 call it stacking of predictive distributions): the likelihood is concave in them, and EM finds
its maximum. Averages of probabilities, of label marginals and of set sizes are exact, and so is
every decision that is made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from setwise.data.arguments import check_count
from setwise.decisions import Decision
from setwise.distributions import Distribution
from setwise.distributions.batched import BATCH_CELLS, Batched
from setwise.distributions.experts import Experts, OpinionPool
from setwise.errors import DataError
from setwise.metrics.options import check_choice
from setwise.models.about import About
from setwise.models.average_members import default_members
from setwise.models.base import SetClassifier
from setwise.models.folds import dealt_out, n_units
from setwise.storage import storable

WEIGHTS = ("likelihood", "equal")
LEAST_UNITS = 10  # rows or groups, fewer than which tell no model from another
LEAST_WEIGHT = 0.01  # models that weigh less are left out
MOST_ROUNDS, TOLERANCE = 1000, 1e-9  # of EM, in rounds and nats a row
LISTED = 16  # sets that each model lists where the likeliest are looked for
CELLS_A_LABEL = 100  # numbers that a model may hold for a row and a label, counted on for batches


@storable
class ModelAverage(SetClassifier):
    """A weighted average of models.

    Parameters
    ----------
    estimators : list of models, optional
        Models of this library that have a distribution. By default a few of different kinds,
        linear ones and, where the features are dense, boosted ones.
    weights : {"likelihood", "equal"} or sequence of float
        Of the models: those under which rows that they have not seen are likeliest; all alike; or
        given. Models that weigh less than one in a hundred are left out. Fewer than ten rows, or
        groups, tell no model from another: all weigh alike.
    n_folds : int
        Parts of the rows, each judged by models of the others; for "likelihood".
    n_judged : int
        Enough rows to find the weights by: folds are judged in turn until they have so many.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one. The models are told so.
    random_state : int
        Seeds what chance decides, in the default models as well.
    n_jobs : int, optional
        Threads of the default models; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    models_ : list of the fitted models that have a weight
    weights_ : array of their weights, which add up to one
    all_weights_ : array, one for each of the estimators
    label_names_ : tuple of the labels' names

    Notes
    -----
    The likeliest sets are the best among the sixteen likeliest of each model, by the threshold
    algorithm; ``predict_dist(X).searched(k).gap`` says what any other set could be above them.

    Examples
    --------
    >>> from setwise.models import BinaryRelevance, PowerSet
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = ModelAverage([BinaryRelevance(C=10), PowerSet(C=10)], weights="equal")
    >>> model.fit(X, [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}]).predict_sets([[0.2], [2.9]])
    [('a',), ('a', 'b')]
    >>> model.weights_.tolist()
    [0.5, 0.5]
    """

    about: ClassVar[About] = About(
        paper="Stone 1961; Yao 2018",
        joint=True,
        learners="any models",
        cost="that of its models, and again for each fold",
    )

    def __init__(
        self,
        estimators: Any = None,
        *,
        weights: str | Sequence[float] = "likelihood",
        n_folds: int = 5,
        n_judged: int = 500,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_folds = n_folds
        self.n_judged = n_judged
        self.target = target
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        check_count("n_folds", self.n_folds, at_least=2)
        check_count("n_judged", self.n_judged, at_least=1)
        units = n_units(sample_weight, groups, X.shape[0])
        members = self._members(X, Y, units)
        if isinstance(self.weights, str):
            check_choice("weights", self.weights, WEIGHTS)
            weights = np.full(len(members), 1 / len(members))
            if self.weights == "likelihood" and units >= LEAST_UNITS and len(members) > 1:
                weights = self._likeliest(members, X, Y, sample_weight, groups)
        else:
            weights = _given(self.weights, len(members))
        kept = np.flatnonzero(weights >= min(LEAST_WEIGHT, weights.max()))
        weights[np.setdiff1d(np.arange(len(weights)), kept)] = 0
        weights /= weights.sum()
        if self.verbose:
            for model, weight in zip(members, weights, strict=True):
                print(f"{weight:6.3f}  {model}")
        return {
            "models_": [clone(members[m]).fit(X, Y, sample_weight, groups) for m in kept],
            "weights_": weights[kept],
            "all_weights_": weights,
        }

    def _members(self, X: Any, Y: sparse.csr_array, units: int) -> list[Any]:
        """The models to be averaged, which agree on the empty set."""
        members = self.estimators
        if members is None:
            members = default_members(
                X,
                Y,
                may_hold_out=units >= LEAST_UNITS,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        if not isinstance(members, list | tuple) or not members:
            raise DataError(f"estimators is a list of one model or more, not {members!r}")
        strange = next((m for m in members if not isinstance(m, SetClassifier)), None)
        if strange is not None:
            raise DataError(f"estimators are models of this library, not {strange!r}")
        allow_empty = self._may_be_empty(Y)
        return [clone(model).set_params(allow_empty=allow_empty) for model in members]

    def _likeliest(
        self, members: list[Any], X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> np.ndarray:
        """The weights under which rows are likeliest for models that have not seen them."""
        part = dealt_out(Y, sample_weight, groups, self.n_folds, self.random_state)
        judged: list[np.ndarray] = []
        for number in range(part.max() + 1):
            judged.append(np.flatnonzero(part == number))
            if sum(map(len, judged)) >= self.n_judged:
                break
        rows = np.concatenate(judged)
        log_prob = np.concatenate(
            [_out_of_fold(members, X, Y, sample_weight, groups, part, inside) for inside in judged]
        )
        return likeliest_weights(log_prob, None if sample_weight is None else sample_weight[rows])

    def _distribution(self, X: Any) -> Distribution:
        said = [model.predict_dist(X) for model in self.models_]  # each holds what it has room for

        def average(rows: Any) -> Experts:
            parts = [one.rows(rows) for one in said]
            log_pi = np.tile(np.log(self.weights_), (parts[0].n_rows, 1))
            if self.estimators is None:  # other rows may have other models, without places
                return Experts(log_pi, parts, most_listed=LISTED, warn=False)
            places = tuple(np.flatnonzero(self.all_weights_).tolist())
            return OpinionPool(
                log_pi,
                parts,
                most_listed=LISTED,
                warn=False,
                n_models=len(self.all_weights_),
                places=places,
            )

        n, L = X.shape[0], len(self.label_names_)
        size = max(1, BATCH_CELLS // (CELLS_A_LABEL * L))
        if n <= size:
            return average(slice(0, n))
        return Batched(average, np.arange(n), L, size, allow_empty=self.allow_empty_)

    def _iterations(self) -> int:
        return max(int(model.n_iter_) for model in self.models_)


def likeliest_weights(log_prob: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """The weights (M,) of models under which rows are likeliest.

    Parameters
    ----------
    log_prob : array (n, M)
        Log-probabilities of the rows' own sets by each model; rows that none finds possible do not
        count.
    weight : array (n,), optional
        How much each row counts.

    Examples
    --------
    >>> sure = np.log([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]])
    >>> likeliest_weights(sure).round(2).tolist()
    [0.85, 0.15]
    """
    n_models = log_prob.shape[1]
    equal = np.full(n_models, 1 / n_models)
    weight = np.ones(len(log_prob)) if weight is None else weight
    possible = np.isfinite(log_prob.max(axis=1)) & (weight > 0)
    if not possible.any():
        return equal
    log_prob, weight = log_prob[possible], weight[possible] / weight[possible].sum()
    ratios = np.exp(log_prob - log_prob.max(axis=1, keepdims=True))  # (n, M)
    weights, before = equal, -np.inf
    for _ in range(MOST_ROUNDS):
        mixed = ratios @ weights
        now = float(weight @ np.log(mixed))
        if now - before < TOLERANCE:
            break
        before = now
        weights = weights * ((weight / mixed) @ ratios)
    normalised: np.ndarray = weights / weights.sum()
    return normalised


def _out_of_fold(
    members: list[Any],
    X: Any,
    Y: sparse.csr_array,
    sample_weight: Any,
    groups: Any,
    part: np.ndarray,
    inside: np.ndarray,
) -> np.ndarray:
    """What models of the other folds say of the sets of one fold's rows, (rows, M)."""
    outside = np.flatnonzero(part != part[inside[0]])
    weight, group = (None if given is None else given[outside] for given in (sample_weight, groups))
    fitted = [clone(model).fit(X[outside], Y[outside], weight, group) for model in members]
    return np.stack([m.predict_dist(X[inside]).log_prob(Y[inside]) for m in fitted], axis=1)


def _given(weights: Sequence[float], n_models: int) -> np.ndarray:
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n_models,) or not np.isfinite(given).all() or (given < 0).any():
        raise DataError(
            f"weights are numbers from zero on, one for each of {n_models} models, not {weights!r}"
        )
    if not given.any():
        raise DataError("weights are zero everywhere; give some model a weight")
    shares: np.ndarray = given / given.sum()
    return shares
