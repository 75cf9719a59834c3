"""FIT p(y|x): models as scikit-learn estimators."""

from setwise.models.base import SetClassifier
from setwise.models.bernoulli_mixture import BernoulliMixtureModel
from setwise.models.binary_relevance import BinaryRelevance
from setwise.models.cbm import CBM
from setwise.models.powerset import PowerSet
from setwise.storage import load

MODELS: dict[str, type[SetClassifier]] = {
    model.__name__: model for model in (BinaryRelevance, CBM, PowerSet)
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
    "PowerSet",
    "SetClassifier",
    "list_models",
    "load",
]
