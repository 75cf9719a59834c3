"""Whole weights mean repeated rows, as far as minibatches allow, and only their ratios count."""

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch", reason="the neural models need PyTorch")

from setwise.models.neural import SPEN, DeepValueNetwork, PredictAndConstrain  # noqa: E402
from setwise.models.neural.constrained_network import ConstrainedNetwork  # noqa: E402
from setwise.models.neural.rows import Rows, feature_scale  # noqa: E402
from setwise.models.neural.spen_network import EnergyNetwork  # noqa: E402
from setwise.models.neural.training import _epoch, _held_out_f1  # noqa: E402
from setwise.models.neural.value_network import ValueNetwork  # noqa: E402

WEIGHT = np.array([1, 3, 0, 2, 1, 2, 4, 1])
REPEATED = np.repeat(np.arange(8), WEIGHT)
# What the value network's loss judges for a row, by a number that it draws.
KINDS = {"truth": 0.1, "found": 0.4, "adversary": 0.9}
NETWORKS = {
    "energy": lambda: EnergyNetwork(3, 4, 6, 5, steps=3, share=0.5),
    "constrained": lambda: ConstrainedNetwork(3, 4, 6, 5, steps=3, step=0.3, largest=4),
} | {f"value of {kind}": lambda: ValueNetwork(3, 4, 6, 5, steps=3, step=0.5) for kind in KINDS}
MODELS = {"SPEN": SPEN, "PredictAndConstrain": PredictAndConstrain} | {
    f"DeepValueNetwork of {kind}": DeepValueNetwork for kind in KINDS
}


@pytest.fixture(params=NETWORKS)
def network(request, monkeypatch):
    """Makes a network, always the same one."""
    without_chance(request.param, monkeypatch)

    def make():
        torch.manual_seed(0)
        return NETWORKS[request.param]()

    return make


@pytest.fixture(params=MODELS)
def model(request, monkeypatch):
    without_chance(request.param, monkeypatch)
    return MODELS[request.param]


def without_chance(name, monkeypatch):
    """Copies of a row would be judged in different ways; here all are in the way of the name."""
    drawn = [number for kind, number in KINDS.items() if name.endswith(kind)]
    if drawn:
        monkeypatch.setattr(torch, "rand", lambda *shape, device: torch.full(shape, drawn[0]))


def made_rows(n=8, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(1, 2, size=(n, 3))
    return X, (X @ random.normal(size=(3, 4)) + random.normal(size=(n, 4)) > 1).astype(np.int8)


def as_rows(X, Y, weight=None):
    weight = None if weight is None else weight.astype(float)
    return Rows(X, np.zeros(3), np.ones(3), torch.device("cpu"), sparse.csr_array(Y), weight)


def after_an_epoch(network, rows, which, batch_size, rate):
    """The mean loss, and the network's weights after it."""
    learner = network()
    optimiser = torch.optim.SGD(learner.parameters(), rate)
    loss = _epoch(learner, optimiser, rows, which, batch_size)
    return loss, torch.nn.utils.parameters_to_vector(learner.parameters()).detach()


@pytest.mark.parametrize("others", [0, 5], ids=["all rows", "with rows held out"])
def test_a_batch_of_weighted_rows_is_one_of_repeated_rows(network, others):
    """The loss and the step; rows that are not learnt from have no say, whatever they weigh."""
    X, Y = made_rows()
    more = made_rows(others, seed=1)
    weight = np.append(WEIGHT, np.full(others, 9))
    weighted = as_rows(np.vstack([X, more[0]]), np.vstack([Y, more[1]]), weight)
    repeated = as_rows(X[REPEATED], Y[REPEATED])
    learnt = np.flatnonzero(WEIGHT)
    loss, after = after_an_epoch(network, weighted, learnt, 20, rate=0.1)
    expected, expected_after = after_an_epoch(network, repeated, np.arange(14), 20, rate=0.1)
    assert loss == pytest.approx(expected, rel=1e-5)
    torch.testing.assert_close(after, expected_after, rtol=1e-5, atol=1e-6)
    unweighted, other = after_an_epoch(network, as_rows(X, Y), learnt, 20, rate=0.1)
    assert unweighted != pytest.approx(expected, rel=1e-2)
    assert (other - expected_after).abs().max() > 1e-3


@pytest.mark.parametrize("batch_size", [1, 3])
def test_batches_of_any_size_add_up_to_the_weighted_mean(network, batch_size):
    X, Y = made_rows()
    learnt = np.flatnonzero(WEIGHT)
    loss, _ = after_an_epoch(network, as_rows(X, Y, WEIGHT), learnt, batch_size, rate=0)
    with torch.no_grad():
        rows = as_rows(X, Y)
        losses = network().loss(rows.features(np.arange(8)), rows.labels(np.arange(8))).numpy()
    assert loss == pytest.approx(np.average(losses, weights=WEIGHT), rel=1e-5)


def test_held_out_rows_count_by_their_weight():
    network, (X, Y) = NETWORKS["energy"](), made_rows(30)
    weight = np.random.default_rng(2).integers(0, 4, size=30)
    repeated = np.repeat(np.arange(30), weight)
    expected = _held_out_f1(network, as_rows(X, Y), repeated)
    assert _held_out_f1(network, as_rows(X, Y, weight), np.arange(30)) == pytest.approx(expected)
    assert _held_out_f1(network, as_rows(X, Y), np.arange(30)) != pytest.approx(expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_features_are_scaled_by_rows_of_their_weight(form):
    X = np.maximum(made_rows(seed=1)[0], 0)
    learnt = np.flatnonzero(WEIGHT)
    weighted = feature_scale(form(X[learnt]), WEIGHT[learnt])
    np.testing.assert_allclose(weighted, feature_scale(form(X[REPEATED])), rtol=1e-12)
    assert not np.allclose(weighted, feature_scale(form(X[learnt])), rtol=1e-3)


SETTINGS = {"hidden": 8, "steps": 4, "batch_size": 32, "max_epochs": 8, "n_jobs": 1}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_fit_in_one_batch_is_that_of_repeated_rows(model, form):
    X, Y = made_rows()
    weighted = model(**SETTINGS).fit(form(X), Y, sample_weight=WEIGHT)
    repeated = model(**SETTINGS).fit(form(X[REPEATED]), Y[REPEATED])
    plain = model(**SETTINGS).fit(form(X), Y)
    for name, expected in repeated.weights_.items():
        np.testing.assert_allclose(weighted.weights_[name], expected, atol=1e-4, err_msg=name)
    expected = repeated.predict_proba(X)
    np.testing.assert_allclose(weighted.predict_proba(X), expected, atol=1e-3)
    assert np.abs(plain.predict_proba(X) - expected).max() > 1e-2


def test_doubling_all_weights_changes_nothing(model):
    X, Y = made_rows(40)
    weight = np.random.default_rng(3).uniform(0.5, 2, size=40)
    settings = SETTINGS | {"batch_size": 8}
    one, other = (model(**settings).fit(X, Y, sample_weight=w) for w in (weight, 2 * weight))
    assert one.history_ == other.history_
    np.testing.assert_array_equal(other.predict_proba(X), one.predict_proba(X))
    plain = model(**settings).fit(X, Y)
    assert plain.history_ != one.history_
