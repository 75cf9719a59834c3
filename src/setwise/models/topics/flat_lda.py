"""Flat-LDA: all labels are equally likely beforehand (Rubin et al. 2012, section 3.1)."""

from __future__ import annotations

from typing import ClassVar

from setwise.decisions import Decision
from setwise.models.about import LABELS_APART, About
from setwise.models.topics import hyperparameters as rules
from setwise.models.topics.base import TopicModel
from setwise.models.topics.inference import Prior
from setwise.storage import storable


@storable
class FlatLDA(TopicModel):
    """Labels as distributions over words, all equally likely beforehand.

    Known as Labeled LDA (Ramage et al. 2009) too. X counts words: whole numbers from 0 on.

    Parameters
    ----------
    alpha : float or "auto"
        Weight of the flat prior of a test document, summed over labels.
    beta_words, train_eta : float
        Smoothing of words, and weight of a training document's labels.
    preset : {"fast", "paper"}
        Sampling settings, for those below that are None. "paper" takes about 100 times as long.
    word_chains, word_burn_in : int, optional
        Chains of training, and their sweeps; each gives its last sample.
    n_chains, burn_in, n_samples, thin : int, optional
        For a test document: chains, sweeps left out, samples of each chain, sweeps from one to the
        next.
    calibration : {"held_out", "size"}
        How rankings become probabilities: fitted to a fifth of the documents, on which a model of
        the others is tried; or for no time by the mean number of labels.
    target, allow_empty, random_state, n_jobs
        As for all models.

    Attributes
    ----------
    words_ : the labels' distributions over words
    prior_ : the weights that "auto" stood for

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 2]])
    >>> model = FlatLDA(alpha=1.0).fit(X, [{"sea"}, {"sea"}, {"land"}, {"land"}])
    >>> model.predict_sets(np.array([[2, 0, 0, 0]]))
    [('sea',)]
    >>> model.rank_scores(np.array([[4, 0, 0, 0]])).round(1)
    array([[0.2, 0.8]])
    """

    about: ClassVar[About] = About(
        paper="Rubin 2012, 3.1",
        joint=False,
        learners="Gibbs sampling of words",
        cost="words times labels a row",
        why_not=LABELS_APART,
    )

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        beta_words: float = 0.01,
        train_eta: float = 50.0,
        preset: str = "fast",
        word_chains: int | None = None,
        word_burn_in: int | None = None,
        n_chains: int | None = None,
        burn_in: int | None = None,
        n_samples: int | None = None,
        thin: int | None = None,
        calibration: str = "held_out",
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.beta_words = beta_words
        self.train_eta = train_eta
        self.preset = preset
        self.word_chains = word_chains
        self.word_burn_in = word_burn_in
        self.n_chains = n_chains
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.thin = thin
        self.calibration = calibration
        self.target = target
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rule(self, n_labels: int, n_topics: int) -> Prior:
        return rules.flat_weights(n_labels)
