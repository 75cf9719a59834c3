import numpy as np
import pytest
from scipy import sparse

from setwise.data.split import holdout
from setwise.decisions import InstanceF1Threshold, decision_for
from setwise.errors import DataError
from setwise.models import BinaryRelevance
from setwise.models.tuning import TUNING_SHARE, tune_decisions

TUNED = ["micro_f1", "macro_f1", "f1_threshold", "jaccard"]


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 4))
    Y = X @ random.normal(size=(4, 6)) + random.normal(size=(120, 6)) > 0.8
    return X, sparse.csr_array(Y.astype(np.int8))


@pytest.mark.parametrize("target", TUNED)
def test_held_out_rows_count_by_their_weights(data, target):
    X, Y = data
    train, held_out = holdout(Y, test_size=TUNING_SHARE, random_state=0)
    weights = np.ones(120)
    weights[held_out] = np.random.default_rng(2).choice([1, 50], size=len(held_out))
    found = BinaryRelevance(target=target).fit(X, Y, sample_weight=weights).decision_
    copies = np.repeat(held_out, weights[held_out].astype(int))
    inner = BinaryRelevance(allow_empty=True).fit(X[train], Y[train], sample_weight=weights[train])
    expected = decision_for(target).tune(inner.predict_dist(X[copies]), Y[copies])
    np.testing.assert_array_equal(found.threshold_, expected.threshold_)
    plain = BinaryRelevance(target=target).fit(X, Y).decision_
    assert not np.array_equal(found.threshold_, plain.threshold_)


@pytest.mark.parametrize("target", TUNED)
def test_rows_without_weight_are_absent(data, target):
    X, Y = data
    counts = np.random.default_rng(2).random(120) < 0.7
    model = BinaryRelevance(target=target, max_iter=1000)
    found = model.fit(X, Y, sample_weight=counts.astype(float)).decision_
    expected = model.fit(X[counts], Y[counts], sample_weight=np.ones(counts.sum())).decision_
    np.testing.assert_array_equal(found.threshold_, expected.threshold_)


def test_one_fit_tunes_every_decision(data, monkeypatch):
    X, Y = data
    fits = []
    fit = BinaryRelevance.fit

    def counted(self, X, *arguments, **options):
        fits.append(X.shape[0])
        return fit(self, X, *arguments, **options)

    expected = [BinaryRelevance(target=target).fit(X, Y).decision_.threshold_ for target in TUNED]
    monkeypatch.setattr(BinaryRelevance, "fit", counted)
    decisions = [decision_for(target) for target in ("f1", *TUNED)]
    tune_decisions(BinaryRelevance(), decisions, X, Y, allow_empty=True)
    assert fits == [96]
    for decision, threshold in zip(decisions[1:], expected):
        np.testing.assert_array_equal(decision.threshold_, threshold)
    tune_decisions(BinaryRelevance(), decisions[:1], X, Y, allow_empty=True)
    assert fits == [96]  # nothing to tune, nothing to fit


def test_groups_are_never_separated(data, monkeypatch):
    X, Y = data
    groups = np.arange(120) // 6
    seen = {}

    class Spy(InstanceF1Threshold):
        def tune(self, distribution, Y):
            seen["held out"] = Y.shape[0]
            return super().tune(distribution, Y)

    def learn(self, X, Y, sample_weight, groups, real=BinaryRelevance._learn):
        seen["groups"] = groups
        return real(self, X, Y, sample_weight, groups)

    monkeypatch.setattr(BinaryRelevance, "_learn", learn)
    tune_decisions(BinaryRelevance(), [Spy()], X, Y, groups=groups, allow_empty=True)
    names, sizes = np.unique(seen["groups"], return_counts=True)
    assert (sizes == 6).all()
    assert len(names) * 6 + seen["held out"] == 120


@pytest.mark.parametrize("weights", [None, [0.0, 3.0, 0.0]])
def test_one_row_cannot_be_split(weights):
    n = 1 if weights is None else 3
    with pytest.raises(DataError, match="'jaccard' is tuned on held-out rows, but there is only"):
        BinaryRelevance(target="jaccard").fit(np.eye(n), np.ones((n, 2)), sample_weight=weights)
