"""One mixture from its start to its last round."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from setwise.data.sparse_rows import canonical_csr
from setwise.errors import NotConverged
from setwise.learners.workers import Workers
from setwise.models.bernoulli_mixture import BernoulliMixtureModel
from setwise.models.cbm.checkpoint import Checkpoint
from setwise.models.cbm.component import Component
from setwise.models.cbm.em import EM, Round, State, run, threshold, truncate
from setwise.models.cbm.features import working_basis
from setwise.models.cbm.learners import is_in_basis, make_gate, make_labels, make_shared
from setwise.models.cbm.mixture import ConditionalMixture
from setwise.models.cbm.progress import Report
from setwise.models.cbm.rows import TrainingRows, row_pieces
from setwise.models.cbm.shared import SharedComponent, SharedEM, SharedMixture
from setwise.models.cbm.state import twin
from setwise.models.cbm.stopping import HeldOut, stop_rule

_Learner = TypeVar("_Learner", bound=Any)


@dataclass(frozen=True)
class Settings:
    """What an estimator's parameters say about one mixture."""

    n_components: Any  # a number, or "auto" until it is chosen
    learner: Any
    gate: Any
    C: Any
    least: float
    margin: float
    smoothing: float
    max_iter: int
    tol: float | None  # None: all rounds, whatever the bound does
    steps: int
    n_starts: int
    random_state: int | None
    n_jobs: int | None
    sharing: str | None = None
    l1_ratio: float = 0.5


class Fitted(NamedTuple):
    """A mixture, and how it was reached."""

    mixture: ConditionalMixture | SharedMixture
    history: list[dict[str, Any]]
    was_interrupted: bool = False


def fit_mixture(
    X: Any,
    Y: sparse.csr_array,
    weight: np.ndarray,
    settings: Settings,
    *,
    report: Report | None = None,
    checkpoint: Checkpoint | None = None,
    held_out: HeldOut | None = None,
) -> Fitted:
    """EM on scaled rows X, from the best Bernoulli mixture on their labels.

    It goes on from a checkpoint that holds something. Held-out rows, if any, decide when it ends.
    Ctrl-C after the first round ends it with a warning, and with what the last round reached.
    """
    busy = weight > 0
    if not busy.all():
        X, Y, weight = X[busy], Y[busy], weight[busy]
    saved = checkpoint.saved if checkpoint else None
    # Another machine may find another basis, in which the saved learners would know nothing.
    basis = basis_for(X, weight, settings) if saved is None else saved.basis_

    def after_round(state: State) -> None:
        if checkpoint:
            checkpoint.write_if_due(state, basis)
        if report:
            report(state.history)

    with Workers(settings.n_jobs) as workers:
        training = turned_rows(X, Y, weight, basis, settings)
        del X  # not needed any more, and as large as all the rest
        training.give_back_memory()
        em = start(training, settings, workers, saved.state() if saved else None)
        training.give_back_memory()
        ended = run(
            em,
            max_iter=settings.max_iter,
            is_done=stop_rule(settings.tol, held_out),
            after_round=after_round,
            judge=(lambda em: held_out.judge(as_mixture(em, basis))) if held_out else None,
        )
    if checkpoint:
        checkpoint.end(ended.state, basis, was_interrupted=ended.was_interrupted)
    if ended.was_interrupted:
        em.restore(ended.state)  # only now: threads may have been at work until here
        _warn_of_interruption(len(em.history), settings.max_iter, checkpoint)
    mixture, history = as_mixture(em, basis), [_told(done) for done in em.history]
    return Fitted(mixture, history, ended.was_interrupted)


def _told(done: Round) -> dict[str, Any]:
    return {name: value for name, value in asdict(done).items() if value is not None}


def _warn_of_interruption(rounds: int, max_iter: int, checkpoint: Checkpoint | None) -> None:
    remedy = "fit again to go on" if checkpoint else "a fit with checkpoint= could go on from there"
    warnings.warn(
        f"interrupted after {rounds} of at most {max_iter} rounds of EM; the model is that of the "
        f"last finished round; {remedy}",
        NotConverged,
        stacklevel=2,
    )


