import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from setwise import storage
from setwise.errors import DataError, LabelMismatch
from setwise.metrics import average_precision
from setwise.models.topics import DependencyLDA, FlatLDA, PriorLDA
from setwise.models.topics.attribution import Attribution
from setwise.models.topics.hyperparameters import PRESETS

MODELS = (FlatLDA, PriorLDA, DependencyLDA)
models = pytest.mark.parametrize("model", MODELS)


def corpus(n=240, V=40, C=6, length=40, seed=0):
    """Documents drawn from Dependency-LDA; labels come in pairs."""
    random = np.random.default_rng(seed)
    phi = np.random.default_rng(99).dirichlet(np.full(V, 0.1), size=C)
    X, Y = np.zeros((n, V)), np.zeros((n, C), dtype=np.int8)
    for d in range(n):
        pair = 2 * random.choice(C // 2, p=[0.6, 0.3, 0.1])
        mine = [pair, pair + 1] if random.random() < 0.8 else [random.integers(C)]
        Y[d, mine] = 1
        theta = random.dirichlet(np.full(len(mine), 3.0))
        X[d] = random.multinomial(random.poisson(length), theta @ phi[mine])
    return X, Y


X, Y = corpus()
X_TEST, Y_TEST = corpus(seed=1)


@pytest.fixture(scope="module")
def fitted():
    return {model: model().fit(X, Y) for model in MODELS}


@models
def test_labels_of_documents_from_the_model_are_found(fitted, model):
    theta = fitted[model].rank_scores(X_TEST)
    assert theta.shape == Y_TEST.shape
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-9)
    assert average_precision(Y_TEST, theta) > 0.93
    assert fitted[model].score(X_TEST, Y_TEST) > 0.6


@models
def test_probabilities_rank_as_theta_does_and_are_calibrated(fitted, model):
    p, theta = fitted[model].predict_proba(X_TEST), fitted[model].rank_scores(X_TEST)
    for row, scores in zip(p, theta):
        assert (np.diff(row[np.argsort(scores)]) >= -1e-12).all()
    assert abs(p.mean() - Y_TEST.mean()) < 0.05


@models
def test_the_number_of_threads_batches_and_rows_change_nothing(fitted, model):
    theta = fitted[model].rank_scores(X_TEST)
    other = clone(fitted[model]).set_params(n_jobs=3).fit(X, Y)
    np.testing.assert_array_equal(other.rank_scores(X_TEST), theta)
    np.testing.assert_allclose(other.rank_scores(X_TEST[50:53]), theta[50:53], rtol=1e-9)
    np.testing.assert_array_equal(other.rank_scores(sparse.csr_array(X_TEST)), theta)


@models
def test_the_seed_decides(fitted, model):
    again = model(random_state=0).fit(X, Y).rank_scores(X_TEST)
    np.testing.assert_array_equal(again, fitted[model].rank_scores(X_TEST))
    assert np.abs(model(random_state=1).fit(X, Y).rank_scores(X_TEST) - again).max() > 1e-4


@models
def test_a_model_is_the_same_after_pickling_and_saving(fitted, model, tmp_path):
    fitted[model].save(tmp_path / "model.setwise")
    expected = fitted[model].predict_proba(X_TEST)
    for copy in (
        pickle.loads(pickle.dumps(fitted[model])),
        storage.load(tmp_path / "model.setwise"),
    ):
        np.testing.assert_array_equal(copy.predict_proba(X_TEST), expected)
        np.testing.assert_array_equal(copy.predict(X_TEST), fitted[model].predict(X_TEST))


def test_prior_lda_is_dependency_lda_with_one_topic(fitted):
    weights = {"eta": 70.0, "alpha": 30.0}
    one = DependencyLDA(n_topics=1, **weights).fit(X, Y)
    prior = PriorLDA(**weights).fit(X, Y)
    np.testing.assert_array_equal(one.rank_scores(X_TEST), prior.rank_scores(X_TEST))
    np.testing.assert_array_equal(
        prior.rank_scores(X_TEST), fitted[PriorLDA].rank_scores(X_TEST)
    )  # the weights are those of the paper for few labels


