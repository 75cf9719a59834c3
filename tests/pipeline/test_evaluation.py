import json

import numpy as np
import pytest

from setwise import AutoAccept, metrics
from setwise.pipeline import Table
from setwise.pipeline.bootstrap import bootstrap_weights, measures_with_intervals
from setwise.pipeline.evaluation import accept_facts, evaluation, judge


def test_intervals_are_as_wide_as_chance_says():
    """For a mean of 0 and 1 the normal interval is known."""
    random = np.random.default_rng(0)
    n, p = 2000, 0.7
    truth = np.ones((n, 1), dtype=np.int8)
    predicted = (random.random((n, 1)) < p).astype(np.int8)
    found = measures_with_intervals(truth, predicted, draws=400)["set_accuracy"]
    width = 2 * 1.96 * np.sqrt(p * (1 - p) / n)
    np.testing.assert_allclose(found["high"] - found["low"], width, rtol=0.15)
    assert found["low"] < found["value"] < found["high"]


def test_draws_count_rows_and_keep_groups_together():
    for weight in bootstrap_weights(30, 5, groups=np.repeat(np.arange(10), 3)):
        assert weight.sum() == 30
        assert (weight.reshape(10, 3) == weight.reshape(10, 3)[:, :1]).all()


@pytest.fixture(scope="module")
def judged(model, test_table):
    return judge(model, test_table)


def test_facts_are_the_measures_of_the_library(model, test_table, judged):
    facts = evaluation(model, test_table, judged, draws=20)
    json.dumps(facts, allow_nan=False)
    for name, value in metrics.set_measures(judged.truth, judged.predicted).items():
        assert facts["measures"][name]["value"] == value
    (billing,) = (one for one in facts["labels"] if one["label"] == "billing")
    truth, said = judged.truth[:, 0].toarray(), judged.predicted[:, 0].toarray()
    assert billing["rows"] == truth.sum()
    assert billing["right"] == (truth * said).sum()
    np.testing.assert_allclose(billing["precision"], (truth * said).sum() / said.sum(), rtol=1e-12)
    assert facts["curve"]["coverage"][-1] == 1
    np.testing.assert_allclose(
        facts["curve"]["accuracy"][-1], facts["measures"]["set_accuracy"]["value"], rtol=1e-12
    )
    assert sum(bucket["count"] for bucket in facts["calibration"]["buckets"]) == 300


def test_one_row_of_each_group_judges_a_promise(model, test_table, judged, monkeypatch):
    monkeypatch.setitem(model.settings, "groups", "ticket")
    six = [str(row // 6) for row in range(300)]
    grouped = Table(test_table.columns | {"ticket": six}, test_table.places)
    told, plain = (evaluation(model, t, judged, draws=30) for t in (grouped, test_table))
    assert (told["groups"], plain["groups"]) == ("ticket", None)  # a file may lack the column
    assert {rule["counted"] for rule in told["accept"]} == {50}
    assert {rule["counted"] for rule in plain["accept"]} == {300}
    assert told["measures"]["set_accuracy"]["value"] == plain["measures"]["set_accuracy"]["value"]
    assert told["measures"]["set_accuracy"]["low"] != plain["measures"]["set_accuracy"]["low"]
    same = judged.correct.reshape(50, 6)
    counted_right = told["curve"]["accuracy"][-1] * 50
    assert same.min(axis=1).sum() <= round(counted_right) <= same.max(axis=1).sum()


def test_labels_never_seen_make_their_rows_wrong(model, test_table, judged):
    tags = [f"{cell}|new" if i < 50 else cell for i, cell in enumerate(test_table.columns["tags"])]
    odd = judge(model, Table(test_table.columns | {"tags": tags}, test_table.places))
    assert odd.unknown == {"new": 50}
    assert not odd.correct[:50].any()
    np.testing.assert_array_equal(odd.correct[50:], judged.correct[50:])
    facts = evaluation(model, test_table, odd, draws=5)
    assert facts["labels"][-1] == {
        "label": "new", "rows": 50, "predicted": 0, "right": 0, "precision": None, "recall": 0.0,
        "f1": 0.0, "known": False,
    }  # fmt: skip


def test_a_promise_is_broken_only_by_more_errors_than_chance_explains():
    rule = AutoAccept(0.8).fit(np.linspace(0, 1, 500), np.arange(500) > 100)
    sure = np.ones(100)
    for n_right, kept in ((100, True), (80, True), (75, True), (60, False)):
        facts = accept_facts(rule, (np.arange(100) < n_right).astype(float), sure)
        assert facts["accuracy"] == n_right / 100
        assert facts["kept"] is kept
