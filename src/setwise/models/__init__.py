"""FIT p(y|x): models as scikit-learn estimators."""

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
from setwise.models.powerset import PowerSet
from setwise.models.topics import DependencyLDA, FlatLDA, PriorLDA, TunedSVM
from setwise.storage import load

# Models of word counts are not among them: they do not take every kind of features.
MODELS: dict[str, type[SetClassifier]] = {
    model.__name__: model
    for model in (
        BinaryRelevance,
        CBM,
        ChainEnsemble,
        ClassifierChain,
        ConditionalTree,
        MixtureOfExperts,
        PowerSet,
    )
}


def list_models() -> list[str]:
    """The names of all models.

    >>> "BinaryRelevance" in list_models()
    True
    """
    return sorted(MODELS)


__all__ = [
    "CBM",
    "MODELS",
    "BernoulliMixtureModel",
    "BinaryRelevance",
    "ChainEnsemble",
    "ClassifierChain",
    "ConditionalTree",
    "DependencyLDA",
    "FlatLDA",
    "MixtureOfExperts",
    "PowerSet",
    "PriorLDA",
    "SetClassifier",
    "TunedSVM",
    "list_models",
    "load",
]
