"""Data made by a conditional Bernoulli mixture gives that mixture back (Li 2016, section 3.3)."""

from itertools import permutations

import numpy as np
import pytest
from scipy.special import expit

import setwise as sw
from setwise.data import make_cbm
from setwise.distributions import BernoulliMixture


@pytest.fixture(scope="module")
def recovered():
    data = make_cbm(15_000, draw="sample", random_state=0)
    fits = [
        sw.CBM(3, C=1000.0, max_iter=60, tol=1e-5, dtype="float64", random_state=seed)
        for seed in range(2)
    ]
    fits = [model.fit(data.X[:10_000], data.Y[:10_000]) for model in fits]
    return data, max(fits, key=lambda model: model.history_[-1]["bound"])


def test_gate_and_labels_are_the_true_ones_up_to_the_order_of_components(recovered):
    data, model = recovered
    found = model.predict_dist(data.X[10_000:])
    true_pi, true_p = np.exp(data.log_pi[10_000:]), expit(data.logits[10_000:])
    orders = [list(order) for order in permutations(range(3))]
    errors = [np.abs(np.exp(found.log_pi)[:, order] - true_pi).mean() for order in orders]
    order = orders[int(np.argmin(errors))]
    assert min(errors) < 0.01
    # What a component says where the gate does not send anyone is anybody's guess.
    gap = np.abs(expit(found.logits)[:, order] - true_p).mean(axis=2)
    assert (gap * true_pi).sum(axis=1).mean() < 0.01


def test_sets_are_predicted_as_well_as_by_the_generator(recovered):
    data, model = recovered
    rest = slice(10_000, None)
    mode = BernoulliMixture(data.log_pi[rest], data.logits[rest]).mode()[0]
    bound = sw.metrics.set_accuracy(data.Y[rest], mode)
    assert model.score(data.X[rest], data.Y[rest]) > bound - 0.01
