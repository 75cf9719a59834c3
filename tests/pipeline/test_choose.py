import json

import numpy as np
import pytest
from scipy import sparse

from setwise.errors import DataError
from setwise.models import BinaryRelevance
from setwise.models.strength import STRENGTHS
from setwise.pipeline import FitSettings, fit_table
from setwise.pipeline import choose as choosing
from setwise.pipeline.build import Choice, bare_model
from setwise.pipeline.candidates import candidates_for


@pytest.fixture(scope="module")
def rows(train_table):
    settings = FitSettings(labels=("tags",), model="BinaryRelevance", folds=2)
    fitted = fit_table(train_table, settings)
    Y, _ = fitted.labels_.encode(fitted.labels_.sets(train_table))
    return fitted.features(train_table), Y


@pytest.fixture
def few_models(monkeypatch):
    models = [Choice("BinaryRelevance", {"C": 1e-6}), Choice("BinaryRelevance", {"C": 1.0})]
    monkeypatch.setattr(choosing, "candidates_for", lambda *_: models)
    monkeypatch.setattr(choosing, "_best_C", lambda *_: 1.0)


@pytest.mark.parametrize("target", ["set_accuracy", "hamming", "macro_f1"])
def test_the_best_on_held_out_rows_is_chosen_and_said_why(rows, few_models, target):
    said = []
    chosen = choosing.choose(*rows, None, FitSettings(target=target), said.append)
    assert chosen.choice.options == {"C": 1.0}
    values = [trial["value"] for trial in chosen.trials]
    assert (values[1] < values[0]) == (target == "hamming")
    assert "BinaryRelevance has the best" in chosen.reason
    assert f"{values[1]:.4f} (against BinaryRelevance {values[0]:.4f}" in chosen.reason
    assert len(said) == 3


def test_what_does_not_fit_into_the_budget_is_left_out_and_said_so(rows, few_models):
    chosen = choosing.choose(*rows, None, FitSettings(budget=1e-9))
    assert chosen.choice.options == {"C": 1e-6}  # the first is always tried
    assert chosen.trials[1]["value"] is None
    assert "was left out: would take about" in chosen.reason


def test_candidates_depend_on_target_and_data(rows):
    X, Y = rows
    names = [c.name for c in candidates_for(FitSettings(), X, Y, 1.0)]
    linear = ["BinaryRelevance", "BRRerank", "ClassifierChain", "PairwiseCRF", "PowerSet", "CBM"]
    assert names == linear
    for target, reranks in {"f1": True, "hamming": False}.items():
        found = candidates_for(FitSettings(target=target), X, Y, 1.0)
        assert ("BRRerank" in [c.name for c in found]) is reranks
    on_dense = candidates_for(FitSettings(), X.toarray(), Y, 1.0)[len(linear) :]
    assert [c.name for c in on_dense] == ["BinaryRelevance", "PowerSet", "CBM"]
    assert all(c.options["learner"] == "boosting" for c in on_dense)


def test_few_rows_judge_in_turn_and_groups_stay_together(rows):
    _, Y = rows
    groups = np.arange(Y.shape[0]) // 3
    folds = choosing.judging_folds(Y, groups, 0)
    judges = np.concatenate([fold.judges for fold in folds])
    assert len(folds) == 4
    np.testing.assert_array_equal(np.sort(judges), np.arange(Y.shape[0]))
    for fold in folds:
        assert not set(groups[fold.train]) & set(groups[fold.judges])
        np.testing.assert_array_equal(fold.groups, groups[fold.judges])


def test_one_group_cannot_judge(rows):
    X, Y = rows
    with pytest.raises(DataError, match="only 1 row or group; name a model"):
        choosing.choose(X, Y, np.zeros(Y.shape[0]), FitSettings())


def test_candidates_keep_groups_together_in_what_they_choose_themselves(rows, monkeypatch):
    X, Y = rows
    groups, seen = np.arange(Y.shape[0]) // 3, []
    models = [Choice("PowerSet", {"C": "auto"})]
    learn = BinaryRelevance.with_chosen_C

    def watched(model, X, Y, sample_weight=None, groups=None):
        seen.append(groups)
        return learn(model, X, Y, sample_weight, groups)

    def recorded(choice, settings):
        model = bare_model(choice, settings)
        fit = model.fit
        model.fit = lambda X, Y, groups: (seen.append(groups), fit(X, Y, groups=groups))[1]
        return model

    monkeypatch.setattr(BinaryRelevance, "with_chosen_C", watched)
    monkeypatch.setattr(choosing, "candidates_for", lambda *_: models)
    monkeypatch.setattr(choosing, "bare_model", recorded)
    choosing.choose(X, Y, groups, FitSettings())
    folds = choosing.judging_folds(Y, groups, 0)
    parts = {tuple(groups[fold.train]) for fold in folds}
    small = tuple(groups[folds[0].train[:: choosing.SMALL]])
    assert {tuple(part) for part in seen} == parts | {small}


def test_many_rows_are_judged_by_one_part_of_them(rows, monkeypatch):
    monkeypatch.setattr(choosing, "ENOUGH_JUDGES", 10)
    (fold,) = choosing.judging_folds(rows[1], None, 0)
    assert len(fold.judges) == pytest.approx(rows[1].shape[0] * choosing.JUDGES, abs=2)


def test_what_a_model_has_chosen_is_not_chosen_again(rows, monkeypatch):
    models = [Choice("PowerSet", {"C": "auto"})]
    monkeypatch.setattr(choosing, "candidates_for", lambda *_: models)
    chosen = choosing.choose(*rows, None, FitSettings())
    assert chosen.choice.options["C"] in STRENGTHS


def test_models_that_see_different_things_are_averaged(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 3))
    Y = (X + 0.7 * random.normal(size=(600, 3)) > 0).astype(np.int8)
    Y = sparse.csr_array(np.column_stack([Y, Y[:, 0] ^ Y[:, 1]]))
    models = [Choice("PowerSet", {"C": 0.01}), Choice("BinaryRelevance", {"learner": "boosting"})]
    monkeypatch.setattr(choosing, "candidates_for", lambda *_: models)
    chosen = choosing.choose(X, Y, None, FitSettings(target="f1"))
    assert chosen.choice.name == "ModelAverage"
    members = chosen.choice.options["members"]
    assert [member["model"] for member in members] == ["PowerSet", "BinaryRelevance"]
    assert sum(member["weight"] for member in members) == pytest.approx(1, rel=1e-9)
    model = bare_model(chosen.choice, FitSettings(target="f1")).fit(X, Y)
    assert model.weights_.tolist() == [member["weight"] for member in members]
    assert type(model.models_[0]).__name__ == "PowerSet"
    assert model.models_[0].C == 0.01
    json.dumps(chosen.trials)  # it stands in the model file


def test_many_rows_are_thinned_out():
    some = choosing._some_rows(100_000, 0)
    assert len(some) == int(choosing.MOST_ROWS / (1 - choosing.JUDGES))
    assert (np.diff(some) > 0).all()
