"""Learners other than logistic ones inside EM: all pairs learn, climb, and can be stored."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import setwise as sw
from setwise.errors import DataError
from setwise.learners.boosting import BoostedBank, BoostedSoftmax
from setwise.learners.workers import Workers
from setwise.models.cbm.adapted import ClassifierGate, ClassifierLabels
from setwise.models.cbm.boosted import BoostedGate, BoostedLabels
from setwise.models.cbm.elastic import ElasticGate, ElasticLabels
from setwise.models.cbm.fit import start, turned_rows
from setwise.models.cbm.rows import TrainingRows

TREE = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
PAIRS = [
    ("elastic", "auto"),
    ("boosting", "auto"),
    (TREE, "auto"),
    ("boosting", "logistic"),
    ("logistic", "boosting"),
    ("elastic", "boosting"),
    ("boosting", "elastic"),
    ("boosting", "tree"),
    ("logistic", LogisticRegression()),
    (LogisticRegression(), "logistic"),
]
NAMES = [f"{learner!s:.12} with {gate!s:.12}" for learner, gate in PAIRS]
FOREVER = {"tol": -1.0}


def rows(n=200, d=6, L=5, seed=0):
    """Labels that depend on features and, through a hidden choice, on each other."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    hidden = random.integers(0, 3, n)
    W = random.normal(size=(3, d, L)) * 1.5
    logits = np.einsum("nd,ndl->nl", X, W[hidden]) + random.normal(size=(3, L))[hidden] * 2
    return X, (random.random((n, L)) < 1 / (1 + np.exp(-logits))).astype(int)


def crossed(n, seed):
    """Two labels that a line cannot tell: whether two features have the same sign, and the rest."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    same = (X[:, 0] * X[:, 1] > 0).astype(int)
    return X, np.column_stack([same, 1 - same])


def history(model, name):
    return np.array([done[name] for done in model.history_])


def component_rows(seed=0, labels=(0, 2, 3)):
    """Training rows, and one component's rows, weights and labels of them."""
    X, Y = rows(seed=seed)
    training = TrainingRows(X, sparse.csr_array(Y), np.ones(len(X)))
    chosen = np.arange(0, 200, 2)
    weight = np.random.default_rng(seed).uniform(0.1, 1, len(chosen))
    return training, chosen, weight, np.array(labels)


def said(training, learner, chosen, weight):
    """The weighted log-likelihood of a component's rows."""
    Z = np.asarray(learner.logits(training.features, chosen), dtype=np.float64)
    T = training.Y.toarray()[np.ix_(chosen, learner.labels_)]
    return float(weight @ (T * Z - np.logaddexp(0, Z)).sum(axis=1))


@pytest.mark.parametrize("as_csr", [False, True], ids=["dense X", "sparse X"])
@pytest.mark.parametrize(("learner", "gate"), PAIRS, ids=NAMES)
def test_every_pair_of_learners_climbs_and_predicts_what_it_has_learnt(learner, gate, as_csr):
    X, Y = rows()
    X = sparse.csr_array(X * (np.abs(X) > 0.5)) if as_csr else X
    model = sw.CBM(4, learner, gate=gate, max_iter=6, dtype="float64", **FOREVER).fit(X, Y)
    log_likelihood = history(model, "log_likelihood")
    assert log_likelihood[-1] > log_likelihood[0] + 0.005
    assert np.diff(history(model, "bound")).min() > -1e-6 * abs(history(model, "bound")[0])
    # What EM kept of its rows is what the stored trees and weights say of them.
    found = model.predict_dist(X).log_prob(Y).mean()
    assert found == pytest.approx(log_likelihood[-1], rel=1e-6)
    assert set(np.unique(model.predict(X))) <= {0, 1}


@pytest.mark.parametrize(("learner", "gate"), PAIRS, ids=NAMES)
def test_a_saved_model_predicts_the_same(learner, gate, tmp_path):
    X, Y = rows()
    model = sw.CBM(3, learner, gate=gate, max_iter=3).fit(X, Y)
    model.save(tmp_path / "model")
    loaded = sw.load(tmp_path / "model")
    expected = model.predict_dist(X).log_prob(Y)
    np.testing.assert_allclose(loaded.predict_dist(X).log_prob(Y), expected, rtol=1e-12)
    assert repr(loaded.learner) == repr(learner)


def test_boosting_learns_what_no_line_can_tell():
    X, Y = crossed(600, 0)
    unseen, truth = crossed(300, 1)

    def accuracy(learner):
        # One component: the choice among several lines could tell them too.
        model = sw.CBM(1, learner, max_iter=20, inner_steps=8, **FOREVER).fit(X, Y)
        return (model.predict(unseen) == truth).all(axis=1).mean()

    assert accuracy("boosting") > 0.9
    assert accuracy("logistic") < 0.7


