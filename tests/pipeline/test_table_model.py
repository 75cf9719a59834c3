import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.decisions import decision_for
from setwise.errors import DataError, FormatError
from setwise.pipeline import FitSettings, Table, fit_table, load_model
from setwise.pipeline.evaluation import judge


def test_it_learns_from_text_numbers_and_categories(model, test_table):
    sets, confidence, single = model.predict_matrix(test_table)
    truth, _ = model.labels_.encode(model.labels_.sets(test_table))
    assert sw.metrics.set_accuracy(truth, sets) > 0.75
    assert single.shape == (300, 4)
    assert ((confidence >= 0) & (confidence <= 1)).all()
    kinds = {role["column"]: role["kind"] for role in model.facts_["roles"]}
    assert kinds == {"id": "ignored", "description": "text", "age": "number", "plan": "category"}
    assert model.label_names == ("billing", "network", "screen", "urgent")


def test_every_column_counts(model, test_table):
    """The number and the category change what is said of the labels that they speak for."""
    row = {name: cells[:1] for name, cells in test_table.columns.items()}
    quiet = row | {"description": ["nothing known here"], "age": ["30"], "plan": ["basic"]}

    def chance(label, **change):
        table = Table(quiet | change, [2])
        return model.label_probabilities(model.features(table))[0, model.label_names.index(label)]

    assert chance("billing", age=["70"]) > chance("billing") + 0.1
    assert chance("urgent", plan=["gold"]) > chance("urgent") + 0.1
    assert chance("screen", description=["display flicker"]) > chance("screen") + 0.1


def test_the_answers_agree_with_each_other(model, test_table):
    sets, confidence, single = model.predict_matrix(test_table)
    space = sw.LabelSpace(model.label_names)
    for top in (1, 3):
        said = model.predict(test_table, top=top, probabilities=True)
        assert said.sets == space.decode(sets)
        np.testing.assert_allclose(said.confidence, confidence, rtol=1e-12)
        np.testing.assert_allclose(said.probabilities, single, rtol=1e-12)
        assert max(map(len, said.alternatives)) == top - 1
    for chosen, sure, others in zip(said.sets, said.confidence, said.alternatives):
        assert chosen not in [labels for labels, _ in others]
        assert [p for _, p in others] == sorted((p for _, p in others), reverse=True)
        assert all(0 <= p <= sure + 1e-12 for _, p in others)


@pytest.mark.parametrize("target", ["f1", "hamming"])
def test_other_models_and_targets(train_table, test_table, target):
    settings = FitSettings(
        labels=("tags",), model="BinaryRelevance", target=target, folds=2, promise="approximate"
    )
    fitted = fit_table(train_table, settings)
    assert not fitted.is_exact_
    said = fitted.predict(test_table, top=3)
    distribution = fitted.model_.stages_[0].distribution(fitted.features(test_table))
    best = decision_for(target).decide(distribution)
    assert said.sets == sw.LabelSpace(fitted.label_names).decode(best)
    assert fitted.accept_rule(0.8).guarantee_ == "approximate"
    for chosen, others in zip(said.sets, said.alternatives):
        assert chosen not in [labels for labels, _ in others]


def test_write_then_read_is_the_identity(model, test_table, tmp_path):
    path = tmp_path / "a.setwise"
    model.save(path)
    again = load_model(str(path))
    assert again.settings == model.settings
    assert again.facts_ == model.facts_
    a, b = (one.predict(test_table, top=3) for one in (model, again))
    assert a.sets == b.sets
    assert a.alternatives == b.alternatives
    np.testing.assert_array_equal(a.confidence, b.confidence)
    assert again.accept_rule(0.8).threshold_ == model.accept_rule(0.8).threshold_


def test_a_fit_can_be_repeated_from_what_the_model_holds(model, train_table, test_table):
    again = fit_table(train_table, FitSettings.of(model.settings))
    np.testing.assert_array_equal(
        again.predict_matrix(test_table)[1], model.predict_matrix(test_table)[1]
    )


def test_rows_that_were_kept_apart_make_the_promise(model):
    rule = model.accept_rule(0.8)
    assert rule.guarantee_ == "exact"
    assert rule.n_counted_ == 80  # a fifth of 400
    assert model.facts_["n_train"] == 320


