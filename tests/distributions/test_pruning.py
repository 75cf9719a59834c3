import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from setwise.distributions import BernoulliMixture, Product
from setwise.distributions.pruning import light_components


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1e-6, 0.05, 0.3, 0.9]))
def test_as_many_of_the_lightest_are_left_out_as_weigh_no_more(seed, max_loss):
    weights = np.random.default_rng(seed).dirichlet(np.full(6, 0.3), size=4)
    is_light, lost = light_components(weights, max_loss)
    for row in range(4):
        rising = np.sort(weights[row])
        n_light = int((np.cumsum(rising) <= max_loss).sum())
        assert is_light[row].sum() == n_light
        assert lost[row] <= max_loss + 1e-15
        np.testing.assert_allclose(
            np.sort(weights[row][is_light[row]]), rising[:n_light], rtol=1e-12
        )


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([0.0, 0.01, 0.2]))
def test_no_event_changes_by_more_than_what_is_lost(seed, allow_empty, max_loss):
    """Components that are nearly always empty weigh little once the empty set is ruled out."""
    random = np.random.default_rng(seed)
    n, K, L = 3, 5, 3
    log_pi = np.log(random.dirichlet(np.full(K, 0.5), size=n))
    logits = random.normal(-2, 4, size=(n, K, L))
    whole = BernoulliMixture(log_pi, logits, allow_empty=allow_empty)
    light, lost = whole.lightened(max_loss)
    assert (lost <= max_loss + 1e-12).all()
    sets = (np.arange(2**L)[:, None] >> np.arange(L)) & 1
    p, q = (
        np.stack([np.exp(dist.log_prob(np.tile(s, (n, 1)))) for s in sets])
        for dist in (whole, light)
    )
    total_variation = np.abs(p - q).sum(axis=0) / 2
    assert (total_variation <= lost + 1e-9).all()


def test_other_distributions_have_nothing_to_leave_out():
    product = Product(np.zeros((2, 3)))
    same, lost = product.lightened(0.5)
    assert same is product
    np.testing.assert_array_equal(lost, [0, 0])
