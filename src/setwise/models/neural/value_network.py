"""The value of a set for a row, and the ascent to the best set.

    v(x, y) = sigmoid( u(x) . y  +  c . softplus(A y + B h(x) + a)  +  b )

is to say how right a relaxed set is: its F1. Ascent on v from the empty set finds the labels.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from setwise.models.neural.layers import LabelPatterns, soft_f1

TRUTH, FOUND = 0.2, 0.6  # shares of rows whose truth is judged, and what the ascent finds so far


class ValueNetwork(nn.Module):
    """Scores by a perceptron, patterns of labels that depend on x."""

    def __init__(
        self, n_features: int, n_labels: int, hidden: int, n_patterns: int, steps: int, step: float
    ) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(n_features, hidden), nn.ReLU())
        self.unary = nn.Linear(hidden, n_labels)
        self.shift = nn.Linear(hidden, n_patterns)
        self.patterns = LabelPatterns(n_labels, n_patterns)
        self.bias = nn.Parameter(torch.zeros(1))
        self.steps, self.step = steps, step

    def log_odds(self, h: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Log-odds of the value of y, (m,), from the hidden units of x."""
        patterns = self.patterns(y, self.shift(h))
        odds: torch.Tensor = (self.unary(h) * y).sum(dim=1) + patterns + self.bias
        return odds

    def ascent(self, h: torch.Tensor, truth: torch.Tensor | None = None) -> torch.Tensor:
        """Labels of high value, (m, L); or, with the truth, labels that are judged most wrongly."""
        with torch.no_grad():
            unary, shift = self.unary(h), self.shift(h)
            y = torch.zeros_like(unary)
            for _ in range(self.steps):
                uphill = unary + self.patterns.gradient(y, shift)
                if truth is not None:
                    odds = (unary * y).sum(dim=1) + self.patterns(y, shift) + self.bias
                    uphill = _misjudged_gradient(odds, uphill, y, truth)
                y = (y + self.step * uphill).clamp(0, 1)
            return y

    def relaxed(self, x: torch.Tensor) -> torch.Tensor:
        """Where the ascent ends, (m, L)."""
        return self.ascent(self.hidden(x))

    def loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """How wrongly sets are judged, (m,): the truth, sets found by ascent, and adversaries."""
        h = self.hidden(x)
        kind = torch.rand(len(x), 1, device=x.device)
        judged = torch.where(kind < FOUND, self.ascent(h), self.ascent(h, y))
        judged = torch.where(kind < TRUTH, y, judged)
        return _misjudged(self.log_odds(h, judged), judged, y)


def _misjudged(odds: torch.Tensor, y: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the value against the F1 that relaxed labels have, (m,)."""
    return binary_cross_entropy_with_logits(odds, soft_f1(y, truth), reduction="none")


def _misjudged_gradient(
    odds: torch.Tensor, odds_gradient: torch.Tensor, y: torch.Tensor, truth: torch.Tensor
) -> torch.Tensor:
    """The derivative of ``_misjudged`` by y (m, L), where the truth is 0 or 1."""
    f1 = soft_f1(y, truth)
    sizes = (y.sum(dim=1) + truth.sum(dim=1)).clamp(min=1e-9)
    f1_gradient = (2 * truth - f1[:, None]) / sizes[:, None]
    return (torch.sigmoid(odds) - f1)[:, None] * odds_gradient - odds[:, None] * f1_gradient
