"""What the neural models share: their settings, training by minibatches, weights as arrays.

A model names its network; the network has ``loss(x, y)``, one number a row, and ``relaxed(x)``,
labels between 0 and 1.
"""

from __future__ import annotations

from abc import abstractmethod
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count, check_from_zero, check_over_zero
from setwise.decisions import Decision
from setwise.distributions import Product
from setwise.distributions.base import Distribution
from setwise.errors import MissingDependency
from setwise.models.base import SetClassifier
from setwise.models.folds import n_units
from setwise.models.held_out import held_out_parts

if TYPE_CHECKING:
    from torch import nn

HELD_OUT_SHARE = 0.1  # of the rows, which say when to stop
LEAST_HELD_OUT = 2  # rows, below which all are learnt from, for all epochs
COUNTS = ("hidden", "patterns", "batch_size", "max_epochs", "patience")
CERTAIN = 1e-6  # relaxed labels stay this far from 0 and 1

WHY_NOT_JOINT = "labels relaxed to [0, 1], whose values are no probabilities of sets"


class NeuralSetClassifier(SetClassifier):
    """Base of the neural models, which document their parameters.

    ``own_steps`` and ``own_step_size`` are how a model searches for labels unless it is told.
    """

    own_steps: ClassVar[int]
    own_step_size: ClassVar[float]

    def __init__(
        self,
        hidden: int = 150,
        *,
        patterns: int = 16,
        steps: int | None = None,
        step_size: float | None = None,
        learning_rate: float = 0.001,
        weight_decay: float = 0.01,
        batch_size: int = 64,
        max_epochs: int = 100,
        patience: int = 10,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        device: str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.hidden = hidden
        self.patterns = patterns
        self.steps = steps
        self.step_size = step_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.target = target
        self.allow_empty = allow_empty
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _search(self) -> tuple[int, float]:
        """The number of steps in the search for labels, and their size."""
        steps = self.own_steps if self.steps is None else self.steps
        size = self.own_step_size if self.step_size is None else self.step_size
        return steps, size

    @abstractmethod
    def _network(self, n_features: int, n_labels: int, largest: int) -> nn.Module:
        """A network with weights drawn at random; ``largest`` is the most labels a row has."""

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        need_torch(type(self).__name__)
        from setwise.models.neural.rows import Rows, chosen_device, feature_scale
        from setwise.models.neural.training import seeded, trained

        self._check()
        counted = np.arange(X.shape[0]) if sample_weight is None else np.flatnonzero(sample_weight)
        learnt, held_out = counted, counted[:0]
        can_part = n_units(sample_weight, groups, X.shape[0]) > 1  # a single group stays together
        if can_part and len(counted) * HELD_OUT_SHARE >= LEAST_HELD_OUT:
            learnt, held_out = held_out_parts(
                Y, sample_weight, groups, HELD_OUT_SHARE, self.random_state
            )
        weight = None if sample_weight is None else sample_weight[learnt]
        centre, scale = feature_scale(X[learnt], weight)
        device = chosen_device(self.device)
        rows = Rows(X, centre, scale, device, Y, sample_weight)
        largest = int(np.diff(Y.indptr)[counted].max(initial=1))
        with seeded(self.random_state, self.n_jobs):
            network = self._network(X.shape[1], Y.shape[1], largest).to(device)
            weights, history = trained(
                network,
                rows,
                learnt,
                held_out,
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                batch_size=self.batch_size,
                max_epochs=self.max_epochs,
                patience=self.patience,
                random=np.random.default_rng(self.random_state),
            )
        return {
            "weights_": weights,
            "centre_": centre,
            "scale_": scale,
            "largest_": max(largest, 1),
            "history_": history,
        }

    def _distribution(self, X: Any) -> Distribution:
        need_torch(type(self).__name__)
        from setwise.models.neural.rows import Rows, chosen_device
        from setwise.models.neural.training import relaxed_labels, restored, seeded

        device = chosen_device(self.device)
        with seeded(self.random_state, self.n_jobs):
            network = self._network(X.shape[1], len(self.label_names_), self.largest_)
            network = restored(network, self.weights_).to(device)
            y = relaxed_labels(network, Rows(X, self.centre_, self.scale_, device))
        y = y.clip(CERTAIN, 1 - CERTAIN)
        return Product(np.log(y) - np.log1p(-y), allow_empty=self.allow_empty_)

    def _iterations(self) -> int:
        return len(self.history_)

    def _check(self) -> None:
        counts = {name: getattr(self, name) for name in COUNTS} | {"steps": self._search[0]}
        for name, value in counts.items():
            check_count(name, value, at_least=1)
        check_over_zero("learning_rate", self.learning_rate, advice="try 0.001")
        check_from_zero("weight_decay", self.weight_decay, advice="try 0.01")
        step = self._search[1]
        check_over_zero("step_size", step, advice=f"try {self.own_step_size}")


def need_torch(model: str) -> None:
    """A sentence where PyTorch is not installed."""
    if find_spec("torch") is None:
        raise MissingDependency(
            f"{model} is a neural network and needs PyTorch, which is not installed; "
            'run: pip install "setwise[neural]"'
        )
