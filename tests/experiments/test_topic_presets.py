"""What the fast preset loses, from made measurements, and a unit on real rows."""

import pytest

from setwise.experiments import topic_presets
from setwise.experiments.study import quick_study
from setwise.experiments.topic_study import RANKS


def run(preset, values, seconds):
    return {"preset": preset, "measures": values, "seconds": seconds, "documents": 500}


def test_losses_are_told_relative_to_the_papers_preset():
    fast = run("fast", [0.76, 0.95, 0.8, 0.11, 0.3, 0.5, 2.0], [1.0, 2.0])
    paper = run("paper", [0.80, 0.95, 0.8, 0.10, 0.3, 0.5, 2.5], [30.0, 100.0])
    [table] = topic_presets.tabulate({"yahoo_arts": [fast, paper]})
    assert [row[1] for row in table.rows] == ["fast", "paper", "lost"]
    assert table.rows[0][-2:] == ["1.0", "4.0"]
    lost = dict(zip(table.columns, table.rows[2]))
    assert (lost["auc_pr"], lost["ranking_loss"], lost["margin"]) == ("+5.0%", "+10.0%", "-20.0%")
    assert lost["one_error"] in ("+0.0%", "-0.0%")


def test_one_preset_alone_is_told_too():
    [table] = topic_presets.tabulate({"yahoo_arts": [run("fast", [0.5] * 7, [1.0, 1.0])]})
    assert len(table.rows) == 1


@pytest.mark.data
def test_a_unit_measures_what_the_table_tells():
    study = quick_study(topic_presets.TOPIC_PRESETS)
    unit = study.measure("yahoo_health", 0, "fast", n_documents=20)
    assert (unit["documents"], len(unit["measures"])) == (20, len(RANKS))
    assert unit["measures"][RANKS.index("auc_roc")] > 0.7
    assert all(seconds > 0 for seconds in unit["seconds"])