def basis_for(X: Any, weight: np.ndarray, settings: Settings) -> Any:
    """The basis to work in, (d, r); None where no learner would use it."""
    if is_in_basis(settings.learner) or is_in_basis(settings.gate):
        return working_basis(X, weight)
    return None


def turned_rows(
    X: Any, Y: sparse.csr_array, weight: np.ndarray, basis: np.ndarray | None, settings: Settings
) -> TrainingRows:
    """Rows in the coordinates of a basis, and as they are for learners that do not want it."""
    if basis is None:
        return TrainingRows(X, Y, weight)
    turned = X @ basis.astype(X.dtype)
    if sparse.issparse(turned):
        turned = canonical_csr(turned)
    all_turn = is_in_basis(settings.learner) and is_in_basis(settings.gate)
    return TrainingRows(turned, Y, weight, plain=None if all_turn else X)


def as_mixture(em: EM, basis: np.ndarray | None) -> ConditionalMixture | SharedMixture:
    """What EM has found, in terms of the features; it stays so while EM goes on."""
    gate = _turned(em.gate, basis)
    if isinstance(em, SharedEM):
        return SharedMixture.of(gate, _turned(em.shared, basis))
    components = [copy(component) for component in em.components]
    for component in components:
        component.classifiers_ = _turned(component.classifiers_, basis)
    return ConditionalMixture.of(gate, components)


def _turned(learner: _Learner, basis: np.ndarray | None) -> _Learner:
    """A copy in terms of the features, of which nothing is improved in place."""
    learner = twin(learner)
    if hasattr(learner, "_rows"):
        learner._rows = None  # a model does not hold on to what it was fitted to
    if basis is not None:
        learner.turn(basis)
    return learner


def start(
    training: TrainingRows, settings: Settings, workers: Workers, state: State | None = None
) -> EM:
    """EM before its first round, or where an earlier one was."""
    if state is None:
        return _prepared(training, settings, workers, *_by_labels_alone(training, settings))
    nothing = np.zeros((len(state.responsibilities), training.n_labels))
    em = _prepared(training, settings, workers, state.responsibilities, nothing)
    em.restore(state)
    return em


def _by_labels_alone(training: TrainingRows, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Responsibilities (K, n) and log-odds (K, L) of a Bernoulli mixture (section 3.4)."""
    K = settings.n_components
    labels_alone = BernoulliMixtureModel(
        K, n_starts=settings.n_starts, smoothing=0.01,
        random_state=settings.random_state, n_jobs=settings.n_jobs,
    ).fit(training.Y, sample_weight=training.weight)  # fmt: skip
    n, least = len(training.weight), threshold(settings.least, 0)
    responsibilities = np.empty((K, n), training.X.dtype)
    for rows in row_pieces(n):
        shares = labels_alone.responsibilities(training.Y[rows]).T
        if least > 0:
            truncate(shares, least)
            shares /= shares.sum(axis=0)
        responsibilities[:, rows] = shares
    return responsibilities, np.log(labels_alone.means_) - np.log1p(-labels_alone.means_)


def _prepared(
    training: TrainingRows,
    settings: Settings,
    workers: Workers,
    responsibilities: np.ndarray,
    log_odds: np.ndarray,
) -> EM:
    """EM with learners that have not learnt yet."""
    K = len(responsibilities)
    gate = make_gate(
        settings.gate, C=settings.C, l1_ratio=settings.l1_ratio, steps=settings.steps,
        random_state=settings.random_state,
    )  # fmt: skip
    if settings.sharing is not None:
        shared = make_shared(
            settings.learner, C=settings.C, steps=settings.steps,
            smoothing=settings.smoothing, random_state=settings.random_state,
        )  # fmt: skip
        shared.start(training, log_odds)
        views: list[Any] = [SharedComponent(shared, k) for k in range(K)]
        return SharedEM(
            training, gate, views, responsibilities, settings.least, workers, shared=shared
        )
    components = [
        Component(settings.smoothing, settings.margin).start(
            make_labels(
                settings.learner, C=settings.C, l1_ratio=settings.l1_ratio, steps=settings.steps,
                smoothing=settings.smoothing, random_state=settings.random_state,
            ),
            log_odds[k],
            training.frequency,
        )
        for k in range(K)
    ]  # fmt: skip
    return EM(training, gate, components, responsibilities, settings.least, workers)
