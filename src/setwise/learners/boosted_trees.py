"""Trees on LightGBM: rows binned once, and boosters that take their gradients from us.

A booster holds the trees of many targets, as the classes of one problem: all share the bins, and
nothing is binned again when targets and weights change. Labels are never given to the
binned rows, as live boosters share them: gradients come from a function instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
from scipy import sparse

from setwise.errors import DataError
from setwise.learners.bank_inputs import check_rows
from setwise.learners.in_threads import in_threads, thread_count
from setwise.learners.tree_text import checked_text

# Given scores (n, L) and a group of targets: first and second derivatives for that group.
Gradients = Callable[[np.ndarray, slice], tuple[np.ndarray, np.ndarray]]

# Histograms by rows are faster until they outgrow the cache; left to itself LightGBM times both
# ways and so chooses, and rounds, differently from run to run.
MOST_FEATURES_BY_ROWS = 500

# If rows in the bins of others, a subset of them say, have more entries than this, and would have
# fewer by the density of those others, LightGBM counts them in 16 bits, and writes outside its
# buffers; by columns that are kept sparse, too. So no column is sparse in bins that others may
# share, and such rows are read by columns. Rows that are alone keep sparse columns: words are then
# learnt from seven times as fast.
MOST_IN_16_BITS = 2**16 - 1

# Histograms of small integers fit the cache. The levels are as many as a byte holds, with room for
# rounding; leaves get their values from the exact gradients.
QUANTIZED = {
    "use_quantized_grad": True,
    "num_grad_quant_bins": 120,
    "stochastic_rounding": False,
    "quant_train_renew_leaf": True,
}


# How many threads LightGBM uses is a setting of the whole process, and a prediction crashes when
# another thread changes it meanwhile. So nothing here asks for another number; we share the work.
ONE_THREAD = 1


@dataclass(frozen=True)
class TreeSettings:
    """How trees are grown."""

    n_leaves: int = 5
    shrinkage: float = 0.1
    min_rows_in_leaf: int = 20
    monotone: Sequence[int] | None = None
    seed: int = 0
    n_jobs: int | None = None
    quantized: bool = False
    random_splits: bool = False  # one threshold a feature, drawn at random (extremely randomised)


class BinnedRows:
    """Rows X (n, d) with their features cut into at most ``max_bins`` bins, once and for all.

    X is kept for prediction and must not be changed in place afterwards. ``alone`` promises that no
    subset of them and no other rows will share their bins.
    """

    def __init__(
        self, X: Any, max_bins: int = 31, bins: SharedBins | None = None, *, alone: bool = False
    ) -> None:
        self.source = X
        self.X = check_rows(X)
        if not self.X.shape[0]:
            raise DataError("there are no rows to learn from; pass at least one")
        if max_bins < 2:
            raise DataError(f"max_bins must be at least 2, not {max_bins!r}; correct it")
        self.max_bins, self.alone = max_bins, alone
        self._density = density_of(self.X) if bins is None else bins.density
        has_room = bins is None or may_be_read_by_rows(self.X, bins.density)
        self._by_rows = has_room and self.X.shape[1] <= MOST_FEATURES_BY_ROWS
        put = _put(self.X) if bins is None else bins.put
        self._dataset = put(self.parameters)
        self._dataset.construct()

    @property
    def parameters(self) -> dict[str, Any]:
        """What LightGBM must be told again whenever it meets the rows."""
        return {
            "max_bin": self.max_bins,
            "min_data_in_bin": 1,
            "feature_pre_filter": False,
            "is_enable_sparse": self.alone,
            "force_row_wise": self._by_rows,
            "force_col_wise": not self._by_rows,
            "num_threads": ONE_THREAD,
            "verbosity": -1,
        }

    @property
    def dataset(self) -> Any:
        """The rows as LightGBM has them."""
        return self._dataset

    @cached_property
    def can_be_split(self) -> bool:
        """Whether some feature has two bins; LightGBM fails where none has."""
        return any(self._dataset.feature_num_bin(j) > 1 for j in range(self.X.shape[1]))

    def subset(self, rows: np.ndarray) -> BinnedRows:
        """Some of the rows, in rising order, in the same bins; cheap."""
        rows, whole = np.asarray(rows), self._shared()

        def put(parameters: dict[str, Any]) -> Any:
            return whole.subset(rows, params=parameters)

        return BinnedRows(self.X[rows], self.max_bins, SharedBins(put, self._density))

    def others(self, X: Any) -> BinnedRows:
        """Other rows, in the same bins."""
        bins = SharedBins(_put(X, reference=self._shared()), self._density)
        return BinnedRows(X, self.max_bins, bins)

    def _shared(self) -> Any:
        if self.alone:
            raise DataError("these rows were to be alone in their bins; make them without alone")
        return self._dataset


def _put(X: Any, reference: Any = None) -> Callable[[dict[str, Any]], Any]:
    """What makes a data set of rows, in bins of their own or in those of another."""
    import lightgbm  # takes long, and is for boosting alone

    return lambda parameters: lightgbm.Dataset(
        for_lightgbm(X),
        reference=reference,
        label=np.zeros(X.shape[0]),
        params=parameters,
        free_raw_data=True,
    )


@dataclass(frozen=True)
class SharedBins:
    """The bins of other rows, with the density (d,) of these."""

    put: Callable[[dict[str, Any]], Any]  # makes a data set, of LightGBM's parameters
    density: np.ndarray


def density_of(X: Any) -> np.ndarray:
    """The share of entries in each feature (d,) that are not zero."""
    if sparse.issparse(X):
        counts = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    else:
        counts = np.count_nonzero(X, axis=0)
    share: np.ndarray = counts / X.shape[0]
    return share


def may_be_read_by_rows(X: Any, density: np.ndarray) -> bool:
    """Whether rows X (m, d) have room in the bins of rows with a density (d,).

    LightGBM keeps what is not in a feature's commonest bin: that of zero where most entries are
    zero. The room that it expects to need is at least the rarer of zeros and others, by density.

    >>> half_full = np.array([[0.0, 1.0]])
    >>> may_be_read_by_rows(half_full, np.array([0.1, 0.1]))
    True
    """
    n, mostly_zero = X.shape[0], density <= 0.5
    most = n * (density_of(X)[mostly_zero].sum() + np.count_nonzero(~mostly_zero))
    expected = n * np.minimum(density, 1 - density).sum()
    return bool(most <= MOST_IN_16_BITS or expected > 1.01 * MOST_IN_16_BITS)


@dataclass(frozen=True)
class Addition:
    """Trees just grown: per group as LightGBM writes them, and how many per target.

    ``sizes`` counts them after each round, for each group; a group that has nothing to split
    grows none in a round.
    """

    texts: list[str]
    sizes: list[list[int]]


class GrowingTrees:
    """Live boosters on binned rows, on top of an offset (n, L): one for each group of targets.

    Groups grow side by side, each in one thread. LightGBM's own threads wait for each other at
    every split of every tree: where a core is busy with something else, they stand still.
    """

    def __init__(self, binned: BinnedRows, offset: np.ndarray, settings: TreeSettings) -> None:
        import lightgbm

        self.binned, self.settings = binned, settings
        self._scores = np.asfortranarray(offset)
        self._offset = self._scores.copy(order="F")
        self._groups = groups(offset.shape[1], thread_count(settings.n_jobs))
        parameters = binned.parameters | lightgbm_parameters(settings)
        self._boosters = [
            lightgbm.Booster(parameters | {"num_class": group.stop - group.start}, binned.dataset)
            for group in self._groups
        ]
        self._starts = [0] * len(self._groups)  # trees per target before the last ``add``

    def add(self, gradients: Gradients, n_rounds: int, coupled: bool) -> Addition:
        """Grow ``n_rounds`` trees for each target; none where nothing can be split any more.

        ``coupled`` says that the gradients of a target depend on the scores of all.
        """
        meeting = Barrier(len(self._groups))
        failures: list[BaseException] = []

        def grow(number: int) -> tuple[str, list[int]]:
            booster, group = self._boosters[number], self._groups[number]
            # Both are LightGBM's own state, of this thread and of the process.
            booster.reset_parameter({"verbosity": -1, "num_threads": ONE_THREAD})

            def derivatives(scores: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
                own = self._offset[:, group]
                np.add(own, scores.reshape(own.shape, order="F"), out=self._scores[:, group])
                if coupled:
                    meeting.wait()  # until all scores are those of this round
                first, second = gradients(self._scores, group)
                if coupled:
                    meeting.wait()  # until nobody reads them any more
                return flat(first), flat(second)

            start = self._starts[number] = booster.current_iteration()
            sizes = []
            try:
                for _ in range(n_rounds):
                    booster.update(fobj=derivatives)
                    sizes.append(booster.current_iteration() - start)
            except BaseException as error:
                failures.append(error)
                meeting.abort()
                raise
            return str(booster.model_to_string(sizes[-1], start)), sizes

        try:
            grown = in_threads(grow, len(self._groups), len(self._groups))
        except BrokenBarrierError:  # a group that waited for the one that failed
            raise failures[0] from None
        texts, sizes = zip(*grown, strict=True)
        return Addition(list(texts), [list(round_) for round_ in zip(*sizes, strict=True)])

    def scores(self) -> np.ndarray:
        """What offset and trees say about the rows now, (n, L)."""
        scores = self._offset.copy(order="F")
        for booster, group in zip(self._boosters, self._groups, strict=True):
            scores[:, group] += training_scores(booster).reshape(scores[:, group].shape, order="F")
        return scores

    def newest_scores(self, X: Any) -> np.ndarray:
        """What the trees of the last ``add`` say about other rows, (m, L)."""
        rows = for_lightgbm(X)

        def say(number: int) -> np.ndarray:
            booster, start = self._boosters[number], self._starts[number]
            group = self._groups[number]
            if booster.current_iteration() == start:
                return np.zeros((X.shape[0], group.stop - group.start))
            said: np.ndarray = booster.predict(
                rows, start, raw_score=True, num_threads=ONE_THREAD, verbosity=-1
            )
            return said

        return np.column_stack(in_threads(say, len(self._groups), len(self._groups)))


def training_scores(booster: Any) -> np.ndarray:
    """What a booster holds for its own rows: LightGBM shows it to measures only."""
    seen = []

    def measure(scores: np.ndarray, _: Any) -> tuple[str, float, bool]:
        seen.append(scores)
        return "", 0.0, True

    booster.eval_train(measure)
    scores: np.ndarray = seen[0]
    return scores


def groups(n_targets: int, n_groups: int) -> list[slice]:
    """Targets in at most ``n_groups`` runs of nearly equal length.

    >>> groups(5, 2)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    parts = np.array_split(np.arange(n_targets), min(n_groups, n_targets))
    return [slice(int(part[0]), int(part[-1]) + 1) for part in parts]


