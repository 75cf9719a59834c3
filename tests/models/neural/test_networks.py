"""Networks against plain arithmetic: gradients, projections, what the searches for labels find."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the neural models need PyTorch")

from setwise import metrics  # noqa: E402
from setwise.models.neural.constrained_network import ConstrainedNetwork, projected  # noqa: E402
from setwise.models.neural.layers import LabelPatterns, soft_f1  # noqa: E402
from setwise.models.neural.spen_network import EnergyNetwork  # noqa: E402
from setwise.models.neural.value_network import (  # noqa: E402
    ValueNetwork,
    _misjudged,
    _misjudged_gradient,
)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def relaxed(n=5, L=4):
    return torch.rand(n, L)


def test_the_gradient_of_label_patterns_is_that_of_their_worth():
    patterns, y = LabelPatterns(4, 3), relaxed().requires_grad_()
    (expected,) = torch.autograd.grad(patterns(y, 0.5).sum(), y)
    torch.testing.assert_close(patterns.gradient(y, 0.5), expected)


def free_energy(network, x, y):
    entropy = -(torch.xlogy(y, y) + torch.xlogy(1 - y, 1 - y)).sum(dim=1)
    return network.energy(x, y) - entropy


def test_the_descent_of_energy_ends_where_no_neighbour_is_lower():
    network, x = EnergyNetwork(3, 4, 6, 5, steps=200, share=0.3), torch.randn(5, 3)
    with torch.no_grad():
        end = network.relaxed(x)
        lowest = free_energy(network, x, end)
        for _ in range(20):
            near = (end + 0.02 * torch.randn_like(end)).clamp(1e-6, 1 - 1e-6)
            assert (free_energy(network, x, near) >= lowest - 1e-5).all()


def test_the_loss_of_energy_networks_counts_later_steps_more():
    network = EnergyNetwork(3, 4, 6, 5, steps=2, share=0.5)
    x, y = torch.randn(5, 3), relaxed() > 0.5

    def cross_entropy(odds):
        labels = torch.sigmoid(odds)
        return -torch.log(torch.where(y, labels, 1 - labels)).sum(dim=1)

    first, last = map(cross_entropy, network.descent(x))
    torch.testing.assert_close(network.loss(x, y.float()), (first / 2 + last) / 1.5)


def test_soft_f1_of_sets_is_their_f1():
    random = np.random.default_rng(0)
    truth, found = random.integers(0, 2, (2, 30, 4))
    truth[0] = found[0] = 0
    soft = soft_f1(torch.as_tensor(found), torch.as_tensor(truth)).mean()
    expected = metrics.f1(truth, found, average="instance", zero_division=1.0)
    assert float(soft) == pytest.approx(expected, rel=1e-6)


def test_ascent_finds_what_the_network_thinks_good_and_adversaries_what_it_misjudges():
    network, h, truth = ValueNetwork(3, 4, 6, 5, steps=30, step=0.5), torch.rand(6, 6), relaxed(6)
    truth = (truth > 0.5).float()
    with torch.no_grad():
        found, nothing = network.ascent(h), torch.zeros(6, 4)
        assert (network.log_odds(h, found) > network.log_odds(h, nothing)).all()
    for others in (relaxed(6), truth):
        assert (network.log_odds(h, found) >= network.log_odds(h, others) - 1e-5).all()
    adversary = network.ascent(h, truth)
    wrong = torch.nn.functional.binary_cross_entropy_with_logits

    def misjudged(y):
        return wrong(network.log_odds(h, y), soft_f1(y, truth)).item()

    assert misjudged(adversary) > misjudged(found)


def test_the_gradient_of_misjudgement_is_that_of_autograd():
    network, h, y = ValueNetwork(3, 4, 6, 5, steps=1, step=0.5), torch.rand(6, 6), relaxed(6)
    truth = (relaxed(6) > 0.5).float()
    truth[0] = 0
    y.requires_grad_()
    odds = network.log_odds(h, y)
    (of_odds,) = torch.autograd.grad(odds.sum(), y, retain_graph=True)
    (expected,) = torch.autograd.grad(_misjudged(odds, y, truth).sum(), y)
    torch.testing.assert_close(_misjudged_gradient(odds, of_odds, y, truth), expected)


@pytest.mark.parametrize("z", [0.0, 1.0, 2.5, 4.0])
def test_projections_have_the_sum_and_nothing_nearer_has(z):
    v = 2 * torch.randn(50, 4, dtype=torch.float64)
    y = projected(v, torch.full((50,), z, dtype=torch.float64))
    assert ((y >= 0) & (y <= 1)).all()
    torch.testing.assert_close(y.sum(dim=1), torch.full((50,), z, dtype=torch.float64))
    # Nearest in a convex set: no way from y to another of its points leads towards v.
    others = projected(torch.randn(200, 4, dtype=torch.float64), torch.full((200,), z).double())
    towards = torch.einsum("nl,nml->nm", v - y, others[None] - y[:, None])
    assert float(towards.max()) <= 1e-6


def test_the_gradient_of_a_projection_is_that_of_small_differences():
    v = torch.tensor([[0.9, 0.4, 0.2, -3.0]], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([1.2], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(projected, (v, z), atol=1e-4)


def test_constrained_labels_sum_to_the_predicted_size():
    network, x = ConstrainedNetwork(3, 4, 6, 5, steps=4, step=0.3, largest=3), torch.randn(7, 3)
    with torch.no_grad():
        sizes = network.size(x).argmax(dim=1)
        torch.testing.assert_close(network.relaxed(x).sum(dim=1), sizes.float())
