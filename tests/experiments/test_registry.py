"""Published values agree with each other, and each experiment has its place."""

import pytest

from setwise.experiments import published
from setwise.experiments.artificial_study import PUBLISHED as ARTIFICIAL
from setwise.experiments.calibration_table import PUBLISHED as CALIBRATION
from setwise.experiments.cbm_entries import CBM_ENTRIES
from setwise.experiments.entries import ENTRIES
from setwise.experiments.registry import (
    DIFFERENCES,
    PLACES,
    differences_of,
    places_of,
)
from setwise.experiments.reranking import PUBLISHED as RERANKING
from setwise.experiments.runner import experiments, find
from setwise.experiments.topic_study import MEASURES, PUBLISHED
from setwise.experiments.unit import units_of


def test_every_experiment_has_a_place_and_every_place_its_experiments():
    placed = {name for place in PLACES for name in place.experiments}
    assert placed == set(experiments())
    assert all(place.experiments or place.missing for place in PLACES)
    assert places_of("nothing") == ()


@pytest.mark.parametrize("name", sorted(experiments()))
@pytest.mark.parametrize("quick", [False, True])
def test_every_experiment_has_units_with_files_of_their_own(name, quick):
    units = units_of(find(name, quick))
    assert units
    assert len({unit.file for unit in units}) == len(units)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_published_values_are_of_models_and_data_sets_that_are_run(name):
    entry = ENTRIES[name]
    models = {spec.name for spec in entry.models}
    for data, model, *_ in entry.published:
        assert data in entry.datasets
        assert model in models


def test_the_same_value_in_two_tables_is_the_same():
    assert RERANKING["tmc2007", "BR-rerank"] == pytest.approx((0.333, 0.668))
    assert published.CALIBRATORS_2019["boosting"] == published.RERANK_2019["BR-rerank"]
    boosted = {data: CALIBRATION[data, "boosting, features of the thesis"] for data in
               published.SETS_RERANK}  # fmt: skip
    assert boosted["bibtex"] == (0.0682, 0.0719)  # Table 4.1 has .068, .072
    cbm = next(entry for entry in CBM_ENTRIES if entry.name == "cbm").published
    for place, data in enumerate(published.SETS_2016):
        accuracy, jaccard, hamming = (row[place] for row in published.METHODS_2016["CBM"])
        assert cbm[data, "CBM", "set_accuracy"][0] == pytest.approx(accuracy / 100)
        for decision, measure in (("f1", "instance_f1"), ("hamming", "hamming_loss")):
            there = published.DECISIONS_2019[measure][decision][place]
            assert cbm[data, "CBM", measure][0] == there
        assert jaccard > accuracy > hamming


def test_whole_sets_are_right_less_often_than_they_overlap():
    for accuracy, f1 in published.RERANK_2019.values():
        assert all(a < b for a, b in zip(accuracy, f1))
    for rows in published.METHODS_2016.values():
        assert all(a < b for a, b in zip(rows[0], rows[1]))
    assert all(value <= bound for row in ARTIFICIAL.values()
               for value, bound in zip(row, ARTIFICIAL["upper bound"]))  # fmt: skip


def test_tables_of_chains_and_topics_are_complete():
    cells = published.HONG_2015
    # PCC and EPCC are too slow on text there, and ensembles have no loss
    assert len(cells) == (4 * 8 + 2 * 6) + (4 * 6 + 2 * 5)
    assert cells["yeast", "MCC", "cll_loss"] == (915.7, "Hong 2015, Table 4", 38.6)
    assert all(0 < value[2] < value[0] for value in cells.values())
    for rows in PUBLISHED.values():
        assert len(rows) == 10
        assert all(len(row) == len(MEASURES) == 13 for row in rows.values())
        for row in rows.values():
            assert 100 * (1 - row[1]) == pytest.approx(row[3], abs=0.06)  # ranking loss is 1 - AUC


def test_differences_are_told_of_data_sets_that_are_run():
    run = {data for experiment in experiments().values() for data in experiment.datasets}
    assert set(DIFFERENCES) <= run
    assert differences_of("f1-methods", ["bibtex", "scene"]) == []
    assert differences_of("peers", ["bibtex", "tmc2007"]) == []
    told = differences_of("rerank-methods", ["bibtex", "rcv1sub1", "tmc2007"])
    assert [line.split()[0] for line in told] == ["rcv1sub1", "tmc2007"]
