import numpy as np
import pytest

from setwise.pipeline import FitSettings, fit_table
from setwise.pipeline import choose as choosing


@pytest.fixture(scope="module")
def rows(train_table):
    settings = FitSettings(labels=("tags",), model="BinaryRelevance", folds=2)
    fitted = fit_table(train_table, settings)
    Y, _ = fitted.labels_.encode(fitted.labels_.sets(train_table))
    return fitted.features(train_table), Y


@pytest.fixture
def few_models(monkeypatch):
    from setwise.pipeline.build import Choice

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
    assert f"{values[1]:.4f} (against BinaryRelevance {values[0]:.4f})" in chosen.reason
    assert len(said) == 3


def test_what_does_not_fit_into_the_budget_is_left_out_and_said_so(rows, few_models):
    chosen = choosing.choose(*rows, None, FitSettings(budget=1e-9))
    assert chosen.choice.options == {"C": 1e-6}  # the first is always tried
    assert chosen.trials[1]["value"] is None
    assert "was left out: would take about" in chosen.reason


def test_candidates_depend_on_target_and_data(rows):
    names = [c.name for c in choosing.candidates_for(FitSettings(), rows[1], 1.0)]
    assert names == ["BinaryRelevance", "BRRerank", "PowerSet", "CBM"]
    names = [c.name for c in choosing.candidates_for(FitSettings(target="f1"), rows[1], 1.0)]
    assert "BRRerank" not in names


def test_many_rows_are_thinned_out():
    some = choosing._some_rows(100_000, 0)
    assert len(some) == int(choosing.MOST_ROWS / (1 - choosing.JUDGES))
    assert (np.diff(some) > 0).all()
