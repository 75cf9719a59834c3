"""Tuning, fitting and predicting notice nothing of the labels of test rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from setwise.experiments.entry import ModelSpec
from setwise.experiments.measuring import predictions, run_once
from setwise.experiments.peers.entry import OURS, PEERS
from setwise.experiments.protocol import folds, part_of

BR = ModelSpec("BR", "BinaryRelevance", grid={"C": (0.01, 1.0)})
SPECS = (
    (BR, None),
    (BR, 1),
    (ModelSpec("sets", "PowerSet", grid={"C": (0.1, 1.0)}, tuned_by="set_accuracy"), None),
    (ModelSpec("validated", "BinaryRelevance", grid={"C": (0.1, 1.0)}, validated=True), None),
    (ModelSpec("CBM", "CBM", {"n_components": 2, "C": "auto", "max_iter": 3}), None),
    (ModelSpec("rerank", "BRRerank", {"C": 1.0, "n_folds": 2}, refit=True), None),
    (PEERS[0], None),
)


@pytest.mark.parametrize(("spec", "number"), SPECS, ids=lambda part: getattr(part, "name", part))
def test_scrambled_test_labels_change_nothing(small, spec, number):
    check(small, spec, number)


@pytest.mark.slow
def test_nor_does_our_default_notice_them(small):
    check(small, OURS[0], None)


def test_only_measures_notice_them(small):
    data = part_of("tiny", small.protocol, 0, None)
    turned = 1 - data.labels.encode(data.Y_test).toarray()
    honest, scrambled = (
        run_once(small, BR, replace(data, Y_test=labels), 0) for labels in (data.Y_test, turned)
    )
    assert honest["setting"] == scrambled["setting"]
    losses = [run["measured"]["set_accuracy"]["hamming_loss"] for run in (honest, scrambled)]
    assert sum(losses) == pytest.approx(1)


def check(small, spec, number):
    data = part_of("tiny", small.protocol if number is None else folds(3), 0, number)
    random = np.random.default_rng(0)
    turned = sparse.csr_array(random.permutation(data.labels.encode(data.Y_test).toarray()))
    expected, found = (
        predictions(small, spec, replace(data, Y_test=labels), 0) for labels in (None, turned)
    )
    assert found["setting"] == expected["setting"]
    for target, sets in expected["sets"].items():
        np.testing.assert_array_equal(_dense(found["sets"][target]), _dense(sets))


def _dense(sets):
    return sets.toarray() if sparse.issparse(sets) else np.asarray(sets)