def lightgbm_parameters(settings: TreeSettings) -> dict[str, Any]:
    """The settings in LightGBM's words."""
    parameters: dict[str, Any] = {
        "objective": "none",
        "num_leaves": settings.n_leaves,
        "learning_rate": settings.shrinkage,
        "min_data_in_leaf": settings.min_rows_in_leaf,
        "seed": settings.seed,
        "deterministic": True,
    }
    if settings.quantized:
        parameters |= QUANTIZED
    if settings.random_splits:
        parameters |= {"extra_trees": True, "extra_seed": settings.seed}
    if settings.monotone is not None:
        parameters["monotone_constraints"] = [int(sign) for sign in settings.monotone]
        parameters["quant_train_renew_leaf"] = False  # new values would ignore the constraint
    return parameters


def read_trees(texts: Sequence[str]) -> list[Any]:
    """The boosters, one for each group of targets, whose ``texts`` are given."""
    import lightgbm

    return [lightgbm.Booster(model_str=checked_text(text)) for text in texts]


def tree_scores(
    stages: Sequence[Sequence[Any]], X: Any, n_targets: int, n_jobs: int | None = None
) -> np.ndarray:
    """The sum over stages of what their boosters say, (n, L); rows are shared out to threads."""
    total = np.zeros((X.shape[0], n_targets))
    shares = groups(X.shape[0], thread_count(n_jobs)) if X.shape[0] else []

    def add_rows(number: int) -> None:
        share = shares[number]
        rows = for_lightgbm(X[share])
        for boosters in stages:
            parts = [
                booster.predict(rows, raw_score=True, num_threads=ONE_THREAD, verbosity=-1)
                for booster in boosters
            ]
            total[share] += np.column_stack(parts)

    in_threads(add_rows, len(shares), n_jobs)
    return total


def for_lightgbm(X: Any) -> Any:
    """X as LightGBM reads it: of sparse containers, it takes the older kind only."""
    return sparse.csr_matrix(X) if sparse.issparse(X) else X


def flat(derivative: np.ndarray) -> np.ndarray:
    """(n, L) as LightGBM wants it: target after target, in single precision."""
    return derivative.astype(np.float32).ravel(order="F")


def check_tree_settings(n_trees: int, settings: TreeSettings, n_features: int) -> None:
    """Refuse settings without a meaning."""
    if n_trees < 1 or settings.n_leaves < 2 or settings.min_rows_in_leaf < 1:
        raise DataError(
            "n_trees and min_rows_in_leaf must be at least 1 and n_leaves at least 2, not "
            f"{n_trees}, {settings.min_rows_in_leaf} and {settings.n_leaves}; correct them"
        )
    if not 0 < settings.shrinkage <= 1:
        raise DataError(f"shrinkage must lie in (0, 1], not at {settings.shrinkage}; correct it")
    signs = settings.monotone
    if signs is not None and (len(signs) != n_features or not set(signs) <= {-1, 0, 1}):
        raise DataError(
            f"monotone must give -1, 0 or 1 for each of the {n_features} features; got {signs!r}"
        )
