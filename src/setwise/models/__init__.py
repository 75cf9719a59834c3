"""FIT p(y|x): models as scikit-learn estimators."""

from setwise.models.base import SetClassifier
from setwise.models.binary_relevance import BinaryRelevance
from setwise.storage import load

MODELS: dict[str, type[SetClassifier]] = {model.__name__: model for model in (BinaryRelevance,)}


def list_models() -> list[str]:
    """The names of all models.

    >>> "BinaryRelevance" in list_models()
    True
    """
    return sorted(MODELS)


__all__ = ["MODELS", "BinaryRelevance", "SetClassifier", "list_models", "load"]
