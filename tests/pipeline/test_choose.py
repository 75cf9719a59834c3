import json

import numpy as np
import pytest
from scipy import sparse

from setwise.errors import DataError
from setwise.models import BinaryRelevance, KernelModel
from setwise.models.strength import STRENGTHS
from setwise.pipeline import FitSettings, fit_table
from setwise.pipeline import choose as choosing
from setwise.pipeline.build import Choice, bare_model, keeps_rows
from setwise.pipeline.candidates import (
    MOST_CHAINED,
    MOST_LISTED,
    MOST_SETS,
    Candidate,
    candidates_for,
)


def tried(*choices):
    """Candidates of these, for any data."""
    return lambda *_, **__: [Candidate(choice) for choice in choices]


@pytest.fixture(scope="module")
def rows(train_table):
    settings = FitSettings(labels=("tags",), model="BinaryRelevance", folds=2)
    fitted = fit_table(train_table, settings)
    Y, _ = fitted.labels_.encode(fitted.labels_.sets(train_table))
    return fitted.features(train_table), Y


@pytest.fixture
def few_models(monkeypatch):
    models = [Choice("BinaryRelevance", {"C": 1e-6}), Choice("BinaryRelevance", {"C": 1.0})]
    monkeypatch.setattr(choosing, "candidates_for", tried(*models))
    monkeypatch.setattr(choosing, "_best_C", lambda *_: 1.0)


@pytest.mark.parametrize("target", ["jaccard", "hamming", "macro_f1"])
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
    assert chosen.choice.options["C"] == 1e-6  # the first is always tried
    assert chosen.trials[1]["value"] is None
    assert "was left out: no time was left to try it" in chosen.reason


def test_candidates_depend_on_the_data(rows):
    X, Y = rows
    found = candidates_for(X, Y, 1.0)
    linear = ["BinaryRelevance", "ClassifierChain", "PairwiseCRF", "PowerSet", "CBM"]
    spared = ["BinaryRelevance", "ClassifierChain", "PowerSet"]
    assert [c.choice.name for c in found] == [linear[0], "LPkNN", *linear[1:]]
    assert [c.start for c in found] == [None, None, None, 1.0, 1.0, None]
    more = candidates_for(X, Y, 1.0, few_weights=3.0)
    assert more[: len(found)] == found
    more = more[len(found) :]
    assert [c.choice.name for c in more] == spared
    assert [c.start for c in more] == [None, 3.0, 3.0]
    assert all(c.choice.options["learner"] == "elastic" for c in more)
    assert more[0].choice.options["C"] == 3.0
    assert more[1].choice.options["order"] == found[2].choice.options["order"]
    on_dense = [c.choice for c in candidates_for(X.toarray(), Y, 1.0)]
    assert (found[1].choice.options, on_dense[1].options) == (
        {"metric": "cosine"},
        {"metric": "euclidean"},
    )
    assert [
        c.choice for c in candidates_for(X.toarray(), Y, 1.0, few_weights=3.0)[len(found) :]
    ] == [c.choice for c in more] + on_dense[len(found) :]
    on_dense = on_dense[len(found) :]
    assert [c.options["inside"]["model"] for c in on_dense[:3]] == linear[1:4]
    assert [c.name for c in on_dense[3:]] == ["BinaryRelevance", "PowerSet"]
    assert all(c.options["learner"] == "boosting" for c in on_dense[3:])


@pytest.mark.parametrize("is_dense", [True, False])
def test_no_candidate_keeps_rows_where_none_may(rows, is_dense):
    X, Y = rows
    X = X.toarray() if is_dense else X
    every, some = (
        [one.choice for one in candidates_for(X, Y, 1.0, keep_rows=keep_rows)]
        for keep_rows in (True, False)
    )
    assert some == [one for one in every if one.name not in ("LPkNN", "KernelModel")]
    assert len(every) - len(some) == (4 if is_dense else 1)


def test_what_keeps_rows_is_found_inside_others():
    near = {"model": "LPkNN", "options": {}}
    for name, options in (
        ("ModelAverage", {"members": [{"model": "CBM", "options": {}}, near]}),
        ("KernelModel", {"inside": {"model": "CBM", "options": {}}}),
        ("Reranker", {"members": [{"model": "KernelModel", "options": {}}]}),
        ("MLkNN", {}),
    ):
        assert keeps_rows(Choice(name, options))
    assert not keeps_rows(Choice("Reranker", {"members": [{"model": "CBM", "options": {}}]}))