def test_all_three_learn_the_same_distributions_over_words(fitted):
    flat, prior, dependency = (fitted[model].words_.dense() for model in MODELS)
    np.testing.assert_array_equal(flat, prior)
    np.testing.assert_array_equal(flat, dependency)


@pytest.mark.parametrize("model", [PriorLDA, DependencyLDA])
def test_the_proper_sampler_agrees_roughly(fitted, model):
    proper = model(inference="proper", n_label_tokens=50, n_chains=4).fit(X, Y)
    theta, fast = proper.rank_scores(X_TEST), fitted[model].rank_scores(X_TEST)
    assert average_precision(Y_TEST, theta) > 0.93
    assert np.corrcoef(theta.ravel(), fast.ravel())[0, 1] > 0.9


@models
def test_odd_documents_get_the_prior(fitted, model):
    odd = np.zeros((2, 41))
    odd[1, 40] = 3  # a word that training never saw
    rows = np.hstack([X, np.zeros((len(X), 1))])
    wide = model().fit(rows, Y)
    theta = wide.rank_scores(odd)
    np.testing.assert_array_equal(theta[0], theta[1])
    if model is FlatLDA:
        np.testing.assert_allclose(theta, 1 / 6, rtol=1e-9)
    else:
        order = np.argsort(theta[0])
        assert np.corrcoef(theta[0], Y.mean(axis=0))[0, 1] > 0.95, order
    assert wide.predict(odd).shape == (2, 6)


@models
def test_a_label_never_seen_and_a_label_without_words_get_the_prior(model):
    more = np.hstack([Y, np.zeros((len(Y), 2), np.int8)])
    rows = X.copy()
    rows[0], more[0] = 0, 0
    more[0, 7] = 1  # label 7 has one document, without words
    fitted = model().fit(rows, more)
    np.testing.assert_allclose(fitted.words_.dense()[:, 6:], 1 / 40, rtol=1e-9)
    assert np.isfinite(fitted.predict_proba(X_TEST)).all()
    assert fitted.predict_proba(X_TEST)[:, 6:].mean() < 0.2


@models
def test_odd_shapes_work(model):
    for rows in (1, 2, 12):
        assert model().fit(X[:rows], Y[:rows]).predict(X_TEST).shape == Y_TEST.shape
    assert model().fit(X, Y[:, :1]).predict(X_TEST).shape == (240, 1)
    assert model().fit(X, np.zeros_like(Y)).predict_proba(X_TEST).max() < 0.5
    assert model().fit(np.zeros_like(X), Y).predict_proba(X_TEST).shape == Y_TEST.shape


@models
def test_what_is_no_count_gets_a_sentence(fitted, model):
    with pytest.raises(DataError, match="counts of words"):
        model().fit(X + 0.5, Y)
    with pytest.raises(DataError, match="counts of words"):
        fitted[model].predict(X_TEST / 2)


