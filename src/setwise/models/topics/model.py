"""Flat-LDA, Prior-LDA and Dependency-LDA (Rubin, Chambers, Smyth and Steyvers 2012).

Each label is a distribution over words, each document a mixture of its labels:

    Flat-LDA         all labels are equally likely beforehand
    Prior-LDA        frequent labels are likelier
    Dependency-LDA   labels come from topics, which say what labels go together

All three learn the same distributions over words; they differ in the prior of a test document.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.randomness import as_generator
from setwise.decisions import Decision
from setwise.distributions import Product
from setwise.distributions.base import positive_count
from setwise.errors import DataError
from setwise.metrics.options import check_choice
from setwise.models.base import SetClassifier
from setwise.models.held_out import held_out_parts
from setwise.models.topics import hyperparameters as rules
from setwise.models.topics.documents import repeated, word_counts
from setwise.models.topics.inference import Inference, Inferred, Prior, Sampling
from setwise.models.topics.inspection import Inspection
from setwise.models.topics.label_odds import fit_log_odds, log_odds, odds_by_size
from setwise.models.topics.label_topics import LabelTopics, learn_label_topics
from setwise.models.topics.words import WordDistributions, WordSampler, learn_words
from setwise.storage import storable

HELD_OUT_SHARE = 0.2
FEWEST_ROWS = 10  # with less, no documents are held out
CALIBRATIONS = ("held_out", "size")
INFERENCES = ("fast", "proper")


class TopicModel(Inspection, SetClassifier):
    """What the three models share: all but the prior of a test document."""

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

    def _rule(self, n_labels: int, n_topics: int) -> Prior:
        """The prior's weights by the paper's rules, for what is "auto"."""
        raise NotImplementedError

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
        if self.calibration == "size" or counts.shape[0] < FEWEST_ROWS:
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

    def _settings(self) -> rules.Preset:
        check_choice("preset", self.preset, tuple(rules.PRESETS))
        values = asdict(rules.PRESETS[self.preset])
        for field in fields(rules.Preset):
            given = getattr(self, field.name, None)
            if given is not None:
                at_least_zero = field.name.endswith("burn_in")
                values[field.name] = (
                    _whole(given, field.name)
                    if at_least_zero
                    else positive_count(given, field.name)
                )
        return rules.Preset(**values)

    def _sampling(self, settings: rules.Preset) -> Sampling:
        inference = getattr(self, "inference", "fast")
        check_choice("inference", inference, INFERENCES)
        tokens = (
            positive_count(self.n_label_tokens, "n_label_tokens") if inference == "proper" else 0
        )
        return Sampling(
            settings.n_chains, settings.burn_in, settings.n_samples, settings.thin, tokens
        )

    def _prior(self, n_labels: int, n_topics: int) -> Prior:
        for name in ("beta_words", "train_eta", "train_gamma"):
            _over_zero(getattr(self, name, 1.0), name)
        rule = asdict(self._rule(n_labels, n_topics))
        for name in ("eta", "alpha", "gamma", "beta_labels"):
            given = getattr(self, name, "auto")
            if isinstance(given, str):
                if given != "auto":
                    raise DataError(f'{name} is a number over zero or "auto", not {given!r}')
            else:
                rule[name] = _over_zero(given, name)
        rule.pop("beta_labels", None)
        return Prior(**rule)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_inference"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


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
    >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 2]])
    >>> model = FlatLDA(alpha=1.0).fit(X, [{"sea"}, {"sea"}, {"land"}, {"land"}])
    >>> model.predict_sets(np.array([[2, 0, 0, 0]]))
    [('sea',)]
    >>> model.rank_scores(np.array([[4, 0, 0, 0]])).round(1)
    array([[0.2, 0.8]])
    """

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
    >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1]])
    >>> model = PriorLDA(eta=1.0, alpha=1.0).fit(X, [{"sea"}, {"sea"}, {"land"}])
    >>> model.predict_sets(np.array([[0, 0, 0, 0]]))
    [('sea',)]
    >>> model.rank_scores(np.array([[0, 0, 0, 0]])).round(1)
    array([[0.4, 0.6]])
    """

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
    >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 2]])
    >>> model = DependencyLDA(eta=1.0, alpha=1.0)
    >>> model = model.fit(X, [{"sea", "wet"}, {"sea", "wet"}, {"land"}, {"land"}])
    >>> model.label_names_
    ('land', 'sea', 'wet')
    >>> model.rank_scores(np.array([[0, 0, 4, 0]])).round(1)
    array([[0.8, 0.1, 0.1]])
    """

    def __init__(
        self,
        *,
        n_topics: int | str = "auto",
        eta: float | str = "auto",
        alpha: float | str = "auto",
        gamma: float | str = "auto",
        beta_words: float = 0.01,
        beta_labels: float | str = "auto",
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


def _over_zero(value: Any, name: str) -> float:
    if isinstance(value, str) or not 0 < value < np.inf:
        raise DataError(f"{name} is a number over zero, not {value!r}")
    return float(value)


def _whole(value: Any, name: str) -> int:
    if int(value) != value or value < 0:
        raise DataError(f"{name} is a whole number from 0 on, got {value!r}")
    return int(value)
