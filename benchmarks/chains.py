"""Chains beside scikit-learn's, and their searches: ``python benchmarks/chains.py``.

Fitting: both sides minimise the same objective on bibtex (the same penalty for features and labels,
labels in the order of their columns). Ours is timed whole. Theirs is a loop over labels, timed on
some of them, spread over the chain, and multiplied; each side has the loosest tolerance with which
its summed objective is within 1e-3 of the best known, which is proven to be within 1e-4 of the
minimum. Searches run on the test rows of bibtex, 159 labels. Last, a mixture of ten experts on
yeast, grown without stopping early. Kernels are compiled beforehand, times are the least of a few.
Data sets come from ``$SETWISE_DATA``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import setwise as sw
from setwise.distributions.chain import Chain
from setwise.distributions.chain_search import ChainSearch
from setwise.models.chains import ClassifierChain, MixtureOfExperts
from setwise.models.chains.network import chain_parents, fit_network

GAP = 1e-3
THEIR_LABELS = 8


def least_time(call: Callable[[], object], repeats: int = 3, patience: float = 20.0) -> float:
    """Seconds of the fastest of some calls; a call of seconds needs few repetitions."""
    times: list[float] = []
    while len(times) < repeats and sum(times) < patience:
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def our_fit(X: Any, Y: np.ndarray, tol: float) -> Any:
    """The chain in column order, by one bank."""
    parents = chain_parents(np.arange(Y.shape[1]))
    return fit_network(X, Y, parents, C=1.0, C_labels=1.0, tol=tol, max_iter=1000)


def their_fit(X: Any, Y: np.ndarray, label: int, tol: float) -> tuple[float, float]:
    """Seconds, and the objective, of one place of scikit-learn's chain, with one thread of BLAS."""
    joined = sparse.csr_matrix(sparse.hstack([X, sparse.csr_array(Y[:, :label])]))
    with threadpool_limits(1):  # threads of BLAS wait for each other here, and take cores
        start = perf_counter()
        model = LogisticRegression(tol=tol, max_iter=10_000).fit(joined, Y[:, label])
        seconds = perf_counter() - start
    z = joined @ model.coef_[0] + model.intercept_[0]
    loss = (np.logaddexp(0, z) - Y[:, label] * z).sum()
    return seconds, float(loss + (model.coef_**2).sum() / 2)


def compare_fits(X: Any, Y: np.ndarray) -> Any:
    """Print both times; returns our chain."""
    best = our_fit(X, Y, 1e-4)
    print(f"fit: {best.converged.mean():.0%} of labels proven to be within 1e-4")
    for tol in (1e-3, 1e-4):
        found = our_fit(X, Y, tol)
        gap = found.objective.sum() / best.objective.sum() - 1
        if gap <= GAP:
            break
    ours = least_time(lambda: our_fit(X, Y, tol))
    print(f"fit: ours {ours:.2f} s at a gap of {gap:.1e}")
    some = np.linspace(0, Y.shape[1] - 1, THEIR_LABELS).astype(int)
    for their_tol in (1e-4, 3e-5, 1e-5, 3e-6, 1e-6):
        parts = [their_fit(X, Y, label, their_tol) for label in some]
        seconds = sum(part[0] for part in parts) * Y.shape[1] / len(some)
        gap = sum(part[1] for part in parts) / best.objective[some].sum() - 1
        print(
            f"fit: scikit-learn {seconds:.1f} s (from {len(some)} labels), tol {their_tol:g}, "
            f"gap {gap:.1e}: {seconds / ours:.1f} times ours"
        )
        if gap <= GAP:
            break
    return best


def time_searches(chain: Chain, Y: np.ndarray) -> None:
    """Rows a second of each search, and what they find."""
    for search in (
        ChainSearch("greedy"),
        ChainSearch("beam", 5),
        ChainSearch("beam", 15),
        ChainSearch("epsilon"),
        ChainSearch("uniform_cost"),
        ChainSearch("a_star"),
    ):
        dist = chain.searching(search)
        found = dist.mode_certified()
        seconds = least_time(dist.mode_certified)
        name = f"{search.kind} {search.width}" if search.kind == "beam" else search.kind
        print(
            f"{name:>14}: {len(Y) / seconds:8.0f} rows/s, {found.exact.mean():.4f} proven, "
            f"mean log-probability {found.log_prob.mean():.6f}, "
            f"exact match {(found.Y == Y).all(axis=1).mean():.4f}"
        )


class AllExperts(MixtureOfExperts):
    """Grown to the end, whatever held-out rows say."""

    def _grow(self, *arguments: Any) -> Any:
        parts = arguments[3]
        return super()._grow(*arguments[:3], (parts[0], parts[0]), *arguments[4:])


def time_mixture() -> None:
    data = sw.load_dataset("yeast")
    for model in (MixtureOfExperts, AllExperts):
        mixture = model(ClassifierChain("learned"))
        seconds = least_time(lambda fit=mixture: fit.fit(data.X_train, data.Y_train), 1)
        dist = mixture.predict_dist(data.X_test)
        truth = sparse.csr_array(data.Y_test).toarray()
        match = (dist.mode()[0] == truth).all(axis=1).mean()
        loss = -dist.log_prob(truth).mean()
        print(
            f"{model.__name__}: {len(mixture.structures_)} chains on yeast in {seconds:.1f} s, "
            f"exact match {match:.4f}, mean loss {loss:.3f}"
        )


def main() -> None:
    data = sw.load_dataset("bibtex")
    X, Y = sparse.csr_array(data.X_train), sparse.csr_array(data.Y_train).toarray().astype(float)
    found = compare_fits(X, Y)
    test = sparse.csr_array(data.X_test)
    logits = test @ found.features + found.biases
    time_searches(Chain(logits, found.labels), sparse.csr_array(data.Y_test).toarray())
    time_mixture()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
