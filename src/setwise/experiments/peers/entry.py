"""The table of peers: set accuracy, F1, Hamming loss and seconds of what one would pick instead."""

from __future__ import annotations

from setwise.experiments.cbm_entries import CBM_AUTO
from setwise.experiments.entry import Entry, ModelSpec

_AT = "setwise.experiments.peers"
_STRENGTHS = {"settings": tuple({"C": C} for C in (0.001, 0.01, 0.1, 1.0, 10.0, 100.0))}
_SOFTMAX = {"settings": _STRENGTHS["settings"][:5]}
_TREES = {"settings": tuple({"n_estimators": n} for n in (50, 100, 200))}
#: The models that are not ours.
PEERS = (
    ModelSpec("sklearn one-vs-rest", f"{_AT}.models:OneVsRest", _STRENGTHS),
    ModelSpec("sklearn chain", f"{_AT}.models:Chain", _STRENGTHS),
    ModelSpec("sklearn ten chains", f"{_AT}.models:TenChains", _STRENGTHS),
    ModelSpec("sklearn power set", f"{_AT}.models:MultinomialSets", _SOFTMAX),
    ModelSpec("LightGBM one-vs-rest", f"{_AT}.models:LightGBMOneVsRest", _TREES),
    ModelSpec("BOOMER", f"{_AT}.boomer:Boomer"),
)
OURS = (
    ModelSpec("auto", f"{_AT}.ours:AutoDefault"),
    ModelSpec("BR", "BinaryRelevance", {"C": "auto", "max_iter": 1000}),
    ModelSpec("BR-rerank", "BRRerank", refit=True, decisions=("set_accuracy", "f1")),
    ModelSpec("CBM", "CBM", CBM_AUTO),
    ModelSpec("PowSet", "PowerSet", grid={"C": (0.1, 1.0, 10.0)}, tuned_by="set_accuracy"),
    ModelSpec("PCC", "ClassifierChain", {"C": "auto"}),
    ModelSpec("EPCC", "ChainEnsemble", {"C": "auto"}),
)

PEERS_ENTRY = Entry(
    name="peers",
    title="What a user would pick instead",
    datasets=(
        *("scene", "yeast", "emotions", "medical"),
        *("enron", "bibtex", "rcv1sub1", "debtags"),
    ),
    models=(*OURS, *PEERS),
    seeds=(0, 1, 2),
    features={"debtags": "tfidf"},
    also=("fit_seconds", "predict_seconds"),
    notes="Settings are chosen on training rows, by each model's own fit, whose seconds include "
    "that; auto compares once, and fits what is best for each of three measures. Peers predict one "
    "set whatever it is for, but for BOOMER, which has two predictors and learns while it "
    "predicts.",
    contrast=("auto", tuple(spec.name for spec in PEERS)),
    quick={"datasets": ("emotions",)},
)
