"""Hyper-parameters and sampling settings, by the paper's rules (Rubin et al. 2012, appendix B).

Table 6, with its rows in the right order (the text at hand names Flat-LDA where Dependency-LDA is
meant, and the other way round); alpha and gamma are sums over labels and over topics:

======================  =====  =======  =======  =====  ====  =====  ======================
test documents          T      beta_C   gamma    eta    alpha        where
======================  =====  =======  =======  =====  ====  =====  ======================
Dependency-LDA          200    0.01     10       150    30           NYT, EUR-Lex
Dependency-LDA          20     1        1        100    1            Yahoo Arts, Health
Dependency-LDA          100    1        10       100    1            RCV1-v2
Prior-LDA               1      1                 150    30           NYT, EUR-Lex
Prior-LDA               1      10                70     30           Yahoo Arts, Health
Prior-LDA               1      100               100    1            RCV1-v2
Flat-LDA                                                180          NYT, EUR-Lex
Flat-LDA                                                100          Yahoo (RCV1-v2: 101)
======================  =====  =======  =======  =====  ====  =====  ======================

Training has eta = 50, alpha = 0, beta_W = 0.01, and gamma = 0.01 for each topic throughout. For
other data: T is the number of labels, at most 200; beta_C makes all pseudo-counts together a tenth
of the label tokens; and the weights are those of the power-law corpora from 150 labels on, those of
Yahoo below (gamma 10 from 50 topics on).
"""

from __future__ import annotations

from dataclasses import dataclass

from setwise.models.topics.inference import Prior

MANY_LABELS = 150
MANY_TOPICS = 50
MOST_TOPICS = 200
PSEUDO_SHARE = 0.1


@dataclass(frozen=True)
class Preset:
    """How many chains, and how long, in training and for test documents."""

    word_chains: int
    word_burn_in: int
    topic_chains: int
    topic_burn_in: int
    n_chains: int
    burn_in: int
    n_samples: int
    thin: int


PRESETS = {
    "paper": Preset(48, 100, 10, 500, 60, 50, 15, 5),
    "fast": Preset(8, 50, 5, 150, 10, 20, 4, 2),
}


def topics_for(n_labels: int) -> int:
    """T by the number of labels.

    >>> topics_for(19), topics_for(4000)
    (19, 200)
    """
    return min(n_labels, MOST_TOPICS)


def label_smoothing(n_label_tokens: int, n_topics: int, n_labels: int) -> float:
    """beta_C by the one-tenth rule; EUR-Lex has about 90,000 label tokens.

    >>> round(label_smoothing(90_000, n_topics=200, n_labels=4000), 4)
    0.0112
    """
    return PSEUDO_SHARE * max(n_label_tokens, 1) / (n_topics * n_labels)


def flat_weights(n_labels: int) -> Prior:
    """Weight of the prior of Flat-LDA."""
    return Prior(eta=0.0, alpha=180.0 if n_labels > MANY_LABELS else 100.0, gamma=0.0)


def prior_weights(n_labels: int) -> Prior:
    """Weights of the prior of Prior-LDA."""
    return Prior(150.0, 30.0, 0.0) if n_labels > MANY_LABELS else Prior(70.0, 30.0, 0.0)


def dependency_weights(n_labels: int, n_topics: int) -> Prior:
    """Weights of the prior of Dependency-LDA."""
    if n_labels > MANY_LABELS:
        return Prior(150.0, 30.0, 10.0)
    return Prior(100.0, 1.0, 10.0 if n_topics > MANY_TOPICS else 1.0)
