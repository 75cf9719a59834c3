"""A fitted mixture: a gate and its components, from features to log weights and log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.models.cbm.component import Component
from setwise.models.cbm.em import Gate
from setwise.storage import storable

#: Log-odds beyond which a label is as good as certain: no probability is exactly 0 or 1.
MAX_LOG_ODDS = 30.0


@storable
class ConditionalMixture:
    """π(z | x) and b(y | x, z): ``gate_`` and ``components_``."""

    @classmethod
    def of(cls, gate: Gate, components: Sequence[Component]) -> ConditionalMixture:
        """From fitted parts."""
        mixture = cls()
        mixture.gate_, mixture.components_ = gate, list(components)
        return mixture

    gate_: Gate
    components_: list[Component]

    def log_weights(self, X: Any) -> np.ndarray:
        """Log π_k(x), (n, K)."""
        return np.asarray(self.gate_.log_proba(X), dtype=np.float64)

    def fill_logits(self, X: Any, Z: np.ndarray) -> None:
        """Z (n, K, L) = log-odds of each label in each component."""
        for k, component in enumerate(self.components_):
            component.fill_logits(X, Z[:, k])
        np.clip(Z, -MAX_LOG_ODDS, MAX_LOG_ODDS, out=Z)