@pytest.mark.parametrize("few_weights", [3.0, None])
def test_an_elastic_net_is_tried_where_it_is_better_for_binary_relevance(
    rows, few_weights, monkeypatch
):
    asked, candidates = [], [Candidate(Choice("BinaryRelevance", {"C": C})) for C in (1.0, 3.0)]

    def watched(rows, folds, usual, settings, seconds):
        asked.append((usual.choice.options, seconds))
        return few_weights

    def found(X, Y, C, *, keep_rows, few_weights=None):
        return candidates + [Candidate(Choice("LPkNN"))] * (few_weights == 3.0)

    monkeypatch.setattr(choosing, "candidates_for", found)
    monkeypatch.setattr(choosing, "strength_of_few_weights", watched)
    compared = choosing.compare(*rows, None, FitSettings(budget=50.0))
    names = [trial.model for trial, _ in compared.trials]
    assert names == 2 * ["BinaryRelevance"] + (["LPkNN"] if few_weights else [])
    ((options, seconds),) = asked
    assert options == {"C": 1.0}
    assert seconds < 50 * choosing.NEAR


def test_of_very_many_labels_no_chain_is_made(rows):
    X, Y = rows
    many = sparse.csr_array((Y.shape[0], MOST_CHAINED + 1), dtype=np.int8)
    for some in (X, X.toarray()):
        choices = [c.choice for c in candidates_for(some, many, 1.0)]
        assert "ClassifierChain" not in str(choices)
        assert "CBM" in str(choices)


def test_of_very_many_sets_no_classes_are_made(rows):
    X, _ = rows
    for n_sets, left_out in ((MOST_SETS, []), (MOST_LISTED, ["PowerSet"])):
        names = [c.choice.name for c in candidates_for(X, _of_sets(n_sets), 1.0)]
        assert [name for name in ("PairwiseCRF", "PowerSet") if name not in names] == left_out
    names = [c.choice.name for c in candidates_for(X, _of_sets(MOST_LISTED + 1), 1.0)]
    assert names == ["BinaryRelevance", "LPkNN", "ClassifierChain", "CBM"]


def _of_sets(n_sets):
    """Rows of so many different sets: numbers, in binary."""
    bits = np.arange(n_sets)[:, None] >> np.arange(13) & 1
    return sparse.csr_array(bits.astype(np.int8))


def test_a_penalty_is_looked_for_near_that_of_binary_relevance(rows, monkeypatch):
    X, Y = rows
    models = [Candidate(Choice("PowerSet", {"tol": 1e-3}), start=30.0)]
    monkeypatch.setattr(choosing, "candidates_for", lambda *_, **__: models)
    asked = []

    def watched(model, X, Y, sample_weight=None, groups=None, *, start, seconds):
        asked.append((model.C, model.tol, start, seconds))
        return 100.0

    monkeypatch.setattr(choosing, "best_C", watched)
    chosen = choosing.choose(X, Y, None, FitSettings(budget=50.0))
    assert chosen.choice.options == {"tol": 1e-3, "C": 100.0}
    ((C, tol, start, seconds),) = asked
    assert (C, tol, start) == (30.0, 1e-3, 30.0)
    assert 0 < seconds < 50 * choosing.NEAR


def test_seconds_for_those_before_are_reserved(rows, few_models, monkeypatch):
    X, Y = rows
    trial, judged = choosing.compare(X, Y, None, FitSettings()).trials[0]
    with monkeypatch.context() as patched:
        patched.setattr(choosing, "_reserved", lambda trials: 5e4 if trials else 0.0)
        cost = choosing._Cost(trial=0.1, compared=5e4, last=5e4, plain_share=1.0)
        patched.setattr(choosing._Comparison, "_cost", lambda *_, **__: cost)
        settings = FitSettings(budget=1e5)
        (_, first), (second, none) = choosing.compare(X, Y, None, settings).trials
        assert first is not None
        assert none is None
        assert second.note.startswith("would take about 100000 s, and ")
    assert choosing._reserved([(trial, judged), (trial, None), (trial, judged)]) == (
        pytest.approx(2 * judged.expected, rel=1e-12)
    )


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [((2.0, 4.0), 16.0), ((2.0, 3.0), 9.0), ((2.0, 2.0), 3.2), ((5.0, 2.0), 3.2)],
    ids=["as the rows", "half as fast", "not at all", "after a compilation"],
)
def test_costs_grow_by_as_much_as_they_have_grown(rows, monkeypatch, seconds, expected):
    comparison = timed(rows, monkeypatch, BinaryRelevance(), seconds)
    choice = Choice("BinaryRelevance", {})
    first = comparison._cost(choice, None)
    assert first.compared == pytest.approx(8 * seconds[0], rel=1e-12)
    again = comparison._cost(choice, None, earlier=first)
    assert again.compared == pytest.approx(expected, rel=1e-12)


