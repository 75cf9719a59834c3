# mypy: ignore-errors
"""The data section of an ARFF file, bytes to numbers in one pass.

The scanner returns numbers where the spelling is plain, and the *odd* cells (quoted, missing,
categories by name, very long numbers) as byte ranges for Python to resolve. A bad row leaves
nothing behind but its line, a code and a detail; scanning goes on only if asked to.
"""

from setwise.compiling import kernel
from setwise.data.formats._number_kernel import is_blank, parse_decimal, parse_index

WRONG_LENGTH, OTHER_KIND, BAD_INDEX, INDEX_TOO_LARGE, NO_VALUE, NO_BRACE, OPEN_QUOTE = range(1, 8)

_NEWLINE, _COMMA, _PERCENT, _BACKSLASH = ord("\n"), ord(","), ord("%"), ord("\\")
_OPEN, _CLOSE = ord("{"), ord("}")
_SINGLE, _DOUBLE = ord("'"), ord('"')


@kernel
def trim(buffer, start, stop):
    """``start`` and ``stop`` without the white space at both ends."""
    while start < stop and is_blank(buffer[start]):
        start += 1
    while stop > start and is_blank(buffer[stop - 1]):
        stop -= 1
    return start, stop


@kernel
def line_stop(buffer, start):
    """Where the line that begins at ``start`` ends."""
    while start < len(buffer) and buffer[start] != _NEWLINE:
        start += 1
    return start


@kernel
def item_stop(buffer, start, stop):
    """(end of the item that begins at ``start``, whether its quotes close).

    An item ends at a comma outside quotes; a quote opens at the item's start or after a blank.
    """
    quote = 0
    after_blank = True
    at = start
    while at < stop:
        byte = buffer[at]
        if quote != 0:
            if byte == _BACKSLASH:
                at += 1
            elif byte == quote:
                quote = 0
        elif byte == _COMMA:
            break
        elif after_blank and byte in (_SINGLE, _DOUBLE):
            quote = byte
        after_blank = is_blank(byte)
        at += 1
    return min(at, stop), quote == 0


@kernel
def scan_dense_row(buffer, start, stop, values, n, odd, n_odd, is_category, powers_of_ten):
    """A row ``value, value, ...`` from entry ``n`` on.

    Returns (error code, detail, entries so far, odd cells so far).
    """
    n_columns = len(is_category)
    column = 0
    at = start
    while True:
        end, closed = item_stop(buffer, at, stop)
        if not closed:
            return OPEN_QUOTE, column, n, n_odd
        if column < n_columns:
            cell_start, cell_stop = trim(buffer, at, end)
            value, plain = parse_decimal(buffer, cell_start, cell_stop, powers_of_ten)
            values[n + column] = value
            if not plain or is_category[column]:
                odd[n_odd, 0], odd[n_odd, 1] = column, cell_start
                odd[n_odd, 2], odd[n_odd, 3] = cell_stop, n + column
                n_odd += 1
        column += 1
        if end == stop:
            break
        at = end + 1
    if column != n_columns:
        return WRONG_LENGTH, column, n, n_odd
    return 0, 0, n + n_columns, n_odd


@kernel
def scan_sparse_row(
    buffer, start, stop, indices, values, n, odd, n_odd, is_category, powers_of_ten
):
    """A row ``{index value, ...}`` from entry ``n`` on.

    Returns (error code, detail, entries so far, odd cells so far).
    """
    if buffer[stop - 1] != _CLOSE:
        return NO_BRACE, 0, n, n_odd
    at, stop = trim(buffer, start + 1, stop - 1)
    while at < stop:
        end, closed = item_stop(buffer, at, stop)
        if not closed:
            return OPEN_QUOTE, 0, n, n_odd
        item_start, item_end = trim(buffer, at, end)
        index_end = item_start
        while index_end < item_end and not is_blank(buffer[index_end]):
            index_end += 1
        index, good = parse_index(buffer, item_start, index_end)
        if not good:
            return BAD_INDEX, item_start, n, n_odd
        if index >= len(is_category):
            return INDEX_TOO_LARGE, index, n, n_odd
        if index_end == item_end:
            return NO_VALUE, index, n, n_odd
        cell_start, cell_stop = trim(buffer, index_end, item_end)
        value, plain = parse_decimal(buffer, cell_start, cell_stop, powers_of_ten)
        indices[n], values[n] = index, value
        if not plain or is_category[index]:
            odd[n_odd, 0], odd[n_odd, 1] = index, cell_start
            odd[n_odd, 2], odd[n_odd, 3] = cell_stop, n
            n_odd += 1
        n += 1
        at = end + 1
    return 0, 0, n, n_odd


@kernel
def scan(
    buffer, start, line, is_category, powers_of_ten, keep_going,
    indptr, indices, values, lines, odd, bad,
):  # fmt: skip
    """All rows of a data section, into the last six arrays; returns (rows, odd cells, bad rows).

    The arrays have room for the largest possible file; no room for ``indices`` means dense rows.
    ``odd`` has columns (column, start, stop, entry), ``bad`` has columns (line, code, detail).
    """
    is_sparse = len(indices) > 0
    n, n_rows, n_odd, n_bad = indptr[0], 0, indptr[0], 0
    while start < len(buffer):
        end = line_stop(buffer, start)
        a, b = trim(buffer, start, end)
        if a < b and buffer[a] != _PERCENT:
            code, detail, now, now_odd = OTHER_KIND, 0, n, n_odd
            if (buffer[a] == _OPEN) == is_sparse:
                if is_sparse:
                    code, detail, now, now_odd = scan_sparse_row(
                        buffer, a, b, indices, values, n, odd, n_odd, is_category, powers_of_ten
                    )
                else:
                    code, detail, now, now_odd = scan_dense_row(
                        buffer, a, b, values, n, odd, n_odd, is_category, powers_of_ten
                    )
            if code == 0:
                n, n_odd = now, now_odd
                lines[n_rows] = line
                n_rows += 1
                indptr[n_rows] = n
            else:
                bad[n_bad, 0], bad[n_bad, 1], bad[n_bad, 2] = line, code, detail
                n_bad += 1
                if not keep_going:
                    break
        start = end + 1
        line += 1
    return n_rows, n_odd, n_bad
