# mypy: ignore-errors
"""Products of CSR rows with a tile of the columns of a wide matrix: columns are the lanes."""

from setwise.compiling import lane_kernel


@lane_kernel
def add_products(indptr, indices, data, first, last, W, Z):
    """Z[:, first:last] += X W[:, first:last]; four entries at a time, so that Z is read less."""
    for i in range(len(indptr) - 1):
        z = Z[i, first:last]
        entry, end = indptr[i], indptr[i + 1]
        while entry + 4 <= end:
            w0, w1 = W[indices[entry], first:last], W[indices[entry + 1], first:last]
            w2, w3 = W[indices[entry + 2], first:last], W[indices[entry + 3], first:last]
            x0, x1, x2, x3 = data[entry], data[entry + 1], data[entry + 2], data[entry + 3]
            for lane in range(last - first):
                z[lane] += x0 * w0[lane] + x1 * w1[lane] + x2 * w2[lane] + x3 * w3[lane]
            entry += 4
        while entry < end:
            w, x = W[indices[entry], first:last], data[entry]
            for lane in range(last - first):
                z[lane] += x * w[lane]
            entry += 1
