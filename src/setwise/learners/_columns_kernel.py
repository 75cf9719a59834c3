# mypy: ignore-errors
"""What a solver asks of the columns of X, dense or sparse.

The columns come flat, as ``columns = (entries, rows, starts)``: column j holds
``entries[starts[j]:starts[j + 1]]`` in ``rows``, or in all rows where ``rows`` is empty (dense X).
"""

from setwise.compiling import kernel


@kernel
def fill_scores(columns, weights, bias, offset, scores):
    """``scores`` (n,) = offset + bias + X weights, in place."""
    for row in range(len(scores)):
        scores[row] = offset[row] + bias
    for j in range(len(weights)):
        if weights[j] != 0:
            _add_column(columns, j, weights[j], scores)


@kernel
def fill_direction(columns, working, change, shift, direction):
    """``direction`` (n,) = shift + X change, in place."""
    for row in range(len(direction)):
        direction[row] = shift
    for i in range(len(working)):
        if change[i] != 0:
            _add_column(columns, working[i], change[i], direction)


@kernel
def _add_column(columns, j, factor, scores):
    """``scores`` + factor * column j, in place."""
    entries, rows, starts = columns
    first = starts[j]
    if len(rows) == 0:
        for row in range(len(scores)):
            scores[row] += factor * entries[first + row]
    else:
        for e in range(first, starts[j + 1]):
            scores[rows[e]] += factor * entries[e]


@kernel
def subtract_column(columns, j, factor, curvature, model):
    """``model`` - factor * curvature * column j, in place."""
    entries, rows, starts = columns
    first = starts[j]
    if len(rows) == 0:
        for row in range(len(model)):
            model[row] -= factor * curvature[row] * entries[first + row]
    else:
        for e in range(first, starts[j + 1]):
            model[rows[e]] -= factor * curvature[rows[e]] * entries[e]


@kernel
def column_dot(columns, j, vector):
    """Column j times a vector (n,), in four partial sums: one would wait for every addition."""
    entries, rows, starts = columns
    first, stop = starts[j], starts[j + 1]
    fours = first + (stop - first) // 4 * 4
    a = b = c = d = 0.0
    if len(rows) == 0:
        for e in range(first, fours, 4):
            row = e - first
            a += entries[e] * vector[row]
            b += entries[e + 1] * vector[row + 1]
            c += entries[e + 2] * vector[row + 2]
            d += entries[e + 3] * vector[row + 3]
        for e in range(fours, stop):
            a += entries[e] * vector[e - first]
    else:
        for e in range(first, fours, 4):
            a += entries[e] * vector[rows[e]]
            b += entries[e + 1] * vector[rows[e + 1]]
            c += entries[e + 2] * vector[rows[e + 2]]
            d += entries[e + 3] * vector[rows[e + 3]]
        for e in range(fours, stop):
            a += entries[e] * vector[rows[e]]
    return (a + b) + (c + d)


@kernel
def largest_dot(columns, vector):
    """The largest absolute product of a column with a vector (n,)."""
    largest = 0.0
    for j in range(len(columns[2]) - 1):
        largest = max(largest, abs(column_dot(columns, j, vector)))
    return largest


@kernel
def column_square(columns, j, curvature):
    """The sum over rows of curvature * column j ** 2."""
    entries, rows, starts = columns
    first, total = starts[j], 0.0
    for e in range(first, starts[j + 1]):
        row = rows[e] if len(rows) else e - first
        total += curvature[row] * entries[e] * entries[e]
    return total


@kernel
def dot(left, right):
    """The inner product of two vectors."""
    total = 0.0
    for row in range(len(left)):
        total += left[row] * right[row]
    return total
