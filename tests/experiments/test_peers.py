"""What one would pick instead, and our default."""

import stat
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from setwise.data import holdout
from setwise.data.labels import as_binary_csr
from setwise.errors import DataError, MissingDependency
from setwise.experiments.measuring import made
from setwise.experiments.peers import ours
from setwise.experiments.peers.boomer import VARIABLE, Boomer
from setwise.experiments.peers.entry import OURS, PEERS
from setwise.experiments.peers.models import Chain, LightGBMOneVsRest, OneVsRest, TenChains
from setwise.experiments.peers.ours import AutoDefault
from setwise.pipeline import FitSettings
from setwise.pipeline import choose as choosing
from setwise.pipeline.build import Choice, bare_model
from setwise.pipeline.candidates import Candidate
from setwise.pipeline.compared import Chosen, Compared

CANDIDATES = [Candidate(Choice("BinaryRelevance", {"C": C})) for C in (1e-6, 1.0)]


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    Y = (X[:, :2] + 0.3 * random.normal(size=(120, 2)) > 0).astype(int)
    return X, np.column_stack([Y, np.ones(120, int), np.zeros(120, int)])  # two say nothing


@pytest.mark.parametrize("spec", PEERS[:5], ids=lambda spec: spec.name)
def test_peers_learn_and_keep_constant_labels(rows, spec):
    X, Y = rows
    # some of them dense, some sparse: the ways through the base class are the same
    X = sparse.csr_array(X) if "chain" in spec.name or "LightGBM" in spec.name else X
    check(made(spec, 0), X, Y)


@pytest.mark.parametrize("peer", [OneVsRest, LightGBMOneVsRest])
def test_one_vs_rest_keeps_more_labels_than_a_byte_counts_in_their_places(peer):
    X = np.random.default_rng(0).normal(size=(60, 130))
    Y = (X > 0).astype(np.int8)  # each label has a feature of its own
    model = peer().fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.8


def test_the_largest_boosters_predict_what_smaller_ones_would():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    Y = (X * X[:, [1, 2, 0]] + 0.3 * random.normal(size=(300, 3)) > 0).astype(int)
    train, test = slice(200), slice(200, 300)
    settings = tuple({"n_estimators": n} for n in (3, 40))
    together = dict(LightGBMOneVsRest(settings)._fitted(X[train], Y[train], (0, 1)))
    found = [together[number]._sets(X[test]) for number in (0, 1)]
    assert (found[0] != found[1]).any()
    for setting, sets in zip(settings, found, strict=True):
        alone = dict(LightGBMOneVsRest((setting,))._fitted(X[train], Y[train], (0,)))
        np.testing.assert_array_equal(sets, alone[0]._sets(X[test]))


def test_boosters_that_differ_otherwise_are_refused(rows):
    peer = LightGBMOneVsRest(({"n_estimators": 2}, {"n_estimators": 2, "num_leaves": 4}))
    with pytest.raises(DataError, match="numbers of trees alone, not .*num_leaves"):
        peer.fit(*rows)


@pytest.mark.slow
def test_our_default_chooses(rows):
    check(made(OURS[0], 0), *rows)


def test_our_default_compares_once_and_fits_what_is_best_for_several_targets_once(
    rows, monkeypatch
):
    X, Y = rows
    monkeypatch.setattr(choosing, "candidates_for", lambda *_, **__: CANDIDATES)
    targets = ("f1", "hamming")
    model = AutoDefault(targets, random_state=3).fit(X[:80], Y[:80])
    assert tuple(model.chosen_) == targets
    fitted = {id(part): part for part in model.models_.values()}
    assert len(fitted) == len({str(chosen) for chosen in model.chosen_.values()})
    scaled = (X - X[:80].mean(axis=0)) / X[:80].std(axis=0)
    for target, chosen in model.chosen_.items():
        settings = FitSettings(target=target, seed=3)
        alone = choosing.choose(scaled[:80], as_binary_csr(Y[:80]), None, settings)
        assert chosen == {"model": alone.choice.name, **alone.choice.options}
        own = bare_model(alone.choice, settings).fit(scaled[:80], Y[:80])
        found = sparse.csr_array(model.predict_for(X[80:], target))
        np.testing.assert_array_equal(found.toarray(), own.predict(scaled[80:]))


