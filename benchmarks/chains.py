"""Chains beside scikit-learn's, and their searches: ``python benchmarks/chains.py``.

Fitting: both sides minimise the same objective on bibtex (the same penalty for features and labels,
labels in the order of their columns). Each side has the loosest tolerance with which its summed
objective is within 1e-3 of the minimum, which is known from a fit that is proven to be within 1e-6
of it. Ours is timed whole, on all cores, with its proofs and without. Theirs is a loop over labels,
timed on some of them, spread over the chain, and multiplied: once with one thread of BLAS, once
with as many as there are by default, which is how it runs when nobody says otherwise. Its
ClassifierChain itself, which joins and cuts columns besides, is timed whole, with one thread and
its own tolerance.

A chain of elastic nets is fitted to bibtex with columns that all places share, and place by place.
Searches run on the test rows of bibtex, 159 labels; lists of sets are made, and scored at once and
set by set, of some rows of debtags, 507 labels. Last, a mixture of ten experts on yeast, grown
without stopping early. Kernels are compiled beforehand, times are the least of a few. Data sets
come from ``$SETWISE_DATA``.
"""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as TheirChain
from threadpoolctl import threadpool_limits
from timing import least_time

import setwise as sw
from setwise.data.labels import binary_csr, distinct_sets
from setwise.distributions.base import Distribution
from setwise.distributions.chain import Chain
from setwise.distributions.chain_search import ChainSearch
from setwise.learners import ElasticNetBank
from setwise.models.chains import ClassifierChain, MixtureOfExperts
from setwise.models.chains.network import chain_parents, fit_network
from setwise.models.chains.steps import elastic_steps, labels_before, learnt_steps

GAP = 1e-3
THEIR_LABELS = 8
LISTING_ROWS = 500
OWN_SETS = 10
SOME_SETS = 20  # that are scored set by set; all would take minutes


def our_fit(X: Any, Y: np.ndarray, tol: float, certify: bool = True) -> Any:
    """The chain in column order, all of its places together."""
    parents = chain_parents(np.arange(Y.shape[1]))
    return fit_network(X, Y, parents, C=1.0, C_labels=1.0, tol=tol, max_iter=1000, certify=certify)


def objective(Z: Any, target: np.ndarray, weights: np.ndarray, bias: float) -> float:
    """What both sides minimise for a label, whose features and labels before it are Z."""
    z = Z @ weights + bias
    return float((np.logaddexp(0, z) - target * z).sum() + (weights**2).sum() / 2)


def their_fit(
    X: Any, Y: np.ndarray, label: int, tol: float, threads: int | None
) -> tuple[float, float]:
    """Seconds, and the objective, of one place of scikit-learn's chain."""
    joined = sparse.csr_matrix(sparse.hstack([X, sparse.csr_array(Y[:, :label])]))
    model = LogisticRegression(tol=tol, max_iter=10_000)
    with threadpool_limits(threads):
        seconds = least_time(lambda: model.fit(joined, Y[:, label]))
    return seconds, objective(joined, Y[:, label], model.coef_[0], model.intercept_[0])


def compare_fits(X: Any, Y: np.ndarray) -> Any:
    """Print the times of both sides; returns our chain."""
    best = our_fit(X, Y, 1e-6)
    ours = least_time(lambda: our_fit(X, Y, 1e-6), patience=20)
    proven = best.converged.mean()
    print(f"fit: ours {ours:.2f} s, {proven:.0%} of labels proven to be within 1e-6")
    loose = [time_ours(X, Y, best, certify) for certify in (True, False)]
    for threads, name in ((1, "one thread of BLAS"), (None, "BLAS threads as by default")):
        seconds = time_theirs(X, Y, best, threads, name)
        print(
            f"fit: with {name} scikit-learn takes {seconds / loose[0]:.1f} times as long as ours "
            f"with proofs, {seconds / loose[1]:.1f} times without"
        )
    time_their_chain(X, Y, best, loose[0])
    return best


def time_ours(X: Any, Y: np.ndarray, best: Any, certify: bool) -> float:
    """Seconds of our fit with the loosest tolerance that does."""
    for tol in (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5):
        gap = our_fit(X, Y, tol, certify).objective.sum() / best.objective.sum() - 1
        if gap <= GAP:
            break
    seconds = least_time(lambda: our_fit(X, Y, tol, certify), patience=20)
    how = "with proofs" if certify else "without proofs"
    print(f"fit: ours {seconds:.2f} s {how}, tol {tol:g}, gap {gap:.1e}")
    return seconds


