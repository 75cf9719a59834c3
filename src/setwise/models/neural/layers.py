"""Layers that the networks share."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import softplus


def two_layers(n_inputs: int, hidden: int, n_outputs: int) -> nn.Sequential:
    """A perceptron with one hidden layer."""
    return nn.Sequential(nn.Linear(n_inputs, hidden), nn.ReLU(), nn.Linear(hidden, n_outputs))


class LabelPatterns(nn.Module):
    """What a set of labels is worth by itself: c . softplus(A y + a), and its gradient by y.

    Each unit is a pattern of labels that go together, or do not.
    """

    def __init__(self, n_labels: int, n_patterns: int) -> None:
        super().__init__()
        self.patterns = nn.Linear(n_labels, n_patterns)
        self.worth = nn.Parameter(torch.zeros(n_patterns))
        nn.init.normal_(self.worth, std=0.1)

    def forward(self, y: torch.Tensor, shift: torch.Tensor | float = 0.0) -> torch.Tensor:
        """The worth of relaxed sets (m, L), (m,); ``shift`` is added to the patterns."""
        worth: torch.Tensor = softplus(self.patterns(y) + shift) @ self.worth
        return worth

    def gradient(self, y: torch.Tensor, shift: torch.Tensor | float = 0.0) -> torch.Tensor:
        """Its derivative by y, (m, L)."""
        lit = torch.sigmoid(self.patterns(y) + shift) * self.worth
        gradient: torch.Tensor = lit @ self.patterns.weight
        return gradient


def soft_f1(y: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """F1 of relaxed sets, (m,): twice the overlap over the sizes; 1 where both are empty."""
    overlap = torch.minimum(y, truth).sum(dim=1)
    sizes = y.sum(dim=1) + truth.sum(dim=1)
    return torch.where(sizes > 0, 2 * overlap / sizes.clamp(min=1e-9), torch.ones_like(sizes))