@models
def test_another_vocabulary_gets_a_sentence(fitted, model):
    with pytest.raises(ValueError, match="features"):
        fitted[model].predict(X_TEST[:, :-1])


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_topics": "many"}, 'whole number from 1 on, or "auto"'),
        ({"n_topics": 0}, "n_topics is a whole number from 1 on"),
        ({"alpha": 0.0}, "alpha is a number over zero"),
        ({"alpha": None}, "alpha is a number over zero"),
        ({"eta": "big"}, 'eta is a number over zero or "auto"'),
        ({"beta_words": -1.0}, "beta_words is a number over zero"),
        ({"prior_weight": 0.0}, "prior_weight is a number over zero"),
        ({"preset": "slow"}, "preset"),
        ({"n_chains": 0}, "n_chains is a whole number from 1 on"),
        ({"burn_in": -1}, "burn_in is a whole number from 0 on"),
        ({"inference": "exact"}, "inference"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises(DataError, match=sentence):
        DependencyLDA(**parameters).fit(X[:20], Y[:20])


def test_weights_are_repetitions_of_documents():
    weight = [2, 0, 1, 1, 1, 1, 1, 2]
    weighted = FlatLDA().fit(X[:8], Y[:8], sample_weight=weight)
    rows = np.repeat(np.arange(8), weight)
    repeated = FlatLDA().fit(X[rows], Y[rows])
    np.testing.assert_array_equal(weighted.rank_scores(X_TEST), repeated.rank_scores(X_TEST))


def test_the_papers_settings_are_a_preset():
    paper = PRESETS["paper"]
    assert (paper.word_chains, paper.word_burn_in) == (48, 100)
    assert (paper.topic_chains, paper.topic_burn_in) == (10, 500)
    assert (paper.n_chains, paper.burn_in, paper.n_samples, paper.thin) == (60, 50, 15, 5)
    model = DependencyLDA(preset="paper", n_chains=2, word_chains=2, topic_chains=2, n_samples=1)
    assert model.fit(X[:30], Y[:30]).sampling_["burn_in"] == 50


def test_the_likeliest_words_of_labels(fitted):
    model = fitted[FlatLDA]
    words = [f"w{i}" for i in range(40)]
    found = model.top_words(3, labels=[0, 2], words=words)
    assert list(found) == [0, 2]
    phi = model.words_.dense()
    for label, best in found.items():
        order = np.argsort(-phi[:, label])[:3]
        assert [word for word, _ in best] == [f"w{i}" for i in order]
        np.testing.assert_allclose([p for _, p in best], phi[order, label], rtol=1e-12)
    with pytest.raises(LabelMismatch, match="no label 'x'"):
        model.top_words(labels=["x"])
    with pytest.raises(DataError, match="2 words are named"):
        model.top_words(words=["a", "b"])


def test_the_likeliest_labels_of_topics(fitted):
    topics = fitted[DependencyLDA].top_labels(2, topic_set=1)
    assert len(topics) == 6
    weights = [topic.weight for topic in topics]
    assert weights == sorted(weights, reverse=True)
    np.testing.assert_allclose(sum(weights), 1, rtol=1e-9)
    pair = sorted(label for label, _ in topics[0].labels)
    assert pair in ([0, 1], [2, 3], [4, 5])
    with pytest.raises(DataError, match="no topics"):
        fitted[FlatLDA].top_labels()
    with pytest.raises(DataError, match="5 sets of topics"):
        fitted[DependencyLDA].top_labels(topic_set=5)


@models
def test_words_speak_for_the_labels_they_come_from(fitted, model):
    attributions = fitted[model].attribute(X_TEST[:30], n_labels=6)
    right = total = 0.0
    for row, truth, attribution in zip(X_TEST[:30], Y_TEST[:30], attributions):
        np.testing.assert_allclose(attribution.tokens.sum(axis=1), attribution.counts, rtol=1e-9)
        np.testing.assert_array_equal(attribution.counts, row[list(attribution.words)])
        mine = [i for i, label in enumerate(attribution.labels) if truth[label]]
        right += attribution.tokens[:, mine].sum()
        total += attribution.counts.sum()
    assert right / total > 0.6


def test_attribution_as_html_marks_words(fitted):
    words = ["<b>", *(f"w{i}" for i in range(39))]
    (attribution,) = fitted[FlatLDA].attribute(X[:1] * 0 + np.eye(40)[:1], words=words)
    html = attribution.to_html()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "background:#" in html


def test_attribution_as_a_dict_is_the_same_again(fitted):
    model = fitted[FlatLDA]
    attribution = model.attribute(X[:1])[0]
    again = Attribution.from_dict(attribution.to_dict())
    assert again.speaks_for == attribution.speaks_for
    assert again.to_html() == attribution.to_html()


def test_a_single_group_is_calibrated_by_sizes():
    few, labels, quick = X[:20], Y[:20], {"n_chains": 2, "burn_in": 2, "n_samples": 2}
    grouped = FlatLDA(**quick).fit(few, labels, groups=np.zeros(20))
    by_size = FlatLDA(**quick, calibration="size").fit(few, labels)
    np.testing.assert_array_equal(grouped.predict_proba(few), by_size.predict_proba(few))
