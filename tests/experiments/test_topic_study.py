"""Tables of the studies of topic models, from made measurements; scales of training rows."""

import numpy as np
from scipy import sparse

from setwise.experiments import topic_study
from setwise.experiments.topic_study import MEASURES, PUBLISHED, chosen, held, tabulate


def measured(change):
    """Runs on two splits whose figures are the published ones times ``change``."""
    return {
        name: [
            {
                "model": model,
                **{p: [change * v for v in PUBLISHED[p][name, model]] for p in PUBLISHED},
            }
            for model in topic_study.MODELS
            for _ in range(2)
        ]
        for name in ("yahoo_arts", "yahoo_health")
    }


def test_published_figures_hold_and_order_the_models_as_the_paper_does():
    by_document, by_label, ordering, best = tabulate(measured(1.0))
    for table in (by_document, by_label):
        assert len(table.rows) == 2 * 5 * len(MEASURES)
        assert {row[-1] for row in table.rows} == {"yes"}
    assert [row[:4] for row in ordering.rows] == [
        [name, rival, 13, 13]
        for name in ("yahoo_arts", "yahoo_health")
        for rival in ("PriorLDA", "FlatLDA")
    ]
    assert [row[1] for row in best.rows] == [row[2] for row in best.rows]


def test_three_per_cent_less_does_not_hold():
    rows = tabulate(measured(0.97))[0].rows
    assert {row[2] for row in rows if row[-1] == "yes"} == set(topic_study.LESS)


def test_one_error_by_label_moves_in_steps():
    assert held("one_error", 19.9, 17.1, "label", 14 * 5)
    assert not held("one_error", 20.1, 17.1, "label", 14 * 5)
    assert not held("one_error", 19.9, 17.1, "document", 14 * 5)


def test_what_has_no_choices_has_the_papers_settings():
    assert chosen("PriorLDA", None, None, 0) == {}
    assert topic_study.model_of("DependencyLDA", 0).prior_weight == 1.0
    assert topic_study.model_of("DependencyLDA", 0, prior_weight=0.5).prior_weight == 0.5


def test_scales_are_chosen_on_the_training_rows_given(monkeypatch):
    seen = []

    class Model:
        def __init__(self, normalize):
            self.good = normalize == "l1"

        def fit(self, X, Y):
            seen.append(set(X.ravel().tolist()))
            return self

        def rank_scores(self, X):
            seen.append(set(X.ravel().tolist()))
            truth = np.tile([1.0, 0.0], (len(X), 1))
            return truth if self.good else -truth

    monkeypatch.setattr(topic_study, "model_of", lambda name, seed, normalize: Model(normalize))
    X, Y = np.arange(40).reshape(40, 1), sparse.csr_array(np.tile([1, 0], (40, 1)).astype(np.int8))
    assert chosen("SVM", X, Y, 0) == {"normalize": "l1"}
    learnt, judged, *_ = seen
    assert (len(learnt), len(judged)) == (32, 8)
    assert not learnt & judged
