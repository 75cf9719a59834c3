"""A fitted mixture: a gate and its components, from features to log weights and log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from setwise.models.cbm.component import Component
from setwise.models.cbm.em import Gate
from setwise.models.cbm.rows import give_back_memory, row_pieces
from setwise.models.cbm.tree_gate import TreeGate
from setwise.storage import storable

#: Log-odds beyond which a label is as good as certain: no probability is exactly 0 or 1.
MAX_LOG_ODDS = 30.0
#: The weight that a component must have in some training row, lest it be left out.
IDLE = 1e-7


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
        """Log π_k(x), (n, K); -inf where a tree has pruned the component."""
        if isinstance(self.gate_, TreeGate):
            return self.gate_.pruned_log_proba(X)[0]
        return np.asarray(self.gate_.log_proba(X), dtype=np.float64)

    def fill_logits(self, X: Any, Z: np.ndarray, takes_part: np.ndarray | None = None) -> None:
        """Z (n, K, L) = log-odds of each label in each component.

        Where a component takes no part, bool (n, K), they may stay what they were.
        """
        for k, component in enumerate(self.components_):
            if takes_part is None or 2 * takes_part[:, k].sum() > len(Z):
                component.fill_logits(X, Z[:, k])
                continue
            rows = np.flatnonzero(takes_part[:, k])
            part = np.empty((len(rows), Z.shape[2]), Z.dtype)
            component.fill_logits(X[rows], part)
            Z[rows, k] = part
        np.clip(Z, -MAX_LOG_ODDS, MAX_LOG_ODDS, out=Z)


def without_idle(mixture: Any, X: Any) -> Any:
    """The mixture without the components that no row of X gives more than ``IDLE`` of its weight.

    Gates that cannot do without a component keep them all.
    """
    give_back_memory(X)  # what EM has used
    can_leave_out = isinstance(mixture, ConditionalMixture) and hasattr(mixture.gate_, "keep")
    if not can_leave_out or len(mixture.components_) == 1:
        return mixture
    # In pieces: all log weights at once may need more memory than X.
    pieces = [slice(None)] if sparse.issparse(X) else row_pieces(X.shape[0])
    most = np.max([mixture.log_weights(X[rows]).max(axis=0) for rows in pieces], axis=0)
    kept = np.flatnonzero(most > np.log(IDLE))
    if len(kept) < len(mixture.components_):
        mixture.gate_.keep(kept)
        mixture.components_ = [mixture.components_[k] for k in kept]
    return mixture
