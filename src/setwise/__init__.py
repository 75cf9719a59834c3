"""setwise: predict sets of labels, and say how likely the whole set is right.

>>> import setwise as sw
>>> ds = sw.load_dataset("debtags")
>>> round(ds.statistics().cardinality, 2)
3.63
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from setwise import metrics
from setwise.data import (
    Dataset,
    IterativeHoldout,
    IterativeKFold,
    LabelSpace,
    holdout,
    list_datasets,
    load_dataset,
    read,
    write_csv,
    write_svmlight,
)

if TYPE_CHECKING:
    from setwise.calibration import AutoAccept, BRRerank, LabelCalibrator, Reranker, SetCalibrator
    from setwise.models import (
        CBM,
        CLEMS,
        LIFT,
        SPEN,
        BernoulliMixtureModel,
        BinaryRelevance,
        BRkNN,
        ChainEnsemble,
        ClassifierChain,
        CondensedFilterTree,
        ConditionalTree,
        DeepValueNetwork,
        DependencyLDA,
        DependencyNetwork,
        FlatLDA,
        KernelModel,
        LabelSizeF1,
        LPkNN,
        MixtureOfExperts,
        MLkNN,
        ModelAverage,
        PairwiseCRF,
        PDSparse,
        PowerSet,
        PredictAndConstrain,
        PriorLDA,
        RAkEL,
        StackedBinaryRelevance,
        TunedSVM,
        list_models,
    )
    from setwise.pipeline.auto_model import AutoModel
    from setwise.storage import load

__version__ = "0.1.0"

# Models stand on scikit-learn, which takes a second to import: they are loaded when asked for.
_IN_MODELS = (
    "BernoulliMixtureModel",
    "BinaryRelevance",
    "BRkNN",
    "CBM",
    "ChainEnsemble",
    "ClassifierChain",
    "CLEMS",
    "CondensedFilterTree",
    "ConditionalTree",
    "DeepValueNetwork",
    "DependencyLDA",
    "DependencyNetwork",
    "FlatLDA",
    "KernelModel",
    "LabelSizeF1",
    "LIFT",
    "LPkNN",
    "MixtureOfExperts",
    "ModelAverage",
    "MLkNN",
    "PairwiseCRF",
    "PDSparse",
    "PowerSet",
    "PredictAndConstrain",
    "PriorLDA",
    "RAkEL",
    "SPEN",
    "StackedBinaryRelevance",
    "TunedSVM",
    "list_models",
)
_IN_CALIBRATION = ("AutoAccept", "BRRerank", "LabelCalibrator", "Reranker", "SetCalibrator")

__all__ = [
    "CBM",
    "CLEMS",
    "LIFT",
    "SPEN",
    "AutoAccept",
    "AutoModel",
    "BRRerank",
    "BRkNN",
    "BernoulliMixtureModel",
    "BinaryRelevance",
    "ChainEnsemble",
    "ClassifierChain",
    "CondensedFilterTree",
    "ConditionalTree",
    "Dataset",
    "DeepValueNetwork",
    "DependencyLDA",
    "DependencyNetwork",
    "FlatLDA",
    "IterativeHoldout",
    "IterativeKFold",
    "KernelModel",
    "LPkNN",
    "LabelCalibrator",
    "LabelSizeF1",
    "LabelSpace",
    "MLkNN",
    "MixtureOfExperts",
    "ModelAverage",
    "PDSparse",
    "PairwiseCRF",
    "PowerSet",
    "PredictAndConstrain",
    "PriorLDA",
    "RAkEL",
    "Reranker",
    "SetCalibrator",
    "StackedBinaryRelevance",
    "TunedSVM",
    "__version__",
    "holdout",
    "list_datasets",
    "list_models",
    "load",
    "load_dataset",
    "metrics",
    "read",
    "write_csv",
    "write_svmlight",
]


def __getattr__(name: str) -> Any:
    if name in _IN_MODELS:
        return getattr(import_module("setwise.models"), name)
    if name in _IN_CALIBRATION:
        return getattr(import_module("setwise.calibration"), name)
    if name == "AutoModel":
        return import_module("setwise.pipeline").AutoModel
    if name == "load":
        return getattr(import_module("setwise.storage"), name)
    raise AttributeError(f"module 'setwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
