"""FIT p(y|x): models as scikit-learn estimators."""

from setwise.models.about import ModelTable
from setwise.models.base import SetClassifier
from setwise.models.bernoulli_mixture import BernoulliMixtureModel
from setwise.models.binary_relevance import BinaryRelevance
from setwise.models.cbm import CBM
from setwise.models.chains import (
    ChainEnsemble,
    ClassifierChain,
    ConditionalTree,
    MixtureOfExperts,
)
from setwise.models.clems import CLEMS
from setwise.models.condensed_filter_tree import CondensedFilterTree
from setwise.models.crf import PairwiseCRF
from setwise.models.dependency import DependencyNetwork
from setwise.models.kernel import KernelModel
from setwise.models.label_size import LabelSizeF1
from setwise.models.lift import LIFT
from setwise.models.model_average import ModelAverage
from setwise.models.neighbour_sets import LPkNN
from setwise.models.neighbours import BRkNN, MLkNN
from setwise.models.neural import SPEN, DeepValueNetwork, PredictAndConstrain
from setwise.models.pdsparse import PDSparse
from setwise.models.powerset import PowerSet
from setwise.models.rakel import RAkEL
from setwise.models.stacking import StackedBinaryRelevance
from setwise.models.topics import DependencyLDA, FlatLDA, PriorLDA, TunedSVM
from setwise.storage import load

# Models of word counts are not among them: they do not take every kind of features.
MODELS: dict[str, type[SetClassifier]] = {
    model.__name__: model
    for model in (
        BRkNN,
        BinaryRelevance,
        CBM,
        CLEMS,
        ChainEnsemble,
        ClassifierChain,
        CondensedFilterTree,
        ConditionalTree,
        DependencyNetwork,
        KernelModel,
        LIFT,
        LPkNN,
        LabelSizeF1,
        MLkNN,
        MixtureOfExperts,
        ModelAverage,
        PDSparse,
        PairwiseCRF,
        PowerSet,
        RAkEL,
        StackedBinaryRelevance,
    )
}

# They need PyTorch to be fitted, and are listed without it.
NEURAL: dict[str, type[SetClassifier]] = {
    model.__name__: model for model in (DeepValueNetwork, PredictAndConstrain, SPEN)
}

# Their features are counts of words.
OF_COUNTS: dict[str, type[SetClassifier]] = {
    model.__name__: model for model in (DependencyLDA, FlatLDA, PriorLDA, TunedSVM)
}


def list_models(*, of_counts: bool = False) -> ModelTable:
    """The names of all models, as a list that prints as a table of what they are.

    Its columns: the name, the paper, whether there is a joint probability of all labels, the
    learners that it can be made of, and what a fit costs in n rows, d features, L labels and K
    components.

    Parameters
    ----------
    of_counts : bool
        Whether to list models of word counts too, whose features are not just any numbers.

    Examples
    --------
    >>> "BinaryRelevance" in list_models()
    True
    >>> {row["name"]: row["joint"] for row in list_models().rows}["PowerSet"]
    'yes'
    """
    listed = MODELS | NEURAL | (OF_COUNTS if of_counts else {})
    return ModelTable({name: model.about for name, model in listed.items()})


__all__ = [
    "CBM",
    "CLEMS",
    "LIFT",
    "MODELS",
    "NEURAL",
    "OF_COUNTS",
    "SPEN",
    "BRkNN",
    "BernoulliMixtureModel",
    "BinaryRelevance",
    "ChainEnsemble",
    "ClassifierChain",
    "CondensedFilterTree",
    "ConditionalTree",
    "DeepValueNetwork",
    "DependencyLDA",
    "DependencyNetwork",
    "FlatLDA",
    "KernelModel",
    "LPkNN",
    "LabelSizeF1",
    "MLkNN",
    "MixtureOfExperts",
    "ModelAverage",
    "PDSparse",
    "PairwiseCRF",
    "PowerSet",
    "PredictAndConstrain",
    "PriorLDA",
    "RAkEL",
    "SetClassifier",
    "StackedBinaryRelevance",
    "TunedSVM",
    "list_models",
    "load",
]
