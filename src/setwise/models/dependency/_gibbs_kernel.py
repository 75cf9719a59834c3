# mypy: ignore-errors
"""Gibbs sampling of linear networks; see ``gibbs.py``."""

import numpy as np

from setwise.compiling import kernel


@kernel
def gibbs(base, weights, start, limits, burn_in, samples):
    """Fill ``samples`` (n, S, L) with the sets that chains visit, chain by chain.

    ``base`` (n, L) are log-odds where no label is on, ``weights[j, i]`` is what label j adds to
    those of label i. A label is set where its log-odds exceed the limit of its turn, ``limits``
    (chains, 1 + sweeps, L): logits of uniform numbers, so that no random number is drawn and no
    exponential taken here. The first of them, against ``start`` (L,), say where a chain begins.
    Labels take their turns in the order of the columns; log-odds change only when a label does.
    """
    n, L = base.shape
    chains, turns = limits.shape[:2]
    kept = turns - 1 - burn_in
    z, y = np.empty(L), np.empty(L, np.int8)
    for row in range(n):
        for chain in range(chains):
            z[:] = base[row]
            for i in range(L):
                y[i] = limits[chain, 0, i] < start[i]
                if y[i]:
                    for j in range(L):
                        z[j] += weights[i, j]
            for turn in range(1, turns):
                for i in range(L):
                    on = limits[chain, turn, i] < z[i]
                    if on and not y[i]:
                        y[i] = 1
                        for j in range(L):
                            z[j] += weights[i, j]
                    elif y[i] and not on:
                        y[i] = 0
                        for j in range(L):
                            z[j] -= weights[i, j]
                if turn > burn_in:
                    place = chain * kept + turn - 1 - burn_in
                    for i in range(L):
                        samples[row, place, i] = y[i]
