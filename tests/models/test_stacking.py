"""Stacked binary relevance: each stage against one that is fitted by hand."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import setwise as sw
from setwise.errors import DataError
from setwise.learners.boosting import BoostedBank
from setwise.models import stacking
from setwise.models.folds import dealt_out


def rows(n=150, seed=0):
    """Label 1 is label 0, mostly, and label 2 is its opposite; label 3 is on its own."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    first = (X[:, 0] + random.normal(size=n) > 0).astype(int)
    flip = random.random((n, 2)) < 0.1
    Y = np.column_stack([first, first ^ flip[:, 0], 1 - (first ^ flip[:, 1]), X[:, 1] > 0.3])
    return X, Y.astype(int)


def logistic(X, t):
    return LogisticRegression(tol=1e-8, max_iter=5000).fit(X, t)


def by_hand_dbr(X, Y, X_test, C_labels, use_features):
    first = [logistic(X, t) for t in Y.T]
    said = np.column_stack([model.predict(X_test) for model in first])
    scale = np.sqrt(C_labels)
    p = np.empty(said.shape)
    for label in range(Y.shape[1]):
        others = np.arange(Y.shape[1]) != label
        parts = [scale * Y[:, others]], [scale * said[:, others]]
        train, test = (
            np.hstack([features, *labels] if use_features else labels)
            for features, labels in zip((X, X_test), parts)
        )
        p[:, label] = logistic(train, Y[:, label]).predict_proba(test)[:, 1]
    return p


@pytest.mark.parametrize("use_features", [True, False])
@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
def test_dbr_learns_from_labels_and_predicts_from_predictions(use_features, as_csr):
    (X, Y), (X_test, _) = rows(), rows(30, seed=1)
    expected = by_hand_dbr(X, Y, X_test, 4.0, use_features)
    if as_csr:
        X, X_test = sparse.csr_array(X), sparse.csr_array(X_test)
    model = sw.StackedBinaryRelevance(
        "DBR", C_labels=4.0, use_features=use_features, allow_empty=True
    ).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X_test), expected, atol=3e-3)
    assert not np.diag(model.label_weights_).any()
    assert model.label_weights_[0, 1] > 0 > model.label_weights_[0, 2]


@pytest.mark.parametrize("use_features", [True, False])
def test_2br_learns_from_probabilities_of_rows_that_were_kept_apart(use_features):
    (X, Y), (X_test, _) = rows(), rows(30, seed=1)
    part = dealt_out(sparse.csr_array(Y), None, None, 4, 7)
    said = np.empty(Y.shape)
    for number in range(4):
        inside = part == number
        for label, t in enumerate(Y.T):
            own = logistic(X[~inside], t[~inside])
            said[inside, label] = own.predict_proba(X[inside])[:, 1]
    final = np.column_stack([logistic(X, t).predict_proba(X_test)[:, 1] for t in Y.T])
    scale = np.sqrt(2.0)
    train = np.hstack([X, scale * said]) if use_features else scale * said
    test = np.hstack([X_test, scale * final]) if use_features else scale * final
    expected = np.column_stack([logistic(train, t).predict_proba(test)[:, 1] for t in Y.T])
    model = sw.StackedBinaryRelevance(
        "2BR", C_labels=2.0, n_folds=4, random_state=7, use_features=use_features, allow_empty=True
    ).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X_test), expected, atol=3e-3)


def test_groups_are_never_on_both_sides(monkeypatch):
    X, Y = rows()
    groups = np.arange(len(X)) // 5
    seen = []
    original = stacking.dealt_out

    def watched(*args):
        seen.append(original(*args))
        return seen[-1]

    monkeypatch.setattr(stacking, "dealt_out", watched)
    sw.StackedBinaryRelevance().fit(X, Y, groups=groups)
    (part,) = seen
    assert len(np.unique(part)) == 5
    for group in np.unique(groups):
        assert len(np.unique(part[groups == group])) == 1


@pytest.mark.parametrize("kind", ["2BR", "DBR"])
@pytest.mark.parametrize(
    "learner",
    ["logistic", "elastic", "boosting", DecisionTreeClassifier(max_depth=3, random_state=0)],
    ids=["logistic", "elastic", "boosting", "tree"],
)
def test_any_learner_is_saved_and_loaded(kind, learner, tmp_path):
    X, Y = rows()
    max_iter = 3 if learner == "boosting" else 200
    model = sw.StackedBinaryRelevance(kind, learner=learner, max_iter=max_iter, n_folds=2)
    model.fit(X, Y)
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert model.score(X, Y) > 0.4


def test_other_labels_help_where_features_do_not_tell():
    (X, Y), (X_test, Y_test) = rows(600), rows(600, seed=1)
    plain = sw.BinaryRelevance().fit(X, Y).score(X_test, Y_test)
    stacked = sw.StackedBinaryRelevance("DBR").fit(X, Y).score(X_test, Y_test)
    assert stacked > plain


def test_the_second_stage_of_any_learner_does_not_see_its_own_label():
    X, Y = rows()
    tree = DecisionTreeClassifier(random_state=0)  # would learn its own label by heart
    model = sw.StackedBinaryRelevance("DBR", learner=tree, use_features=False).fit(X, Y)
    for label, bank in enumerate(model.second_):
        assert bank.estimators_[0].feature_importances_[label] == 0


@pytest.mark.parametrize("kind", ["2BR", "DBR"])
def test_the_second_stage_may_have_a_learner_of_its_own(kind, tmp_path):
    X, Y = rows()
    boosted = BoostedBank(n_trees=5)
    model = sw.StackedBinaryRelevance(kind, C=0.1, second_learner=boosted, allow_empty=True).fit(
        X, Y
    )
    plain = sw.BinaryRelevance(C=0.1).fit(X, Y)
    np.testing.assert_allclose(model.first_.weights_, plain.bank_.weights_, rtol=1e-9)
    second = model.second_ if kind == "2BR" else model.second_[0]
    assert isinstance(second, BoostedBank)
    assert second.n_rounds_ == 5
    if kind == "2BR":  # which sees probabilities as they are: no C weighs them
        said = model._out_of_fold(model.first_, X, sparse.csr_array(Y), None, None, 0.1)
        by_hand = BoostedBank(n_trees=5).fit(np.hstack([X, said]), Y)
        seen = np.hstack([X, expit(model.first_.logits(X))])
        expected = expit(by_hand.logits(seen))
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)
    model.save(tmp_path / "model.setwise")
    loaded = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_C_can_be_chosen():
    X, Y = rows()
    model = sw.StackedBinaryRelevance("2BR", C="auto").fit(X, Y)
    assert model.chosen_["C"] == sw.BinaryRelevance(C="auto").fit(X, Y).chosen_["C"]


def test_odd_settings_are_refused_in_a_sentence():
    X, Y = rows(20)
    for odd in ({"kind": "3BR"}, {"n_folds": 1}, {"C_labels": 0.0}, {"C": "some"}, {"C": None}):
        with pytest.raises(DataError, match=next(iter(odd))):
            sw.StackedBinaryRelevance(**odd).fit(X, Y)


def test_probabilities_are_those_of_a_bank():
    class Bank:
        def logits(self, X):
            return X - 1.0

    np.testing.assert_allclose(stacking.probabilities(Bank(), np.ones((2, 3))), expit(0), rtol=1e-9)
