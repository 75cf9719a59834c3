import json

import numpy as np
from scipy import sparse

from setwise.report.facts import correlation_map


def test_facts_are_ready_for_json_and_say_what_was_wanted(facts):
    json.dumps(facts, allow_nan=False)
    assert [rule["target"] for rule in facts["accept"]] == [0.8, 0.85, 0.9, 0.95]
    assert facts["unknown_labels"] == {"never<b>seen": 1}
    assert len(facts["components"]) <= 4
    np.testing.assert_allclose(sum(one["weight"] for one in facts["components"]), 1, rtol=1e-6)


def test_mistakes_are_the_surest_wrong_rows(facts, judged):
    said = [row["confidence"] for row in facts["mistakes"]]
    assert said == sorted(said, reverse=True)
    wrong = judged.confidence[judged.correct == 0]
    np.testing.assert_allclose(said, np.sort(wrong)[::-1][: len(said)], rtol=1e-12)
    for row in facts["mistakes"]:
        assert sorted(row["predicted"]) != sorted(row["truth"])
        assert "tags" not in row["cells"]
        assert row["place"].startswith("line ")


def test_unsure_rows_are_the_least_sure_with_alternatives(facts, judged):
    said = [row["confidence"] for row in facts["unsure"]]
    np.testing.assert_allclose(said, np.sort(judged.confidence)[: len(said)], rtol=1e-12)
    assert all(row["alternatives"] for row in facts["unsure"])


def test_correlations_are_pearsons_and_likes_stand_together():
    random = np.random.default_rng(0)
    a, b = (random.random((2, 200)) < 0.5).astype(np.int8)
    Y = np.column_stack([a, b, a ^ (random.random(200) < 0.1), np.ones(200, dtype=np.int8)])
    found = correlation_map(("a", "b", "like a", "always"), sparse.csr_array(Y))
    assert sorted(found["labels"]) == ["a", "b", "like a"]
    places = [found["labels"].index(name) for name in ("a", "like a")]
    assert abs(places[0] - places[1]) == 1
    value = found["values"][places[0]][places[1]]
    np.testing.assert_allclose(value, np.corrcoef(Y[:, 0], Y[:, 2])[0, 1], atol=1e-3)


def test_one_label_has_no_map():
    one = sparse.csr_array(np.array([[1], [0]], dtype=np.int8))
    assert correlation_map(("a",), one) == {"labels": [], "values": []}
