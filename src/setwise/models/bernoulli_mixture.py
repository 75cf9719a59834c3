"""Bernoulli mixtures on labels alone: p(y) = sum over k of π_k prod over l of Ber(y_l; μ_kl).

Li 2019, section 3.2. By itself it finds clusters of labels that go together; for a conditional
Bernoulli mixture it is the start of EM. It is fitted by EM to the *distinct* label sets and how
often each comes, of which there are far fewer than rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from setwise.data.arguments import check_count
from setwise.data.labels import Label, LabelSpace, distinct_sets
from setwise.data.randomness import as_generator
from setwise.distributions import BernoulliMixture
from setwise.errors import DataError
from setwise.learners.workers import Workers
from setwise.storage import storable

# Means start in the middle of the scale, so that no label decides a cluster by itself.
START_RANGE = (0.25, 0.75)
STEEP = 1e-3  # gain a row
CERTAIN = 1e-12  # how far from 0 and 1 means stay, however much the rows weigh
ENOUGH_SETS = 3000  # to tell good starts from bad ones
PIECE = 2**10  # sets whose shares are held at a time


class Mixture(NamedTuple):
    """Parameters, and the penalised log-likelihood before each step to them."""

    log_weights: np.ndarray  # (K,)
    means: np.ndarray  # (K, L), strictly between 0 and 1
    history: list[float]


@storable
class BernoulliMixtureModel(BaseEstimator):  # type: ignore[misc]
    """A mixture of independent labels, fitted to label sets without features.

    Parameters
    ----------
    n_components : int
        K, the number of label clusters.
    n_starts : int
        Random starts. All climb until a step gains less than 1e-3 a row; the better third climbs
        on, and the best of these is kept. Of more than 3,000 distinct sets, the starts see a sample
        of so many, and only the best climbs on, on all of them.
    max_iter, tol : int, float
        EM steps a start at most; it ends when a step gains less than ``tol`` a row.
    smoothing : float
        So many rows with each label's overall frequency are added to every cluster: a Beta prior,
        which keeps all means strictly between 0 and 1, and those of an empty cluster at the
        frequencies.
    random_state : int
        Seeds the starts.
    n_jobs : int, optional
        Threads, for the starts; all cores by default.

    Attributes
    ----------
    weights_ : array (K,); means_ : array (K, L), the clusters, heaviest first;
    objective_ : float, the log-likelihood of the training sets with the prior;
    history_ : list, the objective after each step of the best start;
    label_names_ : tuple.

    Examples
    --------
    >>> sets = [{"car", "road"}] * 6 + [{"sea", "beach"}] * 4
    >>> model = BernoulliMixtureModel(n_components=2, random_state=0).fit(sets)
    >>> [[name for name, _ in cluster] for cluster in model.clusters(least=0.5)]
    [['car', 'road'], ['beach', 'sea']]
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        n_starts: int = 10,
        max_iter: int = 200,
        tol: float = 1e-6,
        smoothing: float = 0.1,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, Y: Any, sample_weight: Any = None) -> Self:
        """Learn from label sets: a 0/1 matrix (n, L), a DataFrame, or a list of sets."""
        check_count("n_components", self.n_components, at_least=1)
        check_count("n_starts", self.n_starts, at_least=1)
        check_count("max_iter", self.max_iter, at_least=1)
        if not self.smoothing > 0:
            raise DataError(f"smoothing must be above 0, not {self.smoothing!r}; try 0.1")
        space = LabelSpace.infer(Y)
        encoded = space.encode(Y)
        if 0 in encoded.shape:
            raise DataError(f"Y has shape {encoded.shape}; pass at least one row and one label")
        weight = _row_weights(sample_weight, encoded.shape[0])
        busy = weight > 0
        distinct = distinct_sets(encoded[busy])
        counts = np.bincount(distinct.inverse, weight[busy], minlength=len(distinct))
        random = as_generator(self.random_state)
        K, L = self.n_components, encoded.shape[1]
        rank = _ranks(distinct.sets, counts)
        means = [random.uniform(*START_RANGE, (K, L))[:, rank] for _ in range(self.n_starts)]
        sample, finalists = np.arange(len(distinct)), -(-self.n_starts // 3)
        if len(distinct) > ENOUGH_SETS:
            sample = random.choice(len(distinct), ENOUGH_SETS, replace=False)
            finalists = 1
        few, few_counts = distinct.sets[sample], counts[sample]
        # All starts climb the steep part; the better ones go on to the top.
        with Workers(self.n_jobs) as workers:
            starts = workers.map(lambda start: self._climb(few, few_counts, start, STEEP), means)
            starts.sort(key=lambda mixture: -mixture.history[-1])
            if len(sample) < len(distinct):  # what was reached on a sample is another objective
                starts = [start._replace(history=[]) for start in starts]
            tops = workers.map(
                lambda start: self._climb(distinct.sets, counts, start.means, self.tol, start),
                starts[:finalists],
            )
        best = max(tops, key=lambda mixture: mixture.history[-1])
        order = np.argsort(-best.log_weights, kind="stable")
        self.weights_ = np.exp(best.log_weights[order])
        self.means_ = best.means[order]
        self.objective_, self.history_ = best.history[-1], best.history
        self.label_names_ = space.names
        return self

    def responsibilities(self, Y: Any) -> np.ndarray:
        """How likely each row belongs to each cluster, (n, K)."""
        shares = _log_joint(self._encoded(Y), np.log(self.weights_), self.means_)
        _normalise(shares)
        return shares

    def log_prob(self, Y: Any) -> np.ndarray:
        """Log p(y) of each row, (n,)."""
        return _normalise(_log_joint(self._encoded(Y), np.log(self.weights_), self.means_))

    def score(self, Y: Any, y: Any = None) -> float:
        """The mean of log p(y) over the rows."""
        return float(self.log_prob(Y).mean())

    def distribution(self) -> BernoulliMixture:
        """p(y), as a distribution object of one row: exact mode, sizes, correlation."""
        check_is_fitted(self, "means_")
        log_odds = np.log(self.means_) - np.log1p(-self.means_)
        return BernoulliMixture(np.log(self.weights_)[None], log_odds[None])

    def sample(self, size: int, random_state: int | None = None) -> np.ndarray:
        """Label sets drawn from the mixture, int8 (size, L)."""
        drawn: np.ndarray = self.distribution().sample(size, random_state)[:, 0]
        return drawn

    def covariance(self) -> np.ndarray:
        """The covariance matrix of the labels, (L, L), equation (3.3)."""
        check_is_fitted(self, "means_")
        mean = self.weights_ @ self.means_
        inside = np.diag(self.weights_ @ (self.means_ * (1 - self.means_)))
        apart = self.means_ - mean  # centred first: small means lose no digits
        covariance: np.ndarray = inside + (apart.T * self.weights_) @ apart
        return covariance

    def clusters(self, *, least: float = 0.1) -> list[list[tuple[Label, float]]]:
        """The labels of each cluster with at least that probability, likeliest first."""
        check_is_fitted(self, "means_")
        found = []
        for means in self.means_:
            order = [int(label) for label in np.argsort(-means, kind="stable")]
            names = [(self.label_names_[label], float(means[label])) for label in order]
            found.append([(name, mean) for name, mean in names if mean >= least])
        return found

    def _encoded(self, Y: Any) -> sparse.csr_array:
        check_is_fitted(self, "means_")
        return LabelSpace(self.label_names_).encode(Y)

    def _climb(
        self,
        sets: sparse.csr_array,
        counts: np.ndarray,
        means: np.ndarray,
        tol: float,
        so_far: Mixture | None = None,
    ) -> Mixture:
        """EM from some means on, until a step gains less than ``tol`` a row."""
        K, total, S = len(means), counts.sum(), sets.astype(np.float64)
        log_weights = np.full(K, -np.log(K)) if so_far is None else so_far.log_weights
        history = [] if so_far is None else so_far.history[:-1]
        # A label that is never or always there keeps a little doubt.
        frequency = np.clip((S.T @ counts + 0.5) / (total + 1), CERTAIN, 1 - CERTAIN)
        pieces = [slice(first, first + PIECE) for first in range(0, len(counts), PIECE)]
        parts = [(S[rows], S[rows].T.tocsr(), counts[rows]) for rows in pieces]
        while True:
            log_prob, mass, present = 0.0, np.zeros(K), np.zeros((S.shape[1], K))
            for part, transposed, count in parts:
                shares = _log_joint(part, log_weights, means)
                log_prob += count @ _normalise(shares)
                shares *= count[:, None]
                mass += shares.sum(axis=0)
                present += transposed @ shares
            prior = np.log(means) @ frequency + np.log1p(-means) @ (1 - frequency)
            history.append(float(log_prob + self.smoothing * prior.sum()))
            gained = history[-1] - history[-2] if len(history) > 1 else np.inf
            if gained <= tol * total or len(history) > self.max_iter:
                return Mixture(log_weights, means, history)
            smoothed = present.T + self.smoothing * frequency
            means = smoothed / (mass[:, None] + self.smoothing)
            np.clip(means, CERTAIN, 1 - CERTAIN, out=means)  # rounding would let them touch
            # An empty component keeps a weight that logarithms can hold.
            log_weights = np.log(np.maximum(mass / total, np.finfo(float).tiny))


def _normalise(log_joint: np.ndarray) -> np.ndarray:
    """Log p(y), (n,); the rows of ``log_joint`` become shares that sum to one.

    In place, with one exponential an entry: scipy's ``logsumexp`` would take most of the time.
    """
    top = log_joint.max(axis=1, keepdims=True)
    np.exp(np.subtract(log_joint, top, out=log_joint), out=log_joint)
    total = log_joint.sum(axis=1, keepdims=True)
    log_joint /= total
    log_prob: np.ndarray = (top + np.log(total))[:, 0]
    return log_prob


def _log_joint(sets: sparse.csr_array, log_weights: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Log π_k + log p_k(y), (n, K): what labels that are there add to the empty set."""
    absent = np.log1p(-means)
    log_odds = np.log(means) - absent
    log_joint: np.ndarray = sets @ log_odds.T
    log_joint += log_weights + absent.sum(axis=1)
    return log_joint


def _ranks(sets: sparse.csr_array, counts: np.ndarray) -> np.ndarray:
    """The places of the labels in an order that does not depend on how labels or rows are ordered.

    Random numbers are dealt out in it, so that a permutation of the labels permutes the result. It
    goes by frequency, then by the frequencies of the labels that come along.
    """
    S = sets.astype(np.float64)
    frequency = S.T @ counts
    company = S.T @ (counts * (S @ np.sqrt(frequency)))
    order = np.lexsort((company.round(6), frequency.round(6)))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank


def _row_weights(sample_weight: Any, n: int) -> np.ndarray:
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not np.isfinite(weight).all() or (weight < 0).any():
        raise DataError(f"sample_weight must be {n} numbers, finite and not below 0")
    if not weight.any():
        raise DataError("sample_weight is zero everywhere; give some row a weight")
    return weight
