"""Which of what was tried is taken."""

import numpy as np
import pytest
from scipy import sparse

from setwise.metrics import set_accuracy
from setwise.pipeline import compared
from setwise.pipeline.build import Choice
from setwise.pipeline.compared import Compared, Trial
from setwise.pipeline.judging import MEASURES, Fold, Judged, value_of
from setwise.pipeline.settings import FitSettings

N = 400
Y = sparse.csr_array(np.random.default_rng(0).integers(0, 2, (N, 3)) | [1, 0, 0], dtype=np.int8)
FOLDS = [Fold(np.arange(0), np.arange(N))]


def judged(name, wrong, target):
    """What has every label of these rows wrong, and is right elsewhere."""
    sets = Y.toarray()
    sets[wrong] ^= 1
    sets = sparse.csr_array(sets)
    return Judged(Choice(name), value_of(sets, Y, FOLDS, target), sets, np.empty(0), [])


@pytest.mark.parametrize(
    ("target", "wrong_reranked", "wrong_averaged", "taken"),
    [
        ("set_accuracy", 104, 100, "Reranker"),  # within chance of the average
        ("set_accuracy", 180, 100, "ModelAverage"),
        ("set_accuracy", 100, 104, "Reranker"),
        ("f1", 104, 100, "ModelAverage"),
        ("f1", 100, 104, "Reranker"),
    ],
)
def test_reranking_is_trusted_with_its_own_measure(
    monkeypatch, target, wrong_reranked, wrong_averaged, taken
):
    random = np.random.default_rng(1)

    def made(name, n_wrong):
        rows = random.permutation(N)[:n_wrong]
        monkeypatch.setattr(compared, name[0], lambda *_: judged(name[1], rows, target))

    made(("averaged", "ModelAverage"), wrong_averaged)
    made(("reranked_average", "Reranker"), wrong_reranked)
    monkeypatch.setattr(compared, "reranked_labels", lambda *_: None)
    alone = judged("CBM", random.permutation(N)[:200], target)
    trial = Trial("CBM", {}, alone.value, 1.0, 1.0)
    settings = FitSettings(target=target)
    found = Compared([(trial, alone)], Y, FOLDS, settings, 60.0).chosen(target)
    assert found.choice.name == taken
    assert {one["model"] for one in found.trials} == {"CBM", "ModelAverage", "Reranker"}
    best = max(one["value"] for one in found.trials)
    own = next(one["value"] for one in found.trials if one["model"] == taken)
    verb = "has the best" if own == best else "is within chance of the best"
    measure = MEASURES[target][0].replace("_", " ").replace("f1", "F1")
    assert found.reason.startswith(f"{taken} {verb} {measure} on {N} held-out rows")


def test_what_is_judged_here_is_as_wrong_as_told():
    assert set_accuracy(Y, judged("any", np.arange(100), "set_accuracy").predicted) == 0.75
