# mypy: ignore-errors
"""One logistic regression under an elastic net: proximal Newton steps on a working set.

``columns`` is X by columns, flat, as ``_columns_kernel`` describes it.
``problem = (target, weight, offset)``, each (n,), with weights that sum to one; the offset is added
to the scores and lets one class of a softmax be solved as a binary problem. ``penalty = (l1, l2)``.

Three loops, from the outside in: ``minimise`` looks at all features and chooses those to work on;
``_newton`` linearises and searches along a line, so that the objective never rises; ``_sweeps`` is
coordinate descent on the quadratic model (Algorithm 2.2), which is what yields exact zeros.
"""

import numpy as np

from setwise.compiling import kernel
from setwise.learners._columns_kernel import (
    column_dot,
    column_square,
    dot,
    fill_direction,
    fill_scores,
    subtract_column,
)

# A smaller curvature (of a row that is as good as decided) would make steps too long to be taken.
LEAST_CURVATURE = 1e-5
# A feature enters the working set if it violates optimality by this share of the worst violation.
ADMITTED = 0.1
# Inner problems are solved to this share of the violation they start from.
INNER_SHARE = 0.1
MAX_SWEEPS = 100
MAX_HALVINGS = 40


@kernel
def minimise(columns, problem, penalty, screen, tolerance, max_steps, weights, bias, scores):
    """``weights`` (d,) and ``bias`` (1,) moved to the minimum in place: worst violation, steps.

    ``scores`` (n,) is filled: offset + bias + X weights, at the point returned. The first working
    set also takes the features whose slope is ``screen`` or more (strong rule).
    """
    n = len(problem[0])
    residual, curvature = np.empty(n), np.empty(n)
    gradient = np.empty(len(weights))
    working = np.empty(len(weights), np.int64)
    fill_scores(columns, weights, bias[0], problem[2], scores)
    steps = 0
    while True:
        _linearise(scores, problem, residual, curvature)
        worst = _fill_gradient(columns, residual, weights, penalty, gradient)
        n_working = _choose(gradient, weights, penalty, worst, screen, working)
        worst = max(worst, abs(residual.sum()))
        if worst <= tolerance or steps >= max_steps:
            return worst, steps
        goal = max(tolerance, INNER_SHARE * worst)
        state = (scores, residual, curvature)
        chosen = working[:n_working]
        taken = _newton(
            columns, problem, penalty, chosen, state, goal, max_steps - steps, weights, bias
        )
        if taken == 0:  # no step lowers the objective any more: rounding is all that is left
            return worst, steps
        steps += taken
        screen = np.inf


@kernel
def optimality(columns, problem, penalty, weights, bias, scores):
    """The worst violation of the optimality conditions; ``scores`` (n,) is filled."""
    n = len(problem[0])
    residual, curvature = np.empty(n), np.empty(n)
    fill_scores(columns, weights, bias[0], problem[2], scores)
    _linearise(scores, problem, residual, curvature)
    worst = _fill_gradient(columns, residual, weights, penalty, np.empty(len(weights)))
    return max(worst, abs(residual.sum()))


@kernel
def _newton(columns, problem, penalty, working, state, goal, max_steps, weights, bias):
    """Steps on the working features until none violates optimality by more than ``goal``."""
    scores, residual, curvature = state
    n_working = len(working)
    change, model = np.empty(n_working), np.empty(len(scores))
    direction = np.empty(len(scores))
    for step in range(max_steps):
        if step > 0:
            _linearise(scores, problem, residual, curvature)
        worst = abs(residual.sum())
        for i in range(n_working):
            j = working[i]
            slope = column_dot(columns, j, residual)
            worst = max(worst, violation(slope, weights[j], penalty))
        if worst <= goal and step > 0:
            return step
        for row in range(len(scores)):
            model[row] = residual[row]
        shift = _sweeps(
            columns, penalty, working, weights, curvature, INNER_SHARE * worst, model, change
        )
        fill_direction(columns, working, change, shift, direction)
        length = _search(problem, penalty, working, state, direction, change, weights)
        if length == 0:
            return step
        bias[0] += length * shift
    return max_steps


