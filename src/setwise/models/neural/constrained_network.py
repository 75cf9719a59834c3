"""Scores of labels, a predicted number of labels, and ascent among the sets of that size.

    maximise  s(x, y) = u(x) . y + c . softplus(A y + a)   over  y in [0, 1]^L,  sum of y = z(x)

by steps of ascent, each followed by the projection onto that slice of the cube, which is exact: all
entries shift by the one number with which they sum to z after clipping.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from setwise.models.neural.layers import LabelPatterns, soft_f1, two_layers

HALVINGS = 24  # of the interval that holds the shift: as fine as single precision


class ConstrainedNetwork(nn.Module):
    """Perceptrons for labels and for their number, and a worth of label patterns."""

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        hidden: int,
        n_patterns: int,
        steps: int,
        step: float,
        largest: int,
    ) -> None:
        super().__init__()
        self.unary = two_layers(n_features, hidden, n_labels)
        self.size = two_layers(n_features, hidden, largest + 1)
        self.patterns = LabelPatterns(n_labels, n_patterns)
        self.steps, self.step = steps, step

    def ascent(self, unary: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        """Labels of high score that sum to z (m,), (m, L)."""
        y = projected(torch.sigmoid(unary), z)
        for _ in range(self.steps):
            y = projected(y + self.step * (unary + self.patterns.gradient(y)), z)
        return y

    def relaxed(self, x: torch.Tensor) -> torch.Tensor:
        """Where the ascent ends with the likeliest size, (m, L)."""
        return self.ascent(self.unary(x), self.size(x).argmax(dim=1).to(x.dtype))

    def loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """One minus F1 where the ascent ends at the true size, and cross-entropies, (m,).

        Those of the size, and of each label by its own score: where the projection has clipped a
        label, F1 alone would not move it.
        """
        unary, true_size = self.unary(x), y.sum(dim=1)
        wrong = 1 - soft_f1(self.ascent(unary, true_size), y)
        sizes = cross_entropy(self.size(x), true_size.long(), reduction="none")
        labels = binary_cross_entropy_with_logits(unary, y, reduction="none").sum(dim=1)
        return wrong + sizes + labels


def projected(v: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """The points of the cube [0, 1]^L that sum to z (m,) and are nearest to v (m, L).

    The shift is found by halving, then once more in a form that has a gradient.
    """
    with torch.no_grad():
        low, high = v.min(dim=1).values - 1, v.max(dim=1).values
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            above = (v - middle[:, None]).clamp(0, 1).sum(dim=1) > z
            low, high = torch.where(above, middle, low), torch.where(above, high, middle)
        shifted = v - ((low + high) / 2)[:, None]
        inside = ((shifted > 0) & (shifted < 1)).to(v.dtype)
        full = (shifted >= 1).to(v.dtype).sum(dim=1)
        count = inside.sum(dim=1)
    exact = ((v * inside).sum(dim=1) + full - z) / count.clamp(min=1)
    shift = torch.where(count > 0, exact, (low + high) / 2)
    return (v - shift[:, None]).clamp(0, 1)