def test_one_reranker_of_our_default_is_for_sets_for_f1_and_for_single_labels(rows, monkeypatch):
    X, Y = rows
    groups, seen = np.arange(80) // 2, []
    monkeypatch.setattr(choosing, "candidates_for", lambda *_, **__: CANDIDATES)
    members = [{"model": "BinaryRelevance", "options": {"C": C}, "weight": 0.5} for C in (0.1, 1.0)]
    choices = {
        "set_accuracy": Choice("Reranker", {"members": members}),
        "f1": Choice("Reranker", {"members": members}),
        "hamming": Choice("ModelAverage", {"members": members}),
    }
    monkeypatch.setattr(
        Compared, "chosen", lambda _, target: Chosen(choices[target], [], "as told")
    )
    made_bare = ours.bare_model

    def recorded(choice, settings):
        seen.append((choice.name, settings.target))
        model = made_bare(choice, settings)
        fit = model.fit
        model.fit = lambda X, Y, groups: (seen.append(groups), fit(X, Y, groups=groups))[1]
        return model

    monkeypatch.setattr(ours, "bare_model", recorded)
    model = AutoDefault(("set_accuracy", "f1", "hamming")).fit(X[:80], Y[:80], groups)
    assert seen[::2] == [("Reranker", "f1"), ("ModelAverage", "hamming")]
    assert seen[1] is groups
    reranker = model.models_[ours._key(choices["f1"])]
    average = model.models_[ours._key(choices["hamming"])]
    scaled = (X - X[:80].mean(axis=0)) / X[:80].std(axis=0)
    np.testing.assert_array_equal(
        model.predict_for(X[80:], "f1").toarray(), reranker.predict(scaled[80:]).toarray()
    )
    np.testing.assert_array_equal(
        model.predict_for(X[80:], "hamming"), average.predict_proba(scaled[80:]) > 0.5
    )
    candidates = reranker.predict_candidates(scaled[80:])  # by falling confidence in whole sets
    surest = [tuple(label for label in sets[0][0]) for sets in candidates]
    found = model.predict_for(X[80:], "set_accuracy")
    assert [tuple(np.flatnonzero(row)) for row in found] == surest
    with pytest.raises(DataError, match="chosen for set_accuracy, f1, hamming, not for jaccard"):
        model.predict_for(X, "jaccard")
    choices["f1"] = choices["hamming"]  # then whole sets are what it learns to rerank for
    seen.clear()
    AutoDefault(("set_accuracy", "f1", "hamming")).fit(X[:80], Y[:80], groups)
    assert seen[::2] == [("ModelAverage", "f1"), ("Reranker", "set_accuracy")]


def check(model, X, Y):
    model.fit(X[:80], sparse.csr_array(Y[:80]))
    asked = hasattr(model, "predict_for")
    found = model.predict_for(X[80:], "set_accuracy") if asked else model.predict(X[80:])
    found = found.toarray() if sparse.issparse(found) else found
    assert (found[:, 2:] == [1, 0]).all()
    assert (found == Y[80:]).mean() > 0.85
    assert model.chosen_


def test_peers_choose_a_setting_for_each_target():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 5))
    Y = (X[:, :4] + 2 * random.normal(size=(400, 4)) > 1.5).astype(int)
    model = OneVsRest([{"C": C} for C in (1e-4, 1e-3, 1e-2, 1.0)]).fit(X, Y)
    train, test = holdout(as_binary_csr(Y), test_size=0.2, random_state=0)
    found = [
        OneVsRest([setting]).fit(X[train], Y[train]).predict_for(X[test], "f1")
        for setting in model.settings
    ]
    best = {
        "set_accuracy": np.argmax([(sets == Y[test]).all(axis=1).mean() for sets in found]),
        "f1": np.argmax([f1_score(Y[test], s, average="samples", zero_division=0) for s in found]),
        "hamming": np.argmin([(sets != Y[test]).mean() for sets in found]),
    }
    assert model.chosen_ == {target: model.settings[number] for target, number in best.items()}
    assert len(set(map(int, best.values()))) > 1  # else this would say nothing
    for target, number in best.items():
        own = OneVsRest([model.settings[number]]).fit(X, Y).predict_for(X, target)
        np.testing.assert_array_equal(model.predict_for(X, target), own)


def test_ten_chains_choose_for_one():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = TenChains([{"C": 0.1}, {"C": 1.0}]).fit(X, (X > 0).astype(int))
    assert type(model._judge()) is Chain
    assert {len(fitted.models_) for fitted in model.fitted_.values()} == {10}


def test_boomer_needs_a_python_of_its_own(rows, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(MissingDependency, match="SETWISE_BOOMER_PYTHON"):
        Boomer().fit(*rows)


def test_boomer_is_asked_through_files(rows, tmp_path, monkeypatch):
    X, Y = rows
    package, fits = tmp_path / "mlrl/boosting", tmp_path / "fits"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "class BoomerClassifier:\n"
        "    def __init__(self, **given): self.__dict__.update(given)\n"
        f"    def fit(self, X, Y): self.n = Y.shape[1]; open({str(fits)!r}, 'a').write('x')\n"
        "    def predict(self, X):\n"
        "        import numpy as np\n"
        "        value = self.binary_predictor == 'gfm' and self.max_rules == 7\n"
        "        return np.full((X.shape[0], self.n), value)\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(VARIABLE, str(python))
    model, few = Boomer(n_rules=7).fit(X, Y), X[:9]
    assert model.predict_for(few, "f1").tolist() == [[1] * 4] * 9
    assert model.predict_for(few, "set_accuracy").tolist() == [[0] * 4] * 9
    assert fits.read_text() == "x"  # one fit for both
    assert model.seconds_.keys() == {"fit", "predict"}
    assert min(model.seconds_.values()) >= 0
    assert model.predict_for(sparse.csr_array(X[:9]), "set_accuracy").sum() == 0
    (package / "__init__.py").write_text("raise ImportError('no such thing')")
    with pytest.raises(MissingDependency, match="no such thing"):
        model.predict_for(X, "f1")
