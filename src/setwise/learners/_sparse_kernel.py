# mypy: ignore-errors
"""Products of CSR rows with a block of columns: columns are the lanes."""

from setwise.compiling import lane_kernel


@lane_kernel
def fill_logits(indptr, indices, data, start, stop, W, bias, Z):
    """Z (stop - start, L) = X W + bias for the rows from ``start`` to ``stop``."""
    L = Z.shape[1]
    for i in range(start, stop):
        for label in range(L):
            Z[i - start, label] = bias[label]
        for entry in range(indptr[i], indptr[i + 1]):
            j, value = indices[entry], data[entry]
            for label in range(L):
                Z[i - start, label] += value * W[j, label]


@lane_kernel
def add_gradient(indptr, indices, data, start, stop, R, G):
    """G (d, L) += X' R for the rows from ``start`` to ``stop``."""
    L = R.shape[1]
    for i in range(start, stop):
        for entry in range(indptr[i], indptr[i + 1]):
            j, value = indices[entry], data[entry]
            for label in range(L):
                G[j, label] += value * R[i - start, label]
