"""Studies of confidence, on small made data."""

import json
from dataclasses import replace

import numpy as np
import pytest

from setwise.calibration.cross_fit import TrainingRows
from setwise.cli import main
from setwise.data.labels import binary_csr
from setwise.experiments import accepting, calibration_table, noise_study, reranking
from setwise.experiments.calibration_data import SplitData, chosen_C, split_data
from setwise.experiments.studies import STUDIES
from setwise.experiments.study import ResultTable, Study, figure


@pytest.fixture
def made(monkeypatch):
    """One data set in which labels go together, in place of all that studies know."""
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 6))
    first = X[:, 0] + 0.5 * random.normal(size=900) > 0
    Y = np.column_stack(
        [first, ~first, X[:, 1] + random.normal(size=900) > 0, first & (X[:, 2] > 0)]
    )
    Y = binary_csr(Y.astype(np.int8))
    groups = np.arange(900) // 2
    data = SplitData(
        "made", TrainingRows(X[:500], Y[:500], None, groups[:500]), X[500:], Y[500:], groups[500:]
    )
    asked = []

    def split(name, seed, *, anew=False):
        asked.append(anew)
        return data

    monkeypatch.setattr(accepting, "asked", asked, raising=False)
    for module in (calibration_table, reranking, noise_study, accepting):
        monkeypatch.setattr(module, "split_data", split)
    yield data
    chosen_C.cache_clear()


def quiet(text):
    pass


def tables_of(study):
    return replace(study, seeds=(0, 1)).run(["made"], quiet)


def column(table, name):
    place = table.columns.index(name)
    return [row[place] for row in table.rows]


def mean(text):
    return float(text.split(" ± ")[0])


def test_table_4_1_ranks_calibrators(made):
    [table] = tables_of(calibration_table.CALIBRATION)
    assert column(table, "calibrator") == list(calibration_table.CALIBRATORS)
    error = dict(zip(column(table, "calibrator"), map(mean, column(table, "squared error"))))
    sharp = dict(zip(column(table, "calibrator"), map(mean, column(table, "sharpness"))))
    assert sharp["constant"] == 0
    assert error["boosting"] < error["constant"]
    confidence = map(mean, column(table, "mean confidence"))
    accuracy = map(mean, column(table, "set accuracy"))
    for name, said, right in zip(column(table, "calibrator"), confidence, accuracy):
        assert name == "none" or abs(said - right) < 0.08, name


def test_table_4_3_has_the_model_and_its_rerankings_with_paired_errors(made):
    [table] = tables_of(reranking.RERANKING)
    assert column(table, "model") == ["BR", *reranking.RERANKERS]
    accuracy, gain = column(table, "set accuracy"), column(table, "gain")
    base = mean(accuracy[0])
    for text, more in list(zip(accuracy, gain))[1:3]:
        assert mean(text) - base == pytest.approx(mean(more), abs=2e-4)
    assert mean(gain[1]) > 0  # two labels exclude each other, which independent ones do not know
    assert all(0 < mean(text) < 0.05 for text in column(table, "paired error")[1:])


def test_more_candidates_hold_the_right_one_more_often(made, monkeypatch):
    monkeypatch.setattr(reranking, "COUNTS", (1, 4))
    [table] = tables_of(reranking.RERANKING_COUNTS)
    one, four = map(mean, column(table, "oracle"))
    assert one == pytest.approx(mean(column(table, "set accuracy")[0]))
    assert four > one


def test_robust_calibrators_see_through_noise(made, monkeypatch):
    monkeypatch.setattr(noise_study, "NOISES", {"0.5": (0.5,)})
    [table] = tables_of(noise_study.NOISE)
    off = dict(zip(column(table, "calibrator"), map(mean, column(table, "confidence - accuracy"))))
    expected = mean(column(table, "expected if plain")[1])
    assert off["plain"] == pytest.approx(expected, abs=0.06)
    for name in noise_study.CALIBRATORS:
        assert name == "plain" or abs(off[name]) < abs(expected) / 2, name
    [curves] = table.curves.values()
    assert list(curves) == [*noise_study.CALIBRATORS, "as right as sure"]
    gap = {name: np.mean([y - x for x, y in points]) for name, points in curves.items()}
    assert gap["plain"] == pytest.approx(-off["plain"], abs=0.02)  # tenths of the rows weigh alike


def test_what_is_accepted_is_right_as_often_as_promised(made, monkeypatch):
    monkeypatch.setattr(accepting, "N_DRAWS", 100)
    monkeypatch.setattr(accepting, "TARGETS", (0.45,))
    table, quality = replace(accepting.ACCEPTING, seeds=(0,)).run(["made"], quiet)
    assert column(table, "model") == [name for name in accepting.MODELS for _ in range(3)]
    assert column(table, "per") == ["group", "group", "row"] * 3
    assert column(table, "counted") == ["one", "all", "all"] * 3
    for share, right in zip(column(table, "accepted"), column(table, "of them right")):
        assert mean(share) > 0.1
        assert mean(right) > 0.45
    assert all(
        found <= most for found, most in zip(column(table, "breaks"), column(table, "at most"))
    )
    assert column(quality, "model") == list(accepting.MODELS)
    assert all(0.4 < mean(text) < 0.9 for text in column(quality, "set accuracy"))
    assert all(0.3 < mean(text) < 1 for text in column(quality, "relative squared error"))
    anew, _ = replace(accepting.ACCEPTING_ANEW, seeds=(0,)).run(["made"], quiet)
    assert anew.rows == [*table.rows[:3], *table.rows[-3:]]
    assert accepting.asked == [False] * 3 + [True] * 2


def test_a_split_made_anew_keeps_groups_together_and_learns_words_on_training_rows():
    data, other = (split_data("debtags", seed, anew=True) for seed in (1, 2))
    published = split_data("debtags", 0)
    assert data.train.n + len(data.groups_test) == published.train.n + len(published.groups_test)
    assert not set(data.train.groups) & set(data.groups_test)
    assert set(data.groups_test) != set(other.groups_test)
    norms = np.sqrt(np.asarray((data.X_test**2).sum(axis=1)))
    np.testing.assert_allclose(norms[norms > 0], 1, rtol=1e-6)


def test_figures_have_a_deviation_where_there_are_several_seeds():
    assert str(figure([0.25])) == "0.2500"
    assert str(figure([0.2, 0.3])) == "0.2500 ± 0.0707"


def test_the_command_runs_studies_by_name_on_some_data_sets(monkeypatch, capsys, tmp_path):
    def tabulate(measured):
        rows = [[name, len(runs)] for name, runs in measured.items()]
        return [ResultTable("What is it", ("data", "value"), rows, "So.")]

    for name in ("one", "two"):
        study = Study(name, "a study", ("a", "b"), lambda data, seed: seed, tabulate, (0, 1))
        monkeypatch.setitem(STUDIES, name, study)
    path = tmp_path / "results.json"
    assert main(["bench", "run", "one", "two", "--data", "b", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("What is it") == 2
    assert "So." in printed
    results = json.loads(path.read_text())
    assert results["two"]["tables"][0]["rows"] == [["b", 2]]
    assert main(["bench", "run", "one", "--data", "c"]) == 2
    assert "one is not run on 'c', but on a, b" in " ".join(capsys.readouterr().err.split())