@kernel
def _sweeps(columns, penalty, working, weights, curvature, goal, model, change):
    """Coordinate descent on the quadratic model: ``change`` (m,) of the weights; that of the bias.

    ``model`` (n,) enters as the residual and is kept at residual - curvature * (X change).
    """
    l1, l2 = penalty
    squares = np.empty(len(working))
    for i in range(len(working)):
        squares[i] = column_square(columns, working[i], curvature)
        change[i] = 0.0
    total, shift, everywhere = curvature.sum(), 0.0, True
    for _ in range(MAX_SWEEPS):
        step = model.sum() / total
        shift += step
        for row in range(len(model)):
            model[row] -= curvature[row] * step
        largest = abs(step) * total
        for i in range(len(working)):
            j = working[i]
            here = weights[j] + change[i]
            if here == 0 and not everywhere:
                continue
            slope = column_dot(columns, j, model) + squares[i] * here
            there = _shrunk(slope, l1) / (squares[i] + l2) if squares[i] + l2 > 0 else 0.0
            if there != here:
                change[i] = there - weights[j]
                subtract_column(columns, j, there - here, curvature, model)
                largest = max(largest, abs(there - here) * (squares[i] + l2))
        if largest <= goal and everywhere:
            break
        everywhere = largest <= goal  # in between, only the non-zero weights: most stay zero
    return shift


@kernel
def _search(problem, penalty, working, state, direction, change, weights):
    """The longest of the steps 1, 1/2, 1/4, ... that lowers the objective enough; 0 if none does.

    Scores and weights are moved. Differences are added row by row: between two sums over all rows,
    what a late step gains would drown in rounding.
    """
    target, row_weight, _ = problem
    scores, residual, _ = state
    promised = -dot(residual, direction)
    before, losses, moved = scores.copy(), np.empty(len(scores)), np.empty(len(working))
    for row in range(len(scores)):
        losses[row] = _loss(scores[row], target[row])
    for i in range(len(working)):
        moved[i] = weights[working[i]]
        promised += cost(moved[i] + change[i], penalty) - cost(moved[i], penalty)
    length = 1.0 if promised < 0 else 0.0
    for _ in range(MAX_HALVINGS):
        gain = 0.0
        for row in range(len(scores)):
            scores[row] = before[row] + length * direction[row]
            gain += row_weight[row] * (_loss(scores[row], target[row]) - losses[row])
        for i in range(len(working)):
            weights[working[i]] = moved[i] + length * change[i]
            gain += cost(weights[working[i]], penalty) - cost(moved[i], penalty)
        if gain <= 1e-4 * length * promised:
            return length
        length *= 0.5
    for row in range(len(scores)):
        scores[row] = before[row]
    for i in range(len(working)):
        weights[working[i]] = moved[i]
    return 0.0


@kernel
def _linearise(scores, problem, residual, curvature):
    """Residual w (t - p) and curvature w p (1 - p), eq. 2.51 and 2.52, in place."""
    target, weight, _ = problem
    for row in range(len(scores)):
        p = 1.0 / (1.0 + np.exp(-scores[row]))
        residual[row] = weight[row] * (target[row] - p)
        curvature[row] = weight[row] * max(p * (1.0 - p), LEAST_CURVATURE)


@kernel
def _fill_gradient(columns, residual, weights, penalty, gradient):
    """``gradient`` = X' residual (d,) in place; the worst violation of optimality."""
    worst = 0.0
    for j in range(len(weights)):
        gradient[j] = column_dot(columns, j, residual)
        worst = max(worst, violation(gradient[j], weights[j], penalty))
    return worst


@kernel
def _choose(gradient, weights, penalty, worst, screen, working):
    """How many features enter the working set: the non-zero ones and the worst violators."""
    n_working = 0
    for j in range(len(weights)):
        bad = violation(gradient[j], weights[j], penalty) > ADMITTED * worst
        if weights[j] != 0 or bad or abs(gradient[j]) >= screen:
            working[n_working] = j
            n_working += 1
    return n_working


@kernel
def violation(slope, weight, penalty):
    """How far a weight is from optimal; ``slope`` is minus the derivative of the loss."""
    l1, l2 = penalty
    if weight == 0:
        return max(abs(slope) - l1, 0.0)
    return abs(l2 * weight + l1 * np.sign(weight) - slope)


@kernel
def _loss(score, target):
    """Cross-entropy of one row, less the entropy of its target."""
    return max(score, 0.0) + np.log1p(np.exp(-abs(score))) - target * score


@kernel
def cost(weight, penalty):
    """The elastic net of one weight."""
    return penalty[0] * abs(weight) + 0.5 * penalty[1] * weight * weight


@kernel
def _shrunk(value, amount):
    """Soft-thresholding, eq. 2.47."""
    if value > amount:
        return value - amount
    if value < -amount:
        return value + amount
    return 0.0
