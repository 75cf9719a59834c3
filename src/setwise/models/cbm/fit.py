"""One mixture from its start to its last round."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from setwise.learners.workers import Workers
from setwise.models.bernoulli_mixture import BernoulliMixtureModel
from setwise.models.cbm.component import Component
from setwise.models.cbm.em import EM, run
from setwise.models.cbm.features import uncorrelated_basis
from setwise.models.cbm.learners import make_gate, make_labels, make_shared
from setwise.models.cbm.mixture import ConditionalMixture
from setwise.models.cbm.rows import TrainingRows
from setwise.models.cbm.shared import SharedComponent, SharedEM, SharedMixture


@dataclass(frozen=True)
class Settings:
    """What an estimator's parameters say about one mixture."""

    n_components: int
    learner: Any
    gate: Any
    C: float
    least: float
    margin: float
    smoothing: float
    max_iter: int
    tol: float
    steps: int
    n_starts: int
    random_state: int | None
    n_jobs: int | None
    sharing: str | None = None


class Fitted(NamedTuple):
    """A mixture, and how it was reached."""

    mixture: ConditionalMixture | SharedMixture
    history: list[dict[str, float]]


def fit_mixture(X: Any, Y: sparse.csr_array, weight: np.ndarray, settings: Settings) -> Fitted:
    """EM on scaled rows X, from the best Bernoulli mixture on their labels."""
    busy = weight > 0
    if not busy.all():
        X, Y, weight = X[busy], Y[busy], weight[busy]
    basis = uncorrelated_basis(X, weight)
    if basis is not None:
        X = X @ basis.astype(X.dtype)
    with Workers(settings.n_jobs) as workers:
        em = start(TrainingRows(X, Y, weight), settings, workers)
        run(em, max_iter=settings.max_iter, tol=settings.tol, report=lambda done: None)
    return Fitted(_mixture(em, basis), [asdict(done) for done in em.history])


def _mixture(em: EM, basis: np.ndarray | None) -> ConditionalMixture | SharedMixture:
    """What EM has found, in terms of the features."""
    shared = em.shared if isinstance(em, SharedEM) else None
    if basis is not None:
        em.gate.turn(basis)
        for labels in [shared] if shared else [each.classifiers_ for each in em.components]:
            labels.turn(basis)
    if shared:
        return SharedMixture.of(em.gate, shared)
    return ConditionalMixture.of(em.gate, em.components)


def start(training: TrainingRows, settings: Settings, workers: Workers) -> EM:
    """EM before its first round: responsibilities by the labels alone (section 3.4)."""
    K = min(settings.n_components, len(training.weight))
    labels_alone = BernoulliMixtureModel(
        K, n_starts=settings.n_starts, smoothing=0.01,
        random_state=settings.random_state,
    ).fit(training.Y, sample_weight=training.weight)  # fmt: skip
    responsibilities = labels_alone.responsibilities(training.Y).T.copy()
    if settings.least > 0:
        responsibilities[responsibilities < settings.least] = 0
        responsibilities /= responsibilities.sum(axis=0)
    log_odds = np.log(labels_alone.means_) - np.log1p(-labels_alone.means_)
    gate = make_gate(settings.gate, C=settings.C, steps=settings.steps)
    if settings.sharing is not None:
        shared = make_shared(settings.learner, C=settings.C, steps=settings.steps)
        shared.start(training, log_odds)
        views: list[Any] = [SharedComponent(shared, k) for k in range(K)]
        return SharedEM(
            training, gate, views, responsibilities, settings.least, workers, shared=shared
        )
    components = [
        Component(settings.smoothing, settings.margin).start(
            make_labels(
                settings.learner, C=settings.C, steps=settings.steps,
                smoothing=settings.smoothing, random_state=settings.random_state,
            ),
            log_odds[k],
        )
        for k in range(K)
    ]  # fmt: skip
    return EM(training, gate, components, responsibilities, settings.least, workers)
