# mypy: ignore-errors
"""Linear support vector machines by coordinate descent in the dual, as LIBLINEAR does it.

    min over a >= 0 of   1/2 a' (Q + D) a - sum a,    Q_ij = y_i y_j x_i' x_j,   D_ii = 1 / (2 C_i)

(squared hinge loss, Hsieh et al. 2008), with its shrinking: rows that stay at zero are left alone
until the rest has converged. The bias, where there is one, is the last feature.
"""

import numpy as np

from setwise.compiling import kernel
from setwise.models.topics._random_kernel import draw, inlined, start


@inlined
def margin(ptr, columns, values, bias, w, i):
    """The product w' x_i."""
    total = bias * w[w.size - 1]
    for p in range(ptr[i], ptr[i + 1]):
        total += values[p] * w[columns[p]]
    return total


@kernel
def descend(
    ptr, columns, values, norms, bias, rows, positive, cost, times, a, w, tolerance, max_iter, seed
):
    """Improve ``a`` (n,) and the ``w`` (d + 1,) that belongs to it; the number of passes made.

    ``cost`` (n,) is C_i, of positive rows ``times`` as much.
    """
    s0, s1 = start(seed)
    order = rows.copy()
    n_active = order.size
    worst_before = np.inf
    for iteration in range(max_iter):
        highest, lowest = -np.inf, np.inf
        for k in range(n_active - 1):
            u, s0, s1 = draw(s0, s1)
            j = k + min(int(u * (n_active - k)), n_active - k - 1)
            order[k], order[j] = order[j], order[k]
        k = 0
        while k < n_active:
            i = order[k]
            y = 1.0 if positive[i] else -1.0
            c = cost[i] * times if positive[i] else cost[i]
            if c <= 0.0:
                n_active -= 1
                order[k], order[n_active] = order[n_active], order[k]
                continue
            diagonal = 0.5 / c
            slope = y * margin(ptr, columns, values, bias, w, i) - 1.0 + diagonal * a[i]
            projected = slope
            if a[i] == 0.0:
                if slope > worst_before:
                    n_active -= 1
                    order[k], order[n_active] = order[n_active], order[k]
                    continue
                projected = min(slope, 0.0)
            highest, lowest = max(highest, projected), min(lowest, projected)
            if abs(projected) > 1e-12:
                new = max(a[i] - slope / (norms[i] + diagonal), 0.0)
                step = (new - a[i]) * y
                a[i] = new
                for p in range(ptr[i], ptr[i + 1]):
                    w[columns[p]] += step * values[p]
                w[w.size - 1] += step * bias
            k += 1
        if highest - lowest <= tolerance:
            if n_active == order.size:
                return iteration + 1
            n_active = order.size
            worst_before = np.inf
            continue
        worst_before = highest if highest > 0.0 else np.inf
    return max_iter


@kernel
def choose_times(
    ptr,
    columns,
    values,
    norms,
    bias,
    rows,
    held_out,
    positive,
    cost,
    choices,
    closeness,
    n_features,
    tolerance,
    max_iter,
    seed,
):
    """Which of the rising ``choices`` is best on rows held out; of equals the closest to 1."""
    a, w = np.zeros(ptr.size - 1), np.zeros(n_features + 1)
    best, most = 0, -1.0
    for number in range(choices.size):
        descend(
            ptr,
            columns,
            values,
            norms,
            bias,
            rows,
            positive,
            cost,
            choices[number],
            a,
            w,
            tolerance,
            max_iter,
            seed,
        )
        right = 0.0
        for i in held_out:
            right += cost[i] * ((margin(ptr, columns, values, bias, w, i) > 0.0) == positive[i])
        if right > most or (right == most and closeness[number] < closeness[best]):
            best, most = number, right
    return best