def test_rows_of_a_group_are_never_separated(train_table):
    groups = [str(i // 8) for i in range(400)]
    table = Table(train_table.columns | {"house": groups}, train_table.places)
    settings = FitSettings(
        labels=("tags",), groups="house", model="BRRerank", options={"C": 1.0}, folds=2,
        promise="exact",
    )  # fmt: skip
    fitted = fit_table(table, settings)
    apart = np.bincount(fitted.judged_groups_)
    assert set(apart[apart > 0]) == {8}
    assert fitted.accept_rule(0.8).n_counted_ == len(fitted.judged_confidence_) // 8
    assert "house" not in fitted.encoder_.columns


def test_reranking_for_f1_still_says_how_likely_the_whole_set_is_right(
    train_table, test_table, tmp_path
):
    settings = FitSettings(
        labels=("tags",), model="BRRerank", options={"C": 1.0}, folds=5, target="f1"
    )
    fitted = fit_table(train_table, settings)
    assert fitted.model_.target == "f1"
    found = fitted.predict(test_table, top=3)
    correct = judge(fitted, test_table).correct
    assert abs(np.mean(found.confidence) - correct.mean()) < 0.1
    assert (fitted.predict(test_table, probabilities=True).probabilities > 0).all()
    path = str(tmp_path / "model.setwise")
    fitted.save(path)
    assert load_model(path).predict(test_table, top=3).sets == found.sets


def test_a_few_rows_all_train_and_many_rows_keep_some(train_table):
    settings = FitSettings(labels=("tags",), model="BinaryRelevance", folds=2)
    assert not fit_table(train_table, settings).is_exact_


def test_missing_columns_no_rows_and_changed_types(model, test_table):
    columns = dict(test_table.columns)
    del columns["age"], columns["plan"]
    with pytest.raises(FormatError, match="no columns 'age', 'plan'; the columns are 'id'"):
        model.predict(Table(columns, test_table.places, "new.csv"))
    nothing = Table({name: [] for name in test_table.columns}, [])
    assert model.predict(nothing, top=3).sets == []
    old = Table(test_table.columns | {"age": ["old"] * 300}, test_table.places, "new.csv")
    with pytest.raises(FormatError, match="new.csv, line 2: column 'age' holds 'old'"):
        model.predict(old)


def test_what_cannot_be_fitted_gets_a_sentence(train_table):
    def fit(table=train_table, **given):
        return fit_table(table, FitSettings.of({"labels": "tags", **given}))

    with pytest.raises(DataError, match="has 5 rows, too few"):
        fit(train_table.taken(np.arange(5)))
    with pytest.raises(DataError, match="no model 'SVM'; there are: auto, BRRerank"):
        fit(model="SVM")
    with pytest.raises(DataError, match="CBM has no option 'components'"):
        fit(model="CBM", options={"components": 3})
    with pytest.raises(DataError, match="BRRerank chooses sets for set accuracy or F1"):
        fit(model="BRRerank", target="hamming")
    with pytest.raises(DataError, match="are for one model, but the model is auto"):
        fit(options={"C": 1})


def test_a_model_that_was_saved_from_python_is_no_table_model(tmp_path):
    path = tmp_path / "plain.setwise"
    X = sparse.csr_array(np.eye(4))
    sw.BinaryRelevance().fit(X, np.eye(4, dtype=int)[:, :2]).save(path)
    with pytest.raises(FormatError, match="a BinaryRelevance that was saved from Python"):
        load_model(str(path))


@pytest.mark.parametrize("case", ["one label everywhere", "one label here and there", "numbers"])
def test_odd_tables_are_learnt_from_too(train_table, case):
    rows = train_table.taken(np.arange(60))
    columns = dict(rows.columns)
    if case == "numbers":
        columns = {"a": [str(np.sin(i)) for i in range(60)], "tags": columns["tags"]}
    else:
        columns["tags"] = ["a" if case.endswith("everywhere") or i % 2 else "" for i in range(60)]
    table = Table(columns, rows.places)
    settings = FitSettings(labels=("tags",), model="BRRerank", options={"C": 1.0}, folds=2)
    said = fit_table(table, settings).predict(table, top=3)
    assert len(said.sets) == 60
    assert np.isfinite(said.confidence).all()
    if case == "one label everywhere":
        assert set(said.sets) == {("a",)}
