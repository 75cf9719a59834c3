"""Nothing that a training candidate is judged by has seen its row.

A calibrator that learns from scores of rows which the model was fitted to trusts them too much; so
does one whose prior counts the row itself, or whose folds separate near-copies of a row.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier

import setwise as sw
from setwise.calibration import Reranker, SetCalibrator, cross_fit
from setwise.calibration.confidence import rightness
from setwise.calibration.cross_fit import TrainingRows
from setwise.calibration.first_stage import FirstStage
from setwise.models import BinaryRelevance, PowerSet

PART = np.arange(240) % 3
FOLD = 1


@pytest.fixture
def fixed_folds(monkeypatch):
    monkeypatch.setattr(cross_fit, "fold_numbers", lambda rows, n_folds, random_state: PART)


@pytest.fixture
def scrambled(data):
    """The same rows, but those of one fold have each other's labels, and some have none."""
    Y = data[1].copy()
    inside = np.flatnonzero(PART == FOLD)
    Y[inside] = 1 - Y[np.roll(inside, 7)]
    return Y


def crossed(X, Y, model, label_calibration=None):
    rows = TrainingRows(X, sparse.csr_array(Y.astype(np.int8)), None, None)
    return cross_fit.cross_fit(
        model,
        rows,
        n_folds=3,
        label_calibration=label_calibration,
        allow_empty=True,
        random_state=0,
    )


def features_by_fold(found, template):
    """All that is known of the candidates of the changed fold, and of the others."""
    features = found.features(template)
    inside = PART[features.candidates.row] == FOLD
    columns = {
        **features.numbers,
        "row": features.candidates.row,
        "sets": features.candidates.sets.toarray(),
    }
    return [{name: values[some] for name, values in columns.items()} for some in (inside, ~inside)]


@pytest.mark.parametrize("model", [BinaryRelevance(), PowerSet()], ids=["br", "powerset"])
@pytest.mark.parametrize("template", [FirstStage(4, 3), FirstStage(4, own_only=True)])
def test_no_feature_of_a_fold_knows_its_labels(data, scrambled, fixed_folds, model, template):
    X, Y = data
    own, others = features_by_fold(crossed(X, Y, model), template)
    own_now, others_now = features_by_fold(crossed(X, scrambled, model), template)
    for name, values in own.items():
        np.testing.assert_array_equal(own_now[name], values, err_msg=name)
    for name in ("score", "prior"):  # so that the comparison above means something
        assert others_now[name].shape != others[name].shape or (
            np.abs(others_now[name] - others[name]).max() > 0.01
        )


@pytest.mark.parametrize("kind", ["isotonic", "platt"])
def test_the_label_curves_of_a_fold_are_not_fitted_to_its_labels(data, scrambled, kind):
    X, Y = data
    model = BinaryRelevance().fit(*data)
    claimed = np.linspace(0.02, 0.98, 20)[:, None].repeat(4, axis=1)
    answers = [
        cross_fit.FoldAnswer(model, rows, model.predict_dist(X[rows]))
        for rows in (np.flatnonzero(fold == PART) for fold in range(3))
    ]

    def curves(Y):
        rows = TrainingRows(X, sparse.csr_array(Y.astype(np.int8)), None, None)
        fitted, _ = cross_fit._label_calibrators(answers, None, PART, rows, kind)
        return [calibrator.predict(claimed) for calibrator in fitted]

    before, after = curves(Y), curves(scrambled)
    np.testing.assert_array_equal(after[FOLD], before[FOLD])
    for number in (0, 2, 3):
        assert np.abs(after[number] - before[number]).max() > 0.05


def test_counts_of_sets_do_not_count_the_row_itself(data):
    """A set that one row alone has is unseen where that row is judged.

    Counts that leave out only the row itself would tell its set by being one lower.
    """
    X = data[0]
    Y = np.array([[int(bit) for bit in f"{number % 120:07b}"] for number in range(240)])
    found = crossed(X, Y, BinaryRelevance())
    features = found.features(FirstStage(5, 200))
    right = rightness(features.candidates, sparse.csr_array(Y), "set_accuracy") == 1
    row = features.candidates.row[right]
    twin = found.part[row] == found.part[(row + 120) % 240]
    expected = np.where(twin, 0, 1) / (240 - np.bincount(found.part)[found.part[row]])
    assert len(row) > 100
    np.testing.assert_allclose(features.numbers["prior"][right], expected, rtol=1e-9)


