"""Dependency-LDA: topics say what labels go together (Rubin et al. 2012, section 3.3)."""

from __future__ import annotations

from typing import ClassVar

from setwise.decisions import Decision
from setwise.distributions.base import positive_count
from setwise.errors import DataError
from setwise.models.about import LABELS_APART, About
from setwise.models.topics import hyperparameters as rules
from setwise.models.topics.base import TopicModel
from setwise.models.topics.inference import Prior
from setwise.storage import storable


@storable
class DependencyLDA(TopicModel):
    """Labels as distributions over words, and topics that say what labels go together.

    X counts words: whole numbers from 0 on.

    Parameters
    ----------
    n_topics : int or "auto"
        "auto": as many as labels, at most 200.
    eta, alpha, gamma : float or "auto"
        Weights of the prior of a test document: of what its topics say, flat over labels, and flat
        over topics; the last two are sums.
    beta_labels : float or "auto"
        Smoothing of the labels of a topic; "auto": a tenth of the label tokens, in all topics.
    prior_weight : float
        Weight of the prior in the answer, for each word of the document; the paper has 1.
    train_gamma : float
        Smoothing of the topics of a training document.
    topic_chains, topic_burn_in : int, optional
        Chains that learn topics, and their sweeps; each gives a set of topics of its own.
    inference : {"fast", "proper"}
        Section 3.5.1, or section 3.5 with ``n_label_tokens`` sampled label tokens: slower by far.

    All other parameters are those of ``FlatLDA``.

    Attributes
    ----------
    words_, topics_ : what was learnt
    prior_ : the weights that "auto" stood for

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 2]])
    >>> model = DependencyLDA(eta=1.0, alpha=1.0)
    >>> model = model.fit(X, [{"sea", "wet"}, {"sea", "wet"}, {"land"}, {"land"}])
    >>> model.label_names_
    ('land', 'sea', 'wet')
    >>> model.rank_scores(np.array([[0, 0, 4, 0]])).round(1)
    array([[0.8, 0.1, 0.1]])
    """

    about: ClassVar[About] = About(
        paper="Rubin 2012, 3.3",
        joint=False,
        learners="Gibbs sampling of words and of labels",
        cost="words times labels a row, and labels times topics",
        why_not=LABELS_APART,
    )

    def __init__(
        self,
        *,
        n_topics: int | str = "auto",
        eta: float | str = "auto",
        alpha: float | str = "auto",
        gamma: float | str = "auto",
        beta_words: float = 0.01,
        beta_labels: float | str = "auto",
        prior_weight: float = 1.0,
        train_eta: float = 50.0,
        train_gamma: float = 0.01,
        preset: str = "fast",
        word_chains: int | None = None,
        word_burn_in: int | None = None,
        topic_chains: int | None = None,
        topic_burn_in: int | None = None,
        n_chains: int | None = None,
        burn_in: int | None = None,
        n_samples: int | None = None,
        thin: int | None = None,
        inference: str = "fast",
        n_label_tokens: int = 1000,
        calibration: str = "held_out",
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.eta = eta
        self.alpha = alpha
        self.gamma = gamma
        self.beta_words = beta_words
        self.beta_labels = beta_labels
        self.prior_weight = prior_weight
        self.train_eta = train_eta
        self.train_gamma = train_gamma
        self.preset = preset
        self.word_chains = word_chains
        self.word_burn_in = word_burn_in
        self.topic_chains = topic_chains
        self.topic_burn_in = topic_burn_in
        self.n_chains = n_chains
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.thin = thin
        self.inference = inference
        self.n_label_tokens = n_label_tokens
        self.calibration = calibration
        self.target = target
        self.allow_empty = allow_empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _number_of_topics(self, n_labels: int) -> int:
        if self.n_topics == "auto":
            return rules.topics_for(n_labels)
        if isinstance(self.n_topics, str):
            raise DataError(
                f'n_topics is a whole number from 1 on, or "auto", not {self.n_topics!r}'
            )
        return positive_count(self.n_topics, "n_topics")

    def _rule(self, n_labels: int, n_topics: int) -> Prior:
        return rules.dependency_weights(n_labels, n_topics)
