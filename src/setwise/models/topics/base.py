"""What Flat-LDA, Prior-LDA and Dependency-LDA share (Rubin, Chambers, Smyth and Steyvers 2012).

Each label is a distribution over words, each document a mixture of its labels:

    Flat-LDA         all labels are equally likely beforehand
    Prior-LDA        frequent labels are likelier
    Dependency-LDA   labels come from topics, which say what labels go together

All three learn the same distributions over words; they differ in the prior of a test document.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.randomness import as_generator
from setwise.distributions import Product
from setwise.metrics.options import check_choice
from setwise.models.base import SetClassifier
from setwise.models.folds import n_units
from setwise.models.held_out import held_out_parts
from setwise.models.topics import hyperparameters as rules
from setwise.models.topics.arguments import Arguments
from setwise.models.topics.documents import repeated, word_counts
from setwise.models.topics.inference import Inference, Inferred, Prior
from setwise.models.topics.inspection import Inspection
from setwise.models.topics.label_odds import fit_log_odds, log_odds, odds_by_size
from setwise.models.topics.label_topics import LabelTopics, learn_label_topics
from setwise.models.topics.words import WordDistributions, WordSampler, learn_words

HELD_OUT_SHARE = 0.2
FEWEST_ROWS = 10  # with less, no documents are held out
CALIBRATIONS = ("held_out", "size")


class TopicModel(Arguments, Inspection, SetClassifier):
    """What the three models share: all but the prior of a test document."""

    takes: ClassVar[str] = "counts"

    alpha: float | str
    beta_words: float
    train_eta: float
    preset: str
    calibration: str
    n_chains: int | None
    burn_in: int | None
    n_samples: int | None
    thin: int | None
    n_jobs: int | None

    words_: WordDistributions
    topics_: LabelTopics | None
    prior_: dict[str, float]

    def _number_of_topics(self, n_labels: int) -> int:
        """T; 0 where labels have no prior of their own."""
        return 0

    def rank_scores(self, X: Any) -> np.ndarray:
        """theta: how much of each document each label explains, (n, L); rows sum to one."""
        return self._theta(self._features(X))

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        counts = word_counts(X)
        n_topics = self._number_of_topics(Y.shape[1])
        prior = self._prior(Y.shape[1], n_topics)
        random = as_generator(self.random_state)
        seed, settings = int(random.integers(2**62)), self._settings()
        check_choice("calibration", self.calibration, CALIBRATIONS)
        few = counts.shape[0] < FEWEST_ROWS or n_units(sample_weight, groups, counts.shape[0]) < 2
        if self.calibration == "size" or few:
            sigmoid = odds_by_size(Y)
        else:
            train, test = held_out_parts(
                Y, sample_weight, groups, HELD_OUT_SHARE, self.random_state
            )
            weight = None if sample_weight is None else sample_weight[train]
            part = self._fitted(counts[train], Y[train], weight, n_topics, settings, seed)
            inference = Inference(*part, prior)
            theta = self._inferred(inference, counts[test], settings, seed)
            sigmoid = fit_log_odds(theta, Y[test])
        words, topics = self._fitted(counts, Y, sample_weight, n_topics, settings, seed)
        return {
            "words_": words,
            "topics_": topics,
            "prior_": asdict(prior),
            "sampling_": asdict(settings),
            "sigmoid_": sigmoid,
            "seed_": seed,
            "_inference": Inference(words, topics, prior),
        }

    def _fitted(
        self,
        counts: sparse.csr_array,
        Y: sparse.csr_array,
        weight: Any,
        n_topics: int,
        settings: rules.Preset,
        seed: int,
    ) -> tuple[WordDistributions, LabelTopics | None]:
        counts, Y = repeated(counts, Y, weight)
        random = np.random.default_rng(seed)
        word_seeds = random.integers(2**63, size=(settings.word_chains, 2))
        topic_seeds = random.integers(2**63, size=settings.topic_chains)
        sampler = WordSampler(counts, Y, self.train_eta, self.beta_words)
        words = learn_words(
            sampler, settings.word_chains, settings.word_burn_in, word_seeds, self.n_jobs
        )
        if n_topics == 0:
            return words, None
        beta: float | str = getattr(self, "beta_labels", "auto")
        if isinstance(beta, str):
            beta = rules.label_smoothing(Y.nnz, n_topics, Y.shape[1])
        topics = learn_label_topics(
            Y,
            n_topics,
            gamma=float(getattr(self, "train_gamma", 0.01)),
            beta=float(beta),
            n_chains=settings.topic_chains,
            burn_in=settings.topic_burn_in,
            seeds=topic_seeds,
            n_jobs=self.n_jobs,
        )
        return words, topics

    def _distribution(self, X: Any) -> Product:
        logits = log_odds(self._theta(X), *self.sigmoid_)
        return Product(logits, allow_empty=self.allow_empty_, n_jobs=self.n_jobs)

    def _theta(self, X: Any) -> np.ndarray:
        settings = rules.Preset(**self.sampling_)
        return self._inferred(self._ready(), word_counts(X), settings, self.seed_)

    def _inferred(
        self, inference: Inference, counts: sparse.csr_array, settings: rules.Preset, seed: int
    ) -> np.ndarray:
        known = inference.with_known_words(counts)
        return inference.infer(known, self._sampling(settings), seed, self.n_jobs).theta

    def _attributed(self, counts: sparse.csr_array) -> tuple[Inferred, sparse.csr_array]:
        inference, settings = self._ready(), rules.Preset(**self.sampling_)
        known = inference.with_known_words(counts)
        sampling = self._sampling(settings)
        return inference.infer(known, sampling, self.seed_, self.n_jobs, by_entry=True), known

    def _ready(self) -> Inference:
        """The tables for inference; a model that was stored makes them when first asked."""
        if not hasattr(self, "_inference"):
            self._inference = Inference(self.words_, self.topics_, Prior(**self.prior_))
        return self._inference

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_inference"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