def overfitting_rows(make_rows):
    """More features than the rows can bear: a model knows its own rows by heart."""
    X, Y = make_rows(1200, seed=5, noise=0.5)
    luck = np.random.default_rng(6).normal(size=(1200, 60))
    return np.hstack([X, luck]), Y


@pytest.mark.parametrize(
    ("wrapper", "kind"),
    [(SetCalibrator, "isotonic"), (SetCalibrator, "boosting"), (Reranker, "isotonic_by_size")],
)
def test_calibrating_on_training_rows_is_over_confident_and_this_is_not(make_rows, wrapper, kind):
    X, Y = overfitting_rows(make_rows)
    X, Y, new_X, new_Y = X[:200], Y[:200], X[200:], Y[200:]
    model = BinaryRelevance(C=1e4, max_iter=5000)
    options = {"kind": kind, "label_calibration": None, "n_folds": 4}

    def gap(fitted):
        sets, confidence = fitted.predict_with_confidence(new_X)
        return confidence.mean() - (sets == new_Y).all(axis=1).mean()

    known = FrozenEstimator(model.fit(X, Y))
    assert gap(wrapper(known, **options).fit(X, Y)) > 0.25
    ours = wrapper(model, **options).fit(X, Y)
    assert abs(gap(ours)) < 0.12
    # The rows themselves, out of fold, tell the same as new ones.
    said, was = ours.out_of_fold_confidence_, ours.out_of_fold_correct_
    assert abs(said.mean() - was.mean()) < 0.06


def test_label_curves_of_folds_do_not_make_confidence_too_high(make_rows):
    X, Y = overfitting_rows(make_rows)
    fitted = SetCalibrator(BinaryRelevance(C=1e4, max_iter=5000), kind="isotonic", n_folds=4).fit(
        X[:200], Y[:200]
    )
    sets, confidence = fitted.predict_with_confidence(X[200:])
    assert abs(confidence.mean() - (sets == Y[200:]).all(axis=1).mean()) < 0.12


def test_groups_keep_near_copies_of_a_row_in_one_fold(make_rows):
    """Each row comes four times, almost the same: without groups, folds share it."""
    X, Y = make_rows(60, seed=7)
    X, Y, groups = np.repeat(X, 4, axis=0), np.repeat(Y, 4, axis=0), np.repeat(np.arange(60), 4)
    X = X + 1e-3 * np.random.default_rng(8).normal(size=X.shape)
    new_X, new_Y = make_rows(500, seed=9)
    fitted = SetCalibrator(
        BinaryRelevance(KNeighborsClassifier(1)), kind="constant", label_calibration=None
    )

    def gap(groups):
        sets, confidence = fitted.fit(X, Y, groups=groups).predict_with_confidence(new_X)
        return confidence.mean() - (sets == new_Y).all(axis=1).mean()

    assert gap(None) > 0.5
    assert gap(groups) < 0.15


@pytest.mark.parametrize("estimator", [sw.BRRerank, sw.Reranker, sw.SetCalibrator])
def test_groups_reach_every_fold(data, estimator, monkeypatch):
    X, Y = data
    groups = np.arange(240) // 4
    parts = []
    dealt = cross_fit.fold_numbers

    def spy(rows, n_folds, random_state):
        np.testing.assert_array_equal(rows.groups, groups)
        parts.append(dealt(rows, n_folds, random_state))
        return parts[-1]

    monkeypatch.setattr(cross_fit, "fold_numbers", spy)
    estimator(kind="constant", n_folds=3).fit(X, Y, groups=groups)
    (part,) = parts
    assert (part.reshape(60, 4) == part[::4, None]).all()


def test_the_strength_of_the_penalty_is_chosen_with_groups_apart(data, monkeypatch):
    X, Y = data
    groups = np.arange(240) // 4
    seen = []

    def spy(Y, weight, groups, share, random_state):
        seen.append(groups)
        return np.arange(160), np.arange(160, 240)

    monkeypatch.setattr("setwise.models.binary_relevance.held_out_parts", spy)
    sw.BRRerank(kind="constant", n_folds=2).fit(X, Y, groups=groups)
    assert len(seen) == 1  # once, on all rows: folds must not differ in it
    np.testing.assert_array_equal(seen[0], groups)
