"""The table of peers: set accuracy, F1, Hamming loss and seconds of what one would pick instead."""

from __future__ import annotations

from setwise.experiments.cbm_entries import CBM_AUTO
from setwise.experiments.entry import Entry, ModelSpec

_AT = "setwise.experiments.peers"
_STRENGTHS = {"settings": tuple({"C": C} for C in (0.001, 0.01, 0.1, 1.0, 10.0, 100.0))}
_SOFTMAX = {"settings": _STRENGTHS["settings"][:5]}
_TREES = {"settings": tuple({"n_estimators": n} for n in (50, 100, 200))}
#: Where BOOMER's 5,000 rules take minutes.
BOOMED = ("scene", "yeast", "emotions", "medical", "enron")
#: Where a multinomial power set of scikit-learn takes minutes, and where ten chains or boosters do.
FEW_SETS = (*BOOMED, "rcv1sub1")
FEW_LABELS = (*FEW_SETS, "bibtex")
#: The models that are not ours.
PEERS = (
    ModelSpec("sklearn one-vs-rest", f"{_AT}.models:OneVsRest", _STRENGTHS),
    ModelSpec("sklearn chain", f"{_AT}.models:Chain", _STRENGTHS),
    ModelSpec("sklearn ten chains", f"{_AT}.models:TenChains", _STRENGTHS, datasets=FEW_LABELS),
    ModelSpec("sklearn power set", f"{_AT}.models:MultinomialSets", _SOFTMAX, datasets=FEW_SETS),
    ModelSpec(
        "LightGBM one-vs-rest", f"{_AT}.models:LightGBMOneVsRest", _TREES, datasets=FEW_LABELS
    ),
    ModelSpec("BOOMER", f"{_AT}.boomer:Boomer", datasets=BOOMED),
)
OURS = (
    ModelSpec("auto", f"{_AT}.ours:AutoDefault", {"keep_rows": True}),
    ModelSpec("BR", "BinaryRelevance", {"C": "auto", "max_iter": 1000}),
    ModelSpec("BR-rerank", "BRRerank", refit=True, decisions=("set_accuracy", "f1")),
    ModelSpec("CBM", "CBM", CBM_AUTO),
    ModelSpec("PowSet", "PowerSet", {"C": "auto"}),
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
    seeds=(0, 1),
    features={"debtags": "tfidf"},
    also=("fit_seconds", "predict_seconds"),
    notes="Measured in one run, in stretches within five hours, on a machine with two cores: auto "
    "by itself, with both, and all others two at a time, with one thread each. The scikit-learn "
    "and LightGBM peers have one thread of BLAS: with two, threads wait for each other. LightGBM's "
    "boosters of the most trees serve for fewer as well. "
    "Settings are chosen on training rows, by each model's own fit, whose seconds include that. "
    "auto compares once and fits what is best for each of three measures; it has 600 seconds for "
    "what it compares, with the folds that reranking needs: a slower machine may try less. For "
    "auto and the peers, BOOMER aside, dense features are standardised, and sparse rows brought to "
    "length one where held-out training rows are then likelier under binary relevance: so on enron "
    "and bibtex, and not on medical. On rows as they are, the best of these peers had more F1 on "
    "bibtex (sklearn chain, 0.3851) and enron (LightGBM, 0.5656), and no more sets right (LightGBM "
    "on bibtex, 0.1781; sklearn power set on enron, 0.1762). The file of auto may hold training "
    "rows, as neighbours and kernels do. Peers choose a setting, and are fitted, for each measure "
    "too, but predict their one set with it; BOOMER has two predictors, example-wise and for F1. "
    "Left out are peers that would take hours: BOOMER on bibtex, rcv1sub1 and debtags, where 20 of "
    "its 5,000 rules take 9 seconds and more; the power set of scikit-learn on bibtex and debtags, "
    "with 2,058 and 5,576 classes, for which our own, the same model, stands; ten chains and "
    "LightGBM on debtags, with 507 labels.",
    contrast=("auto", tuple(spec.name for spec in PEERS)),
    quick={"datasets": ("emotions",)},
)