def time_theirs(X: Any, Y: np.ndarray, best: Any, threads: int | None, name: str) -> float:
    """Seconds of scikit-learn's places with the loosest tolerance that does, from some labels."""
    some = np.linspace(0, Y.shape[1] - 1, THEIR_LABELS).astype(int)
    for tol in (1e-4, 3e-5, 1e-5, 3e-6, 1e-6):
        parts = [their_fit(X, Y, label, tol, threads) for label in some]
        seconds = sum(part[0] for part in parts) * Y.shape[1] / len(some)
        gap = sum(part[1] for part in parts) / best.objective[some].sum() - 1
        print(
            f"fit: scikit-learn {seconds:.1f} s (from {len(some)} labels), {name}, tol {tol:g}, "
            f"gap {gap:.1e}"
        )
        if gap <= GAP:
            break
    return seconds


def time_their_chain(X: Any, Y: np.ndarray, best: Any, ours: float) -> None:
    """scikit-learn's own chain, whole, with one thread of BLAS and the tolerance it has."""
    start = perf_counter()
    with threadpool_limits(1):
        chain = TheirChain(LogisticRegression()).fit(sparse.csr_matrix(X), Y)
    seconds = perf_counter() - start
    total = sum(
        objective(
            sparse.csr_matrix(sparse.hstack([X, sparse.csr_array(Y[:, :label])])),
            Y[:, label], model.coef_[0], model.intercept_[0],
        )
        for label, model in enumerate(chain.estimators_)
    )  # fmt: skip
    print(
        f"fit: scikit-learn's ClassifierChain {seconds:.1f} s, whole, one thread of BLAS, gap "
        f"{total / best.objective.sum() - 1:.1e}: {seconds / ours:.1f} times ours with proofs"
    )


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


def time_lists() -> None:
    """Ten sets a row of many labels, and all sets of training scored, at once and set by set."""
    data = sw.load_dataset("debtags")
    words = TfidfTransformer(sublinear_tf=True).fit(data.X_train)
    model = ClassifierChain("frequency", C=10.0).fit(words.transform(data.X_train), data.Y_train)
    rows = model.predict_dist(words.transform(data.X_test)[:LISTING_ROWS])
    sets = distinct_sets(data.Y_train).sets
    listing, scoring, one_by_one = (
        1000 * least_time(call) / LISTING_ROWS
        for call in (
            lambda: rows.top(10),
            lambda: rows.on_support(sets),
            lambda: [rows.log_prob(sets[[0] * LISTING_ROWS]) for _ in range(SOME_SETS)],
        )
    )
    one_by_one *= sets.shape[0] / SOME_SETS
    print(
        f"lists: of {rows.n_labels} labels, the ten likeliest sets of a row in {listing:.2f} ms; "
        f"{sets.shape[0]} sets scored in {scoring:.2f} ms a row, set by set in {one_by_one:.1f} "
        f"({one_by_one / scoring:.1f} times as long)"
    )
    time_own_sets(rows)


def time_own_sets(rows: Chain) -> None:
    """A few sets of each row's own, in one pass and one of each row at a time."""
    own = binary_csr(rows.top(OWN_SETS)[0].reshape(-1, rows.n_labels))
    row = np.repeat(np.arange(rows.n_rows), OWN_SETS)
    together, in_turn = (
        1e6 * least_time(call) / len(row)
        for call in (
            lambda: rows.log_prob_of(own, row),
            lambda: Distribution.log_prob_of(rows, own, row),
        )
    )
    print(
        f"lists: a set of a row's own scored in {together:.2f} us, one of each row at a time in "
        f"{in_turn:.1f} us ({in_turn / together:.1f} times as long)"
    )


def time_elastic_chain(X: Any, Y: np.ndarray) -> None:
    """A chain of elastic nets whose places share their columns, and place by place."""
    order, asked = np.arange(Y.shape[1]), {"scale": 1.0, "weight": None}
    shared, apart = (
        least_time(call, 1)
        for call in (
            lambda: elastic_steps(X, Y, order, ElasticNetBank(), **asked),
            lambda: learnt_steps(X, Y, order, labels_before(order), ElasticNetBank, **asked),
        )
    )
    print(
        f"elastic nets: the chain of bibtex in {shared:.1f} s, place by place in {apart:.1f} s "
        f"({apart / shared:.1f} times as long)"
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
    time_elastic_chain(X, Y)
    time_searches(Chain(logits, found.labels), sparse.csr_array(data.Y_test).toarray())
    time_lists()
    time_mixture()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
