"""The experiments, as data: what is run, on which data, and what was published.

Settings are chosen on training rows alone, by ``grid`` and the held-out log-likelihood.
"""

from __future__ import annotations

from setwise.experiments.cbm_entries import CBM_ENTRIES
from setwise.experiments.chain_entries import CHAIN_ENTRIES
from setwise.experiments.entry import Entry, ModelSpec
from setwise.experiments.method_entries import METHOD_ENTRIES
from setwise.experiments.peers.entry import PEERS_ENTRY
from setwise.experiments.summary import OWN_MEASURE

__all__ = ["ENTRIES", "OWN_MEASURE", "Entry", "ModelSpec"]

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
                ("bibtex", "BR", "set_accuracy", "instance_f1"): (0.359, "Li 2019, Table 4.3"),
            },
            seeds=(0, 1, 2),
            notes="Logistic regression is deterministic here; seeds deal the folds that choose C.",
            quick={"datasets": ("scene", "yeast", "medical")},
        ),
        *CBM_ENTRIES,
        *METHOD_ENTRIES,
        *CHAIN_ENTRIES,
        PEERS_ENTRY,
        Entry(
            name="br-quick",
            title="Binary relevance on small data, to see the runner at work",
            datasets=("emotions", "flags"),
            models=(ModelSpec("BR", "BinaryRelevance", grid={"C": (0.01, 0.1, 1.0)}),),
            seeds=(0, 1),
        ),
    )
}
