import numpy as np
import pytest

import setwise as sw
from setwise import storage
from setwise.decisions import MostLikelySet, SampledMode
from setwise.decisions import base as decisions_base
from setwise.distributions import BernoulliMixture, Product
from setwise.errors import DataError


def mixture(n=40, K=3, L=5, seed=0, **options):
    random = np.random.default_rng(seed)
    log_pi = np.log(random.dirichlet(np.ones(K), size=n))
    return BernoulliMixture(log_pi, random.normal(scale=1.5, size=(n, K, L)), **options)


@pytest.mark.parametrize("allow_empty", [True, False])
def test_many_samples_find_the_mode(allow_empty):
    distribution = mixture(allow_empty=allow_empty)
    decided = SampledMode(3000).decide(distribution)
    assert decided.dtype == np.int8
    np.testing.assert_array_equal(decided, MostLikelySet().decide(distribution))


def test_few_samples_are_never_better_than_the_mode_and_more_are_better():
    distribution = mixture(n=300, L=8)
    best = distribution.mode()[1]
    reached = [distribution.log_prob(SampledMode(S).decide(distribution)) for S in (1, 4, 16, 64)]
    for log_prob in reached:
        assert (log_prob <= best + 1e-9).all()
    means = [log_prob.mean() for log_prob in reached]
    assert (np.diff(means) > 0).all()
    assert (reached[0] < best - 0.1).any()


def test_the_answer_is_the_likeliest_of_the_samples():
    distribution = mixture(n=25, L=6, seed=3)
    samples = distribution.sample(7, 11)
    log_prob = np.stack([distribution.log_prob(drawn) for drawn in samples])  # (S, n)
    decided = SampledMode(7, random_state=11).decide(distribution)
    np.testing.assert_allclose(distribution.log_prob(decided), log_prob.max(axis=0), rtol=1e-9)


def test_the_seed_decides_and_batches_make_no_difference(monkeypatch):
    distribution = mixture(n=60, L=10)
    first, again, other = (SampledMode(3, seed).decide(distribution) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    monkeypatch.setattr(decisions_base, "BATCH_CELLS", 3 * 10 * 7)  # seven rows at a time
    np.testing.assert_array_equal(SampledMode(3, 5).decide(distribution), first)


def test_many_labels_and_no_rows():
    wide = Product(np.tile(np.linspace(-9, 9, 70), (3, 1)))
    decided = SampledMode(200).decide(wide)
    assert decided[:, :20].sum() == 0
    assert decided[:, -20:].all()
    assert SampledMode(5).decide(Product(np.zeros((0, 4)))).shape == (0, 4)


def test_it_is_refused_without_samples_and_stored_with_its_parameters(tmp_path):
    with pytest.raises(DataError, match="n_samples is a whole number from 1 up, not 0"):
        SampledMode(0).decide(mixture())
    storage.save(SampledMode(12, 3), tmp_path / "rule.setwise")
    read = storage.load(tmp_path / "rule.setwise")
    assert (read.n_samples, read.random_state) == (12, 3)


def test_a_mixture_model_predicts_by_samples():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 3))
    Y = (X @ random.normal(size=(3, 4)) + random.normal(size=(150, 4)) > 0).astype(int)
    exact = sw.CBM(2, max_iter=3).fit(X, Y)
    many, few = (sw.CBM(2, max_iter=3, n_samples=S).fit(X, Y) for S in (2000, 2))
    assert isinstance(many.decision_, SampledMode)
    np.testing.assert_array_equal(many.predict(X), exact.predict(X))
    assert (few.predict(X) != exact.predict(X)).any()
    np.testing.assert_array_equal(few.predict(X), few.predict(X))
    with pytest.raises(DataError, match="n_samples is for target=.set_accuracy., not 'f1'"):
        sw.CBM(2, n_samples=5, target="f1").fit(X, Y)
    with pytest.raises(DataError, match="n_samples is a whole number"):
        sw.CBM(2, n_samples=0).fit(X, Y)
