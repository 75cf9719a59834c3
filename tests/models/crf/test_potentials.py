"""Four weights a pair, and the one number of them that matters."""

import numpy as np
from scipy.sparse import csr_array

from setwise.models.crf.potentials import four_weights, pair_scores


def test_four_weights_add_up_to_the_interaction(every):
    random = np.random.default_rng(0)
    Q = np.triu(random.normal(size=(4, 4)), 1)
    theta = four_weights(Q + Q.T)
    q = theta[:, :, 0, 0] - theta[:, :, 0, 1] - theta[:, :, 1, 0] + theta[:, :, 1, 1]
    np.testing.assert_allclose(q, Q, rtol=1e-12)
    np.testing.assert_allclose(
        pair_scores(csr_array(every.astype(float)), Q + Q.T),
        [
            sum(Q[i, j] * y[i] * y[j] for i in range(4) for j in range(i)) + (y @ Q @ y)
            for y in every
        ],
        rtol=1e-12,
    )