def test_a_boosted_gate_tells_components_apart_that_a_line_cannot():
    X, Y = crossed(600, 0)
    unseen, truth = crossed(300, 1)

    def log_likelihood(gate):
        model = sw.CBM(2, "logistic", gate=gate, max_iter=20, inner_steps=8, C=0.01, **FOREVER)
        return model.fit(X, Y).predict_dist(unseen).log_prob(truth).mean()

    assert log_likelihood("boosting") > -0.35
    assert log_likelihood("logistic") < -0.6


def test_a_ridge_alone_is_what_logistic_learns():
    X, Y = rows()
    parameters = {"max_iter": 80, "inner_steps": 20, "C": 3.0, "dtype": "float64", **FOREVER}
    linear = sw.CBM(2, **parameters).fit(X, Y)
    ridge = sw.CBM(2, "elastic", l1_ratio=0.0, **parameters).fit(X, Y)
    assert history(ridge, "bound")[-1] == pytest.approx(history(linear, "bound")[-1], rel=1e-4)
    np.testing.assert_allclose(ridge.predict_proba(X), linear.predict_proba(X), atol=0.01)


def test_the_elastic_net_has_exact_zeros_and_more_of_them_the_stronger_it_is():
    X, Y = rows(n=300, d=20)

    def zeros(C, l1_ratio):
        mixture = sw.CBM(3, "elastic", C=C, l1_ratio=l1_ratio, max_iter=10).fit(X, Y).members_[0]
        weights = [component.classifiers_.weights_ for component in mixture.components_]
        assert all(sparse.issparse(W) for W in (*weights, mixture.gate_.weights_))
        total = sum(np.prod(W.shape) for W in weights)
        return 1 - sum(W.nnz for W in weights) / total

    assert zeros(1.0, 0.0) == 0
    assert 0.1 < zeros(10.0, 1.0) < zeros(1.0, 1.0) < 1


