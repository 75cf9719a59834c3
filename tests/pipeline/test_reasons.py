import numpy as np
import pytest
from scipy.special import logit

from setwise.errors import DataError
from setwise.pipeline import Table
from setwise.pipeline.reasons import explain_row


def row(text, **more):
    cells = {"description": text, "age": "", "plan": "basic"} | more
    return Table({name: [cell] for name, cell in cells.items()}, [1])


def test_words_of_a_label_speak_for_it(model):
    facts = explain_row(model, row("the router is offline, display black flicker"))
    assert facts["set"] == [one["label"] for one in facts["labels"] if one["predicted"]][:9]
    by_label = {one["label"]: one for one in facts["labels"]}
    for label, words in (("screen", {"display", "black", "flicker"}), ("network", {"router"})):
        found = {one["feature"] for one in by_label[label]["for"]}
        assert words & found, label
        assert all(one["effect"] > 0 for one in by_label[label]["for"])


def test_an_effect_is_what_the_log_odds_lose_without_the_feature(model):
    table = row("router cable")
    facts = explain_row(model, table)
    X = model.features(table)
    names = model.encoder_.feature_names()
    inner = model.model_.stages_[0].model_
    (network,) = (one for one in facts["labels"] if one["label"] == "network")
    place = model.label_names.index("network")
    for one in network["for"]:
        without = X.tolil()
        without[0, names.index(one["feature"])] = 0
        p = [inner.predict_proba(rows)[0, place] for rows in (X, without.tocsr())]
        np.testing.assert_allclose(
            one["effect"], logit(np.clip(p[0], 1e-9, 1 - 1e-9)) - logit(np.clip(p[1], 1e-9, 1)),
            rtol=1e-6,
        )  # fmt: skip


def test_one_row_only(model, test_table):
    with pytest.raises(DataError, match="explain takes one row, got 300"):
        explain_row(model, test_table)
