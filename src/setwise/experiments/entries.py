"""The experiments, as data: what is run, on which data, and what was published.

Settings are chosen on training rows alone, by ``grid`` and the held-out log-likelihood.
"""

from __future__ import annotations

from setwise.experiments.cbm_entries import CBM_ENTRIES
from setwise.experiments.entry import Entry, ModelSpec

__all__ = ["ENTRIES", "OWN_MEASURE", "Entry", "ModelSpec"]

#: The measure that each decision is made for, and whether more of it is better.
OWN_MEASURE = {
    "set_accuracy": ("set_accuracy", True),
    "f1": ("instance_f1", True),
    "f1_calibrated": ("instance_f1", True),
    "hamming": ("hamming_loss", False),
    "micro_f1": ("micro_f1", True),
    "macro_f1": ("label_f1", True),
    "f1_threshold": ("instance_f1", True),
    "jaccard": ("instance_jaccard", True),
}

_BINARY_RELEVANCE = ModelSpec(
    "BR",
    "BinaryRelevance",
    parameters={"max_iter": 1000},
    grid={"C": (0.01, 0.1, 1.0, 10.0, 100.0)},
)

ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            name="br-decisions",
            title="Binary relevance: each decision on each measure",
            datasets=("scene", "yeast", "medical", "enron", "bibtex", "rcv1sub1", "tmc2007"),
            models=(_BINARY_RELEVANCE,),
            published={
                ("scene", "BR", "set_accuracy"): (0.515, "Li 2016, Table 2"),
                ("rcv1sub1", "BR", "set_accuracy"): (0.404, "Li 2016, Table 2, 103 labels"),
                ("tmc2007", "BR", "set_accuracy"): (0.253, "Li 2016, Table 2, 49,060 features"),
                ("bibtex", "BR", "set_accuracy"): (0.166, "Li 2019, Table 4.3"),
                ("bibtex", "BR", "instance_f1"): (0.359, "Li 2019, Table 4.3"),
            },
            notes="Logistic regression is deterministic here, so one seed says all.",
        ),
        *CBM_ENTRIES,
        Entry(
            name="br-quick",
            title="Binary relevance on small data, to see the runner at work",
            datasets=("emotions", "flags"),
            models=(ModelSpec("BR", "BinaryRelevance", grid={"C": (0.01, 0.1, 1.0)}),),
        ),
    )
}