def timed(rows, monkeypatch, model, seconds):
    """A comparison whose fits yield a model, and take these seconds one after another."""
    X, Y = rows
    rest = list(seconds)
    monkeypatch.setattr(choosing._Comparison, "_fitted", lambda *_: (model, rest.pop(0)))
    n = 8 * (Y.shape[0] // 8)
    folds = [choosing.Fold(np.arange(n), np.arange(n, Y.shape[0]))]
    return choosing._Comparison(choosing.TrainingRows(X, Y, None, None), folds, FitSettings(), 0.0)


def test_looking_for_a_penalty_takes_a_few_fits_more(rows, monkeypatch):
    comparison = timed(rows, monkeypatch, BinaryRelevance(), [2.0])
    cost = comparison._cost(Choice("BinaryRelevance", {}), 1.0)
    assert cost.compared == pytest.approx(8 * 2.0 * (1 + choosing.TRIES), rel=1e-12)


def test_kernels_of_more_rows_have_more_landmarks_to_pay_for(rows, monkeypatch):
    model = KernelModel(n_landmarks=100)
    model.model_ = BinaryRelevance()
    inside = {"inside": {"model": "BinaryRelevance", "options": {}}}
    cost = timed(rows, monkeypatch, model, [2.0])._cost(Choice("KernelModel", inside), None)
    assert rows[1].shape[0] == 400  # of whose eighth half are landmarks
    assert cost.compared == pytest.approx(8 * 2.0 * 100 / 25, rel=1e-12)


def test_neighbours_of_more_rows_have_more_rows_to_pay_for(rows, monkeypatch):
    comparison = timed(rows, monkeypatch, BinaryRelevance(), [2.0])
    cost = comparison._cost(Choice("LPkNN", {}), None)
    assert cost.compared == pytest.approx(8**2 * 2.0, rel=1e-12)
    n, n_train = rows[1].shape[0], len(comparison.folds[0].train)
    folds = choosing.folds_of(comparison.settings)
    assert cost.last == pytest.approx(cost.compared * (n / n_train) ** 2 * (folds + 1), rel=1e-12)


def test_models_are_compared_in_single_precision(rows, few_models, monkeypatch):
    X, Y = rows
    seen, fit = set(), choosing._Comparison._fitted
    monkeypatch.setattr(
        choosing._Comparison,
        "_fitted",
        lambda self, *a: (seen.add(str(self.rows.X.dtype)), fit(self, *a))[1],
    )
    choosing.compare(X, Y, None, FitSettings())
    assert (seen, X.dtype) == ({"float32"}, np.float64)


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
    with pytest.raises(DataError, match="only 1 sample .row or group.; give more of them"):
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
    monkeypatch.setattr(choosing, "candidates_for", tried(*models))
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
    monkeypatch.setattr(choosing, "candidates_for", tried(*models))
    chosen = choosing.choose(*rows, None, FitSettings())
    assert chosen.choice.options["C"] in STRENGTHS


def test_models_that_see_different_things_are_averaged(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 3))
    Y = (X + 0.7 * random.normal(size=(600, 3)) > 0).astype(np.int8)
    Y = sparse.csr_array(np.column_stack([Y, Y[:, 0] ^ Y[:, 1]]))
    models = [Choice("PowerSet", {"C": 0.01}), Choice("BinaryRelevance", {"learner": "boosting"})]
    monkeypatch.setattr(choosing, "candidates_for", tried(*models))
    chosen = choosing.choose(X, Y, None, FitSettings(target="hamming"))
    assert chosen.choice.name == "ModelAverage"
    members = chosen.choice.options["members"]
    assert [member["model"] for member in members] == ["PowerSet", "BinaryRelevance"]
    assert sum(member["weight"] for member in members) == pytest.approx(1, rel=1e-9)
    model = bare_model(chosen.choice, FitSettings(target="hamming")).fit(X, Y)
    assert model.weights_.tolist() == [member["weight"] for member in members]
    assert type(model.models_[0]).__name__ == "PowerSet"
    assert model.models_[0].C == 0.01
    json.dumps(chosen.trials)  # it stands in the model file


def test_reranking_is_judged_without_another_fit(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    first = X[:, 0] + 2 * random.normal(size=400) > 0
    Y = sparse.csr_array(np.column_stack([first, ~first, first]).astype(np.int8))
    seen, bare = [], choosing.bare_model
    monkeypatch.setattr(choosing, "bare_model", lambda *a: (seen.append(a[0].name), bare(*a))[1])
    models = [Choice("BinaryRelevance", {"C": 1.0}), Choice("BinaryRelevance", {"C": 0.1})]
    monkeypatch.setattr(choosing, "candidates_for", tried(*models))
    compared = choosing.compare(X, Y, None, FitSettings())
    fitted = len(seen)
    trials = {trial["model"]: trial for trial in compared.chosen("set_accuracy").trials}
    assert {"BRRerank", "Reranker"} <= set(trials)
    assert {"BRRerank", "Reranker"}.isdisjoint(
        trial["model"] for trial in compared.chosen("hamming").trials
    )
    assert trials["Reranker"]["expected"] > trials["BRRerank"]["expected"] > 0
    assert len(seen) == fitted
    assert set(seen) == {"BinaryRelevance"}


def test_many_rows_are_thinned_out():
    some = choosing._some_rows(100_000, 0)
    assert len(some) == int(choosing.MOST_ROWS / (1 - choosing.JUDGES))
    assert (np.diff(some) > 0).all()
