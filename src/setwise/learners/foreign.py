"""scikit-learn estimators as bytes that cannot run code: skops with a fixed allow-list.

skops writes no pickles and reads scikit-learn's public estimators and numpy's and scipy's own types
unasked; whatever else a file asks for it lists. Of that, only scikit-learn's private parts named
below are let in. A rule by package would not do: numpy holds functions that run what they are told.
"""

from __future__ import annotations

from typing import Any

from setwise.errors import MissingDependency, StorageError
from setwise.learners.foreign_size import check_size
from setwise.storage import Room

# What fitted scikit-learn classifiers are made of, beyond what skops trusts by itself.
ALLOWED = frozenset(
    {
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.tree._tree.Tree",
    }
)


def to_bytes(estimator: Any) -> bytes:
    """The estimator as skops writes it; what ``from_bytes`` would refuse is refused here too."""
    io = _skops()
    try:
        contents: bytes = io.dumps(estimator)
    except Exception as error:
        raise StorageError(
            f"{type(estimator).__name__} cannot be stored without pickle ({error}); "
            "use a scikit-learn estimator or setwise's own learners"
        ) from error
    _check_types(io, contents)
    return contents


def from_bytes(contents: bytes, room: Room | None = None) -> Any:
    """The estimator in ``contents``.

    One that asks for types not known to be safe is refused, and one that would need more than
    ``room`` when unpacked, before skops reads it.
    """
    io = _skops()
    check_size(contents, room or Room())
    trusted = _check_types(io, contents)
    try:
        return io.loads(contents, trusted=trusted)
    except Exception as error:
        raise StorageError(f"not a readable estimator ({error}); save the model again") from error


def _check_types(io: Any, contents: bytes) -> list[str]:
    """The types that skops wants to be told about, all of them allowed."""
    try:
        unknown = [str(name) for name in io.get_untrusted_types(data=contents)]
    except Exception as error:
        raise StorageError(f"not a readable estimator ({error}); save the model again") from error
    refused = sorted(set(unknown) - ALLOWED)
    if refused:
        raise StorageError(
            f"the estimator holds {', '.join(refused)}; only known parts of scikit-learn, numpy "
            "and scipy are stored and read: use those, or setwise's own learners"
        )
    return unknown


def _skops() -> Any:
    try:
        import skops.io  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise MissingDependency(
            "storing a scikit-learn estimator needs skops: pip install 'setwise[skops]'"
        ) from None
    return skops.io


def is_estimator(thing: Any) -> bool:
    """Whether this is an estimator as scikit-learn makes them."""
    return hasattr(thing, "get_params") and hasattr(thing, "fit")
