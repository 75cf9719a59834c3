"""Training by minibatches, with early stopping on rows held out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from setwise.learners.in_threads import thread_count
from setwise.models.neural.layers import soft_f1
from setwise.models.neural.rows import Rows

LARGEST_GRADIENT = 10.0  # its length: steps of the search for labels may magnify it
BATCH_AT_TEST = 1024  # rows


def trained(
    network: nn.Module,
    rows: Rows,
    learnt: np.ndarray,
    held_out: np.ndarray,
    *,
    learning_rate: float,
    weight_decay: float,
    batch_size: int,
    max_epochs: int,
    patience: int,
    random: np.random.Generator,
) -> tuple[dict[str, np.ndarray], list[dict[str, float]]]:
    """The weights of the epoch with the best F1 on the rows held out, and what each epoch brought.

    Without rows held out, those of the last epoch.
    """
    optimiser = torch.optim.AdamW(network.parameters(), learning_rate, weight_decay=weight_decay)
    history: list[dict[str, float]] = []
    best, weights, since = -np.inf, _arrays(network), 0
    for _ in range(max_epochs):
        loss = _epoch(network, optimiser, rows, random.permutation(learnt), batch_size)
        done = {"loss": loss}
        if len(held_out):
            done["held_out_f1"] = _held_out_f1(network, rows, held_out)
        history.append(done)
        if done.get("held_out_f1", np.inf) > best or not len(held_out):
            best, weights, since = done.get("held_out_f1", np.inf), _arrays(network), 0
        else:
            since += 1
        if since >= patience:
            break
    return weights, history


def _epoch(
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    rows: Rows,
    order: np.ndarray,
    batch_size: int,
) -> float:
    """Once over the rows; the mean loss, in which rows count by their weight.

    The losses of batches add up to it, so that those of heavy rows have the larger gradients.
    """
    network.train()
    total, typical = 0.0, rows.weights(order).mean()
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        losses = network.loss(rows.features(batch), rows.labels(batch))
        loss = (losses * rows.weights(batch)).mean() / typical
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), LARGEST_GRADIENT)
        optimiser.step()
        total += float(loss.detach()) * len(batch)
    return total / len(order)


def _held_out_f1(network: nn.Module, rows: Rows, held_out: np.ndarray) -> float:
    y = relaxed_labels(network, rows, held_out)
    truth = rows.labels(held_out).cpu()
    weights = rows.weights(held_out).cpu()
    f1 = soft_f1(torch.as_tensor(y > 0.5, dtype=truth.dtype), truth)
    return float((f1 * weights).mean() / weights.mean())


def relaxed_labels(network: nn.Module, rows: Rows, which: np.ndarray | None = None) -> np.ndarray:
    """What the network finds for rows, in batches: labels in [0, 1], (n, L)."""
    which = np.arange(len(rows)) if which is None else which
    network.eval()
    with torch.no_grad():
        parts = [
            network.relaxed(rows.features(which[start : start + BATCH_AT_TEST])).cpu().numpy()
            for start in range(0, max(len(which), 1), BATCH_AT_TEST)
        ]
    return np.concatenate(parts).astype(np.float64)


def restored(network: nn.Module, weights: dict[str, np.ndarray]) -> nn.Module:
    """The network with these weights."""
    network.load_state_dict({name: torch.as_tensor(value) for name, value in weights.items()})
    return network


def _arrays(network: nn.Module) -> dict[str, np.ndarray]:
    return {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}


@contextmanager
def seeded(seed: int | None, n_jobs: int | None) -> Iterator[None]:
    """PyTorch's chance by a seed, and its threads, for the length of a ``with`` block."""
    state: Any = torch.random.get_rng_state()
    threads = torch.get_num_threads()
    torch.set_num_threads(thread_count(n_jobs))
    if seed is not None:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        torch.random.set_rng_state(state)
        torch.set_num_threads(threads)
