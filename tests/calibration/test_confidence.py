import numpy as np
import pytest
from scipy import sparse

from setwise.calibration.candidates import Candidates
from setwise.calibration.confidence import Confidence, rightness, weights_of
from setwise.calibration.features import OF_THE_THESIS, features_of
from setwise.calibration.kinds import Judged, Kind, make_kind
from setwise.calibration.noise import NO_NOISE, NoiseRates
from setwise.calibration.prior import SetPrior
from setwise.errors import DataError

N, K, L = 60, 3, 4


@pytest.fixture(scope="module")
def candidates():
    random = np.random.default_rng(0)
    sets = random.integers(0, 2, size=(N * K, L))
    sets[0] = 0
    score = np.sort(random.normal(size=(N, K)), axis=1)[:, ::-1].ravel()
    return Candidates(sparse.csr_array(sets), np.repeat(np.arange(N), K), score, N)


@pytest.fixture(scope="module")
def truth():
    truth = np.random.default_rng(1).integers(0, 2, size=(N, L))
    truth[0] = 0  # as is its first candidate
    return truth


@pytest.fixture(scope="module")
def judged(candidates, truth):
    features = features_of(candidates, SetPrior().fit(truth))
    correct = rightness(candidates, sparse.csr_array(truth), "f1")
    return Judged(features, correct, np.ones(N * K), NoiseRates(np.linspace(0, 0.4, N * K)))


def test_rightness_against_a_loop(candidates, truth):
    exact = rightness(candidates, sparse.csr_array(truth), "set_accuracy")
    f1 = rightness(candidates, sparse.csr_array(truth), "f1")
    for number, one in enumerate(candidates.sets.toarray()):
        other = truth[candidates.row[number]]
        total = one.sum() + other.sum()
        assert exact[number] == (one == other).all()
        expected = 1.0 if total == 0 else 2 * (one & other).sum() / total
        np.testing.assert_allclose(f1[number], expected, rtol=1e-12)
        assert (f1[number] == 1) == exact[number]
    assert 0 < exact.sum() < len(exact)


@pytest.mark.parametrize("target", ["hamming", None, ["f1"]])
def test_another_target_gets_a_sentence(candidates, truth, target):
    with pytest.raises(DataError, match='"set_accuracy" or "f1", not of'):
        rightness(candidates, sparse.csr_array(truth), target)


def test_candidates_count_as_much_as_their_row(candidates):
    weight = np.arange(N) / 7
    np.testing.assert_array_equal(weights_of(candidates, weight), np.repeat(weight, K))
    np.testing.assert_array_equal(weights_of(candidates, None), 1)


class Spy(Kind):
    """Says which rows it learnt from, and answers with the mean of their numbers."""

    def fit(self, judged, apart):
        self.judged, self.apart = judged, apart
        self.rows = np.unique(judged.features.candidates.row)
        return self

    def confidence(self, features):
        return np.full(len(features.score), self.rows.mean() / N)


PART = np.arange(N) % 3


def test_each_copy_learns_from_the_other_folds(judged):
    fitted = Confidence().fit(Spy, judged, PART, n_jobs=2)
    assert len(fitted.copies_) == 3
    for fold, copy in enumerate(fitted.copies_):
        inside = np.flatnonzero(PART[judged.features.candidates.row] == fold)
        outside = np.setdiff1d(np.arange(N * K), inside)
        np.testing.assert_array_equal(copy.rows, np.flatnonzero(fold != PART))
        for some, given in ((outside, copy.judged), (inside, copy.apart)):
            np.testing.assert_array_equal(given.features.score, judged.features.score[some])
            np.testing.assert_array_equal(given.correct, judged.correct[some])
            np.testing.assert_array_equal(given.noise.alpha, judged.noise.alpha[some])


def test_new_candidates_get_the_mean_and_those_of_training_their_own_copys_word(judged):
    fitted = Confidence().fit(Spy, judged, PART)
    own = np.array([copy.rows.mean() / N for copy in fitted.copies_])
    np.testing.assert_allclose(fitted.of(judged.features), own.mean(), rtol=1e-12)
    found = fitted.out_of_fold(judged.features, PART)
    np.testing.assert_array_equal(found, np.repeat(own[PART], K))


def test_candidates_without_weight_are_not_even_seen(judged):
    weight = np.repeat(np.arange(N) % 2, K).astype(float)
    weighted = Judged(judged.features, judged.correct, weight, NO_NOISE)
    for fold, copy in enumerate(Confidence().fit(Spy, weighted, PART).copies_):
        np.testing.assert_array_equal(
            copy.rows, np.flatnonzero((fold != PART) & (np.arange(N) % 2 == 1))
        )


def test_threads_change_nothing(judged):
    clean = Judged(judged.features, judged.correct, judged.weight, NO_NOISE)

    def make():
        return make_kind("boosting", OF_THE_THESIS, False, "squared", 0)

    one, two = (Confidence().fit(make, clean, PART, n_jobs).of(clean.features) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
