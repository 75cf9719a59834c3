"""Prior-LDA: frequent labels are likelier beforehand (Rubin et al. 2012, section 3.2)."""

from __future__ import annotations

from typing import ClassVar

from setwise.decisions import Decision
from setwise.models.about import LABELS_APART, About
from setwise.models.topics import hyperparameters as rules
from setwise.models.topics.base import TopicModel
from setwise.models.topics.inference import Prior
from setwise.storage import storable


@storable
class PriorLDA(TopicModel):
    """Labels as distributions over words; frequent labels are likelier beforehand.

    Dependency-LDA with one topic. X counts words: whole numbers from 0 on.

    Parameters
    ----------
    eta, alpha : float or "auto"
        Weights of the prior of a test document: of the label frequencies, and flat, summed over
        labels.
    beta_labels : float or "auto"
        Smoothing of the label frequencies; "auto": a tenth of the label tokens, in all.
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
    >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1]])
    >>> model = PriorLDA(eta=1.0, alpha=1.0).fit(X, [{"sea"}, {"sea"}, {"land"}])
    >>> model.predict_sets(np.array([[0, 0, 0, 0]]))
    [('sea',)]
    >>> model.rank_scores(np.array([[0, 0, 0, 0]])).round(1)
    array([[0.4, 0.6]])
    """

    about: ClassVar[About] = About(
        paper="Rubin 2012, 3.2",
        joint=False,
        learners="Gibbs sampling of words",
        cost="words times labels a row",
        why_not=LABELS_APART,
    )

    def __init__(
        self,
        *,
        eta: float | str = "auto",
        alpha: float | str = "auto",
        beta_words: float = 0.01,
        beta_labels: float | str = "auto",
        train_eta: float = 50.0,
        preset: str = "fast",
        word_chains: int | None = None,
        word_burn_in: int | None = None,
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
        self.eta = eta
        self.alpha = alpha
        self.beta_words = beta_words
        self.beta_labels = beta_labels
        self.train_eta = train_eta
        self.preset = preset
        self.word_chains = word_chains
        self.word_burn_in = word_burn_in
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
        return 1

    def _rule(self, n_labels: int, n_topics: int) -> Prior:
        return rules.prior_weights(n_labels)
