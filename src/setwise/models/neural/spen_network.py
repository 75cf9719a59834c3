"""The energy of a structured prediction energy network, and the descent to its labels.

    E(x, y) = - u(x) . y  +  c . softplus(A y + a)
    labels  = the minimum over y in [0, 1]^L of  E(x, y) - entropy(y)

At the minimum the log-odds of y are -dE/dy; the descent goes a share of the way there in each of a
few steps. They are part of the network, so that training improves what they end at.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from setwise.models.neural.layers import LabelPatterns, two_layers


class EnergyNetwork(nn.Module):
    """Unary scores by a perceptron, and an energy of label patterns."""

    def __init__(
        self, n_features: int, n_labels: int, hidden: int, n_patterns: int, steps: int, share: float
    ) -> None:
        super().__init__()
        self.unary = two_layers(n_features, hidden, n_labels)
        self.patterns = LabelPatterns(n_labels, n_patterns)
        self.steps, self.share = steps, share

    def energy(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """E(x, y), (m,)."""
        energy: torch.Tensor = self.patterns(y) - (self.unary(x) * y).sum(dim=1)
        return energy

    def descent(self, x: torch.Tensor) -> list[torch.Tensor]:
        """The log-odds of y after each step, (m, L) each."""
        unary = self.unary(x)
        odds, path = unary, []
        for _ in range(self.steps):
            downhill = unary - self.patterns.gradient(torch.sigmoid(odds))
            odds = odds + self.share * (downhill - odds)
            path.append(odds)
        return path

    def relaxed(self, x: torch.Tensor) -> torch.Tensor:
        """Where the descent ends, (m, L)."""
        return torch.sigmoid(self.descent(x)[-1])

    def loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Cross-entropy of the labels after each step, the later the more, (m,)."""
        losses, shares = [], []
        for step, odds in enumerate(self.descent(x)):
            entropy = binary_cross_entropy_with_logits(odds, y, reduction="none").sum(dim=1)
            shares.append(1 / (self.steps - step))
            losses.append(shares[-1] * entropy)
        return torch.stack(losses).sum(dim=0) / sum(shares)
