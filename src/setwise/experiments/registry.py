"""Which tables and figures of the papers there are, which experiments fill them, and what differs.

A place is a paper and a table; tables that the data at hand do not allow have a reason instead.
"""

from __future__ import annotations

from dataclasses import dataclass

LI_2016, LI_2019 = "Li 2016", "Li 2019"
HONG, RUBIN, OWN = "Hong 2015", "Rubin 2012", "our own"


@dataclass(frozen=True)
class Place:
    """A table or figure of a paper, and the experiments that stand for it."""

    paper: str
    table: str
    about: str
    experiments: tuple[str, ...] = ()
    missing: str = ""  # why there are none, or what of it is not at hand


PLACES = (
    Place(LI_2016, "Table 1", "artificial data", ("cbm-artificial",)),
    Place(
        LI_2016,
        "Table 2",
        "set accuracy of twelve methods",
        ("cbm-methods", "cbm", "cbm-boosted", "br-decisions", "chains-splits"),
        "mediamill is at hand as 2,500 rows without a split, nuswide not at all",
    ),
    Place(
        LI_2016,
        "supplement, Table 2",
        "Jaccard and Hamming loss of the same",
        ("cbm-methods", "cbm-boosted"),
    ),
    Place(LI_2016, "Figure 3", "the number of components", ("cbm-components",)),
    Place(LI_2019, "Table 3.1", "the same as Li 2016, Table 2", ("cbm-methods",)),
    Place(
        LI_2019,
        "Table 3.2",
        "F1 of twelve methods",
        ("f1-methods",),
        "wise and wipo are not at hand; imdb has no published split and 120,919 rows",
    ),
    Place(LI_2019, "Table 3.3", "Hamming loss of CBM and BR", ("cbm-predictions",)),
    Place(LI_2019, "Table 3.4", "set accuracy by decision", ("cbm-predictions",)),
    Place(LI_2019, "Table 3.5", "F1 by decision", ("cbm-predictions",)),
    Place(LI_2019, "Table 3.6", "Hamming loss by decision", ("cbm-predictions",)),
    Place(LI_2019, "Table 3.7", "seconds", ("cbm-times",)),
    Place(LI_2019, "Figure 3.7", "the number of components", ("cbm-components",)),
    Place(
        LI_2019,
        "Table 4.1",
        "calibration of binary relevance",
        ("calibration",),
        "wise and mscoco are not at hand",
    ),
    Place(
        LI_2019,
        "Table 4.3",
        "reranking beside other methods",
        ("rerank-methods", "rerank-random", "rerank"),
        "wise and mscoco are not at hand",
    ),
    Place(LI_2019, "Table 4.4", "seconds of training", ("rerank-methods", "rerank-random")),
    Place(LI_2019, "Figure 4.6", "the number of candidates", ("rerank-candidates",)),
    Place(LI_2019, "Figures 4.7 to 4.9", "noisy annotators", ("noise",), "there on mscoco"),
    Place(LI_2019, "Tables E.1, E.2", "kinds of boosting, calibration", ("calibration",)),
    Place(LI_2019, "Tables E.3, E.4", "kinds of boosting, reranking", ("rerank-calibrators",)),
    Place(
        LI_2019,
        "section 4.11",
        "reranking of other models",
        ("rerank-cbm", "chains-rerank", "rerank-sets", "rerank-average"),
    ),
    Place(
        HONG,
        "Tables 3, 4",
        "chains, trees and mixtures of them",
        ("chains", "chains-penalties"),
        "image is not at hand; folds are stratified here",
    ),
    Place(
        RUBIN,
        "Figures 6, 7, 10, 11, 13",
        "topic models and SVMs",
        ("topics-yahoo",),
        "of its five data sets the two of Yahoo! are at hand",
    ),
    Place(RUBIN, "Figure 12", "rare labels", ("topics-frequency",), "on other data than there"),
    Place(RUBIN, "appendix B.2", "how long to sample", ("topics-presets",)),
    Place(RUBIN, "Figure 14", "EUR-Lex beside other work", (), "EUR-Lex is not at hand"),
    Place(OWN, "peers", "what a user would pick instead", ("peers",)),
    Place(OWN, "many labels", "many labels", ("cbm-debtags", "cbm-delicious", "cbm-variants")),
    Place(OWN, "unread", "what may be accepted unread", ("auto-accept", "auto-accept-anew")),
    Place(OWN, "quick", "to see the runner at work", ("br-quick",)),
)

#: data set -> how it differs from what the papers have
DIFFERENCES = {
    "rcv1sub1": "rcv1sub1 has 100 labels here (the public file repaired), 103 in the papers.",
    "tmc2007": "tmc2007 has 500 features here, 49,060 in the papers.",
    "ohsumed": "ohsumed has 1,002 features here, far fewer than in the thesis.",
}


def differences_of(name: str, datasets: list[str]) -> list[str]:
    """How the data sets of an experiment differ from what the papers have.

    >>> differences_of("cbm", ["bibtex", "tmc2007"])
    ['tmc2007 has 500 features here, 49,060 in the papers.']
    """
    if all(paper == OWN for paper, _ in places_of(name)):
        return []
    return [DIFFERENCES[data] for data in datasets if data in DIFFERENCES]


def places_of(name: str) -> tuple[tuple[str, str], ...]:
    """Paper and table of an experiment.

    >>> places_of("cbm-times")
    (('Li 2019', 'Table 3.7'),)
    """
    return tuple((place.paper, place.table) for place in PLACES if name in place.experiments)


def order_of(name: str) -> int:
    """The first place of an experiment, to sort by."""
    return next((n for n, place in enumerate(PLACES) if name in place.experiments), len(PLACES))
