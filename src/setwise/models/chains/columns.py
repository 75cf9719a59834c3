"""Features and labels side by side, as the regressions of a network see them.

Target m minimises, in scikit-learn's terms,

    C sum_i w_i [softplus(z_im) - t_im z_im] + |W_m|^2 / 2 + (C / C_labels) |v_m|^2 / 2
    z = X W + Y V + b

where the weights V of the labels are zero but for the parents of each target. Parents are penalised
apart, and hardly: at the features' penalty dependencies are shrunk away with the noise. With the
labels scaled by sqrt(C_labels / C) the two penalties are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Columns(NamedTuple):
    """Features (n, d), an array or CSR, and scaled labels (n, L) in their precision."""

    X: Any
    labels: np.ndarray
    scale: float  # of the labels

    def joined(self, parents: Any = slice(None)) -> Any:
        """Features and some of the labels, (n, d + L), in the features' container."""
        labels = self.labels[:, parents]
        if not sparse.issparse(self.X):
            return np.hstack([self.X, labels])
        joined = sparse.csr_array(sparse.hstack([self.X, sparse.csr_array(labels)], format="csr"))
        joined.indices = joined.indices.astype(np.int32)
        joined.indptr = joined.indptr.astype(np.int32)
        joined.sort_indices()
        return joined


def columns_of(X: Any, Y: np.ndarray, C: float, C_labels: float) -> Columns:
    """Features and labels (n, L), which are scaled for one penalty on both."""
    scale = float(np.sqrt(C_labels / C))
    return Columns(X, (scale * Y).astype(X.dtype), scale)


@dataclass(frozen=True)
class MaskedWeights:
    """Weights of features (d, m), of labels (L, m) and biases (m,), and how they were reached."""

    features: np.ndarray
    labels: np.ndarray
    biases: np.ndarray
    objective: np.ndarray  # (m,)
    converged: np.ndarray  # (m,) bool, see ``masked_bank.fit_masked``
    n_iter: int

    def taken(self, targets: Any) -> MaskedWeights:
        """The weights of some targets."""
        parts = (self.features[:, targets], self.labels[:, targets], self.biases[targets])
        return MaskedWeights(*parts, self.objective[targets], self.converged[targets], self.n_iter)

    def stacked(self, targets: np.ndarray, scale: float) -> np.ndarray:
        """Weights of some targets as solvers have them: of scaled labels, biases last."""
        part = self.taken(targets)
        return np.vstack([part.features, part.labels / scale, part.biases[None]])


def unstacked(
    W: np.ndarray, objective: np.ndarray, converged: np.ndarray, n_iter: int, columns: Columns
) -> MaskedWeights:
    """Weights (d + L + 1, m) of features, scaled labels and biases, by their names."""
    d = columns.X.shape[1]
    labels = W[d:-1] * np.asarray(columns.scale, W.dtype)
    return MaskedWeights(W[:d], labels, W[-1], objective, converged, n_iter)
