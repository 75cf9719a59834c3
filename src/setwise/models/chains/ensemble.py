"""Ensembles of chains with random orders, each learnt from some of the rows.

- ``voting="label"`` (ECC, Read et al. 2009): each chain predicts a set; a label's probability is
  the share of the chains that have it.
- ``voting="subset"``: the sets are voted for as a whole.
- ``voting="mixture"`` (EPCC, Dembczyński et al. 2010): the chains' probabilities are averaged.

All of them as in Hong, Batal and Hauskrecht (2015), section 5.2.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count
from setwise.data.randomness import as_generator
from setwise.decisions import Decision
from setwise.distributions import Distribution, Product, Sampled
from setwise.distributions.chain import Chain
from setwise.distributions.chain_search import ChainSearch
from setwise.distributions.experts import Experts, given_any_label
from setwise.errors import DataError
from setwise.learners.linear import linear_scores
from setwise.models.about import About
from setwise.models.base import SetClassifier
from setwise.models.chains.network import (
    C_LABELS,
    best_strength,
    chain_parents,
    check_strengths,
    fit_network,
)
from setwise.models.chains.order import simple_order
from setwise.models.held_out import held_out_parts
from setwise.models.strength import HELD_OUT_SHARE
from setwise.storage import storable

VOTINGS = ("mixture", "label", "subset")


@storable
class ChainEnsemble(SetClassifier):
    """Chains of logistic regressions in random orders.

    Parameters
    ----------
    n_chains : int
        How many.
    voting : {"mixture", "label", "subset"}
        What is averaged: the chains' probabilities of sets, their predicted labels, or their
        predicted sets.
    subsample : float
        The share of the rows, chosen without replacement, that each chain learns from.
    search, width, epsilon
        How each chain's likeliest sets are looked for, as in ``ClassifierChain``.
    C, C_labels, target, allow_empty, max_iter, random_state, n_jobs, verbose
        As in ``ClassifierChain``.

    Attributes
    ----------
    orders_ : array (M, L); weights_ : array (M, d, L); biases_ : array (M, L);
    label_weights_ : array (M, L, L); chosen_ : what was chosen where "auto" was given;
    label_names_ : tuple of the labels' names

    Notes
    -----
    Votes for sets make every other set impossible: its log-probability is -inf.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = ChainEnsemble(5, subsample=1.0).fit(X, [{"a"}, {"a"}, {"b"}, {"b"}])
    >>> model.predict_sets(np.array([[0.2], [2.9]]))
    [('a',), ('b',)]
    """

    about: ClassVar[About] = About(
        paper="Read 2009; Dembczyński 2010; Hong 2015, 5.2",
        joint=True,
        learners="logistic",
        cost="n (d + L) L K",
    )

    def __init__(
        self,
        n_chains: int = 10,
        *,
        voting: str = "mixture",
        subsample: float = 0.67,
        search: str = "a_star",
        width: int = 15,
        epsilon: float = 0.25,
        C: float | str = 1.0,
        C_labels: float = C_LABELS,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        max_iter: int = 200,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_chains = n_chains
        self.voting = voting
        self.subsample = subsample
        self.search = search
        self.width = width
        self.epsilon = epsilon
        self.C = C
        self.C_labels = C_labels
        self.target = target
        self.allow_empty = allow_empty
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        self._check()
        dense = Y.toarray().astype(np.float64)
        # Orders are random from the most frequent label on, so that columns may stand anyhow.
        by_count = simple_order("frequency", dense, sample_weight, None)
        C: Any = self.C
        if C == "auto":
            parts = held_out_parts(Y, sample_weight, groups, HELD_OUT_SHARE, self.random_state)
            C = best_strength(
                X, dense, sample_weight, parts, chain_parents(by_count), self.C_labels,
                max_iter=self.max_iter, n_jobs=self.n_jobs,
            )  # fmt: skip
        random = as_generator(self.random_state)
        orders, fits = [], []
        for number in range(self.n_chains):
            orders.append(by_count[random.permutation(dense.shape[1])])
            rows, weight = _some_rows(sample_weight, len(dense), self.subsample, random)
            fit = fit_network(
                X[rows],
                dense[rows],
                chain_parents(orders[-1]),
                C=C,
                C_labels=self.C_labels,
                weight=weight,
                max_iter=self.max_iter,
                n_jobs=self.n_jobs,
            )
            fits.append(fit)
            if self.verbose:
                print(f"chain {number + 1}: objective {fits[-1].objective.sum():.6g}")
        return {
            "orders_": np.stack(orders),
            "weights_": np.stack([fit.features for fit in fits]),
            "biases_": np.stack([fit.biases for fit in fits]),
            "label_weights_": np.stack([fit.labels.astype(np.float64) for fit in fits]),
            "solver_iterations_": max(fit.n_iter for fit in fits),
            "chosen_": {"C": C} if self.C == "auto" else {},
        }

    def _check(self) -> None:
        self._search()
        check_strengths(self.C, self.C_labels)
        check_count("n_chains", self.n_chains, at_least=1)
        if self.voting not in VOTINGS:
            raise DataError(f"voting is one of {', '.join(VOTINGS)}, not {self.voting!r}")
        if not 0 < self.subsample <= 1:
            raise DataError(f"subsample is a share of the rows over 0, not {self.subsample!r}")
        if self.voting == "mixture" and self.search == "greedy":
            raise DataError(
                'voting="mixture" needs several sets of each chain, and search="greedy" finds one; '
                'use search="a_star" or "beam", or voting="label" or "subset"'
            )

    def _search(self) -> ChainSearch:
        return ChainSearch(self.search, self.width, self.epsilon)

    def _distribution(self, X: Any) -> Distribution:
        chains = [self._chain(X, number) for number in range(len(self.orders_))]
        if self.voting == "mixture":
            log_pi = np.zeros((X.shape[0], len(chains)))
            if not self.allow_empty_:
                log_pi = given_any_label(log_pi, np.stack([c.log_any for c in chains], axis=1))
            return Experts(log_pi, chains)
        votes = np.stack([chain.mode()[0] for chain in chains])  # (M, n, L)
        if self.voting == "subset":
            return Sampled(votes, allow_empty=self.allow_empty_)
        share = (votes.sum(axis=0) + 0.5) / (len(votes) + 1)  # none is sure of a label
        return Product(np.log(share) - np.log1p(-share), self.allow_empty_, self.n_jobs)

    def _chain(self, X: Any, number: int) -> Chain:
        logits = linear_scores(X, self.weights_[number], self.biases_[number], self.n_jobs)
        return Chain(
            logits.astype(np.float64), self.label_weights_[number], self.orders_[number],
            self._search(), self.allow_empty_, n_jobs=self.n_jobs,
        )  # fmt: skip

    def _iterations(self) -> int:
        return int(self.solver_iterations_)


def _some_rows(
    weight: np.ndarray | None, n: int, share: float, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | None]:
    """A share of the rows that count, in their order, and their weights."""
    counting = np.arange(n) if weight is None else np.flatnonzero(weight)
    size = max(1, round(share * len(counting)))
    rows = np.sort(random.permutation(counting)[:size])
    return rows, None if weight is None else weight[rows]