def test_the_bound_of_a_dense_elastic_model_is_its_penalised_log_likelihood():
    X, Y = rows()
    model = sw.CBM(
        3, "elastic", C=2.0, l1_ratio=0.7, smoothing=0.3, max_iter=4, dtype="float64",
        min_responsibility=0.0, min_label_share=0.0,
    ).fit(X, Y)  # fmt: skip
    mixture, frequency = model.members_[0], (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    weights = [mixture.gate_.weights_]
    bound = model.predict_dist(X).log_prob(Y).sum()
    for component in mixture.components_:
        b = component.classifiers_.biases_
        bound += 0.3 * (frequency * b - np.logaddexp(0, b)).sum()
        weights.append(component.classifiers_.weights_)
    for W in weights:
        W = W.toarray()
        bound -= (0.7 * np.abs(W).sum() + 0.3 / 2 * (W**2).sum()) / 2.0
    assert history(model, "bound")[-1] == pytest.approx(bound, rel=1e-9)


def worse_trees(monkeypatch, cls):
    """Let each addition of trees push away from the targets."""
    add_trees = cls.add_trees

    def away(self, X, T, sample_weight=None, n_trees=1):
        T = np.asarray(T)
        return add_trees(self, X, T[:, ::-1] if self._coupled else 1 - T, sample_weight, n_trees)

    monkeypatch.setattr(cls, "add_trees", away)


def test_trees_that_lower_a_components_likelihood_are_taken_back(monkeypatch):
    training, chosen, weight, labels = component_rows()
    learner = BoostedLabels(trees=3)
    learner.improve(training, chosen, weight, labels, np.zeros(3))
    assert learner.bank_.n_rounds_ == 3
    before = said(training, learner, chosen, weight)
    worse_trees(monkeypatch, BoostedBank)
    learner.improve(training, chosen, weight, labels, np.zeros(3))
    assert learner.bank_.n_rounds_ == 3
    assert said(training, learner, chosen, weight) == before
    monkeypatch.undo()
    learner.improve(training, chosen, weight, labels, np.zeros(3))
    assert learner.bank_.n_rounds_ == 6
    assert said(training, learner, chosen, weight) > before


def test_trees_that_lower_the_gates_likelihood_are_taken_back(monkeypatch):
    training = component_rows()[0]
    T = np.random.default_rng(0).dirichlet(np.exp(training.X[0, :3]), size=200)
    T[training.X[:, 0] > 0] = [0.8, 0.1, 0.1]
    gate = BoostedGate(trees=3)
    with Workers(1) as workers:
        gate.improve(training, T, workers)
        before = gate.log_proba(training.X)
        worse_trees(monkeypatch, BoostedSoftmax)
        gate.improve(training, T, workers)
        np.testing.assert_array_equal(gate.log_proba(training.X), before)
        monkeypatch.undo()
        gate.improve(training, T, workers)
    assert (T * gate.log_proba(training.X)).sum() > (T * before).sum()


def test_a_label_keeps_its_trees_while_others_come_and_go():
    training, chosen, weight, _ = component_rows()
    learner, alone = BoostedLabels(trees=3), BoostedLabels(trees=3)
    for active in ([0, 2, 3], [2, 4], [1, 2, 4]):
        active = np.array(active)
        learner.improve(training, chosen, weight, active, np.full(len(active), -0.5))
        alone.improve(training, chosen, weight, np.array([2]), np.array([-0.5]))
    np.testing.assert_array_equal(learner.labels_, [1, 2, 4])
    every = np.arange(200)
    Z, known = learner.logits(training.X.copy(), every), learner.logits(training.X, every)
    np.testing.assert_allclose(Z, known, rtol=1e-9, atol=1e-12)
    expected = alone.logits(training.X, every)[:, 0]
    np.testing.assert_allclose(Z[:, 1], expected, rtol=1e-6, atol=1e-9)
    # The trees of label 1 are those of one round.
    young = BoostedLabels(trees=3)
    young.improve(training, chosen, weight, np.array([1]), np.array([-0.5]))
    np.testing.assert_allclose(Z[:, 0], young.logits(training.X, every)[:, 0], rtol=1e-6)


def test_known_scores_follow_rows_that_come_and_go():
    training, _, _, labels = component_rows()
    learner, random = BoostedLabels(trees=2), np.random.default_rng(0)
    for _ in range(5):
        some = np.sort(random.choice(200, 120, replace=False))
        learner.improve(training, some, np.ones(120), labels, np.zeros(3))
        asked = random.choice(200, 30, replace=False)
        fresh = learner.bank_.scores(training.X)
        np.testing.assert_allclose(learner.logits(training.X, asked), fresh[asked], rtol=1e-9)
    assert learner._known.rows.size < 200


class Contrary(LogisticRegression):
    """A classifier that can be told to say the opposite of what it has learnt."""

    contrary = False

    def predict_proba(self, X):
        p = super().predict_proba(X)
        return p[:, ::-1] if self.contrary else p

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.contrary = Contrary.contrary
        return self


def test_classifiers_that_are_worse_than_what_they_replace_are_refused(monkeypatch):
    training, chosen, weight, labels = component_rows()
    learner, gate = ClassifierLabels(Contrary()), ClassifierGate(Contrary())
    share = 0.1 + 0.8 * (training.X[:, 0] > 0)
    T = np.column_stack([share, 1 - share])
    with Workers(1) as workers:
        learner.improve(training, chosen, weight, labels, np.zeros(3))
        gate.improve(training, T, workers)
        before = learner.logits(training.X, chosen), gate.log_proba(training.X)
        monkeypatch.setattr(Contrary, "contrary", True)
        more = np.array([0, 1, 2, 3])
        learner.improve(training, chosen, weight, more, np.array([0, -9.0, 0, 0]))
        gate.improve(training, T, workers)
    after = learner.logits(training.X, chosen)
    np.testing.assert_array_equal(after[:, [0, 2, 3]], before[0])
    assert not np.allclose(after[:, 1], -9)  # even the opposite is better than that constant
    np.testing.assert_array_equal(gate.log_proba(training.X), before[1])


def test_a_new_label_whose_classifier_is_worse_than_its_constant_stays_constant(monkeypatch):
    training, chosen, weight, labels = component_rows()
    monkeypatch.setattr(Contrary, "contrary", True)
    learner = ClassifierLabels(Contrary())
    T = training.Y.toarray()[np.ix_(chosen, labels)]
    share = weight @ T / weight.sum()
    log_odds = np.log(share) - np.log1p(-share)
    learner.improve(training, chosen, weight, labels, log_odds)
    np.testing.assert_allclose(
        learner.logits(training.X, chosen), np.tile(log_odds, (len(chosen), 1)), rtol=1e-12
    )


def test_trees_and_elastic_nets_see_the_features_and_not_a_basis():
    """A turned basis would mix the only feature that says something with all others."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5))
    X[:, 1:] += X[:, :1]
    Y = np.column_stack([X[:, 2] > 0, X[:, 2] < 0.3]).astype(int)
    for learner, gate in [("elastic", "logistic"), ("logistic", "elastic")]:
        settings = sw.CBM(2, learner, gate=gate, l1_ratio=1.0, C=0.5)._settings()
        basis = np.linalg.qr(random.normal(size=(5, 5)))[0]
        training = turned_rows(X, sparse.csr_array(Y), np.ones(300), basis, settings)
        with Workers(1) as workers:
            em = start(training, settings, workers)
            for _ in range(3):
                em.round()
        elastic = [
            part
            for part in (em.gate, *(component.classifiers_ for component in em.components))
            if isinstance(part, ElasticGate | ElasticLabels)
        ]
        used = sum(np.abs(part.weights_.toarray()).sum(axis=1) for part in elastic)
        assert used[2] > 0.8 * used.sum()


@pytest.mark.parametrize("learner", ["boosting", TREE])
def test_scaling_is_left_out_where_nothing_needs_it(learner):
    X, Y = rows()
    model = sw.CBM(2, learner, max_iter=2).fit(X, Y)
    assert model.scaling_.mean_ is None
    assert model.scaling_.factor_ == 1.0
    assert sw.CBM(2, learner, gate="logistic", max_iter=2).fit(X, Y).scaling_.mean_ is not None


@pytest.mark.parametrize("options", [{"gate": "boosting"}, {"gate": "elastic"}, {"gate": TREE}])
def test_shared_labels_go_with_any_gate(options):
    X, Y = rows()
    model = sw.CBM(3, sharing="labels", max_iter=4, dtype="float64", **options, **FOREVER)
    log_likelihood = history(model.fit(X, Y), "log_likelihood")
    assert log_likelihood[-1] > log_likelihood[0]
    assert model.predict_dist(X).log_prob(Y).mean() == pytest.approx(log_likelihood[-1], rel=1e-6)


@pytest.mark.parametrize(("learner", "gate"), PAIRS[:5], ids=NAMES[:5])
def test_the_number_of_rounds_can_be_found_on_held_out_rows(learner, gate):
    X, Y = rows()
    model = sw.CBM(3, learner, gate=gate, max_iter=6, patience=2, stopping="held_out").fit(X, Y)
    best = int(np.argmax(model.stopping_curve_)) + 1
    assert len(model.history_) == best


@pytest.mark.parametrize(("learner", "gate"), PAIRS[:5], ids=NAMES[:5])
def test_em_goes_on_from_a_state_as_if_it_had_never_gone_further(learner, gate):
    X, Y = rows()
    settings = sw.CBM(3, learner, gate=gate)._settings()
    training = TrainingRows(X, sparse.csr_array(Y), np.ones(len(X)))
    with Workers(1) as workers:
        em = start(training, settings, workers)
        em.round()
        state = em.state()
        expected = em.round().bound
        em.round()
        em.restore(state)
        assert em.round().bound == pytest.approx(expected, rel=1e-6)


def test_results_do_not_depend_on_threads():
    X, Y = rows()
    one, two = (
        sw.CBM(4, "boosting", max_iter=4, n_jobs=jobs).fit(X, Y).predict_dist(X).log_prob(Y)
        for jobs in (1, 2)
    )
    np.testing.assert_allclose(one, two, rtol=1e-9)


def test_a_doubled_row_is_a_row_of_weight_two_for_the_elastic_net():
    X, Y = rows()
    twice = np.repeat(np.arange(len(X)), 1 + (np.arange(len(X)) % 2))
    weight = 1.0 + np.arange(len(X)) % 2
    learners = []
    for training, w in [
        (TrainingRows(X, sparse.csr_array(Y), weight), weight),
        (TrainingRows(X[twice], sparse.csr_array(Y[twice]), np.ones(len(twice))), np.ones(300)),
    ]:
        learner = ElasticLabels(C=1.0, steps=50)
        chosen = np.arange(len(w))
        learner.improve(training, chosen, w, np.array([0, 1]), np.zeros(2))
        learners.append(learner)
    np.testing.assert_allclose(
        learners[0].weights_.toarray(), learners[1].weights_.toarray(), rtol=1e-3, atol=1e-5
    )


def test_explanations_tell_the_features_of_an_elastic_net_and_none_of_trees():
    X, Y = rows()
    elastic = sw.CBM(3, "elastic", C=1.0, max_iter=3).fit(X, Y)
    assert "x" in str(elastic.components())
    told = elastic.explain(X[0]).to_dict()
    assert any(label["features_for"] or label["features_against"] for label in told["labels"])
    sw.CBM(3, "boosting", max_iter=2).fit(X, Y).explain(X[0]).to_dict()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"learner": "forest"}, "one of logistic, elastic, boosting, or a scikit-learn"),
        ({"gate": "forest"}, "one of logistic, elastic, boosting, tree, or a scikit-learn"),
        ({"learner": GaussianNB}, "one of logistic"),
        ({"learner": KNeighborsClassifier()}, "takes no sample_weight"),
        ({"gate": KNeighborsClassifier()}, "takes no sample_weight"),
        ({"learner": "elastic", "l1_ratio": 1.5}, "l1_ratio"),
        ({"learner": "elastic", "sharing": "labels"}, "sharing"),
    ],
)
def test_what_cannot_learn_is_refused(parameters, message):
    X, Y = rows()
    with pytest.raises(DataError, match=message):
        sw.CBM(3, **parameters).fit(X, Y)
