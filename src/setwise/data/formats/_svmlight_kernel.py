# mypy: ignore-errors
"""Multi-label svmlight files, bytes to numbers in one pass.

A row is ``label,label,... index:value index:value ... # comment``; either part may be empty.
Numbers that cannot be read exactly here are returned as byte ranges, for Python to resolve.
"""

from setwise.compiling import kernel
from setwise.data.formats._number_kernel import is_blank, parse_decimal, parse_index

BLANK_LINE, BAD_LABEL, BAD_FEATURE, BAD_INDEX, INDEX_ZERO = range(1, 6)

_NEWLINE, _RETURN, _COMMA, _COLON = ord("\n"), ord("\r"), ord(","), ord(":")
_HASH = ord("#")


@kernel
def line_end(buffer, start):
    """(end of the line's data, end of the line, whether a comment stands between them)."""
    at = start
    while at < len(buffer) and buffer[at] != _NEWLINE and buffer[at] != _HASH:
        at += 1
    stop = at
    has_comment = at < len(buffer) and buffer[at] == _HASH
    while at < len(buffer) and buffer[at] != _NEWLINE:
        at += 1
    while stop > start and is_blank(buffer[stop - 1]):
        stop -= 1
    return stop, at, has_comment


@kernel
def next_word(buffer, start, stop):
    """(start, stop, colon) of the next run of visible bytes; no colon: ``colon`` is ``stop``."""
    while start < stop and is_blank(buffer[start]):
        start += 1
    at, colon = start, stop
    while at < stop and not is_blank(buffer[at]):
        if buffer[at] == _COLON:
            colon = at
        at += 1
    return start, at, min(colon, at)


@kernel
def scan_labels(buffer, start, stop, labels, n_labels):
    """The integers between commas in ``buffer[start:stop]``: (labels so far, all were integers)."""
    at = start
    while at <= stop:
        end = at
        while end < stop and buffer[end] != _COMMA:
            end += 1
        label, good = parse_index(buffer, at, end)
        if not good:
            return n_labels, False
        labels[n_labels] = label
        n_labels += 1
        at = end + 1
    return n_labels, True


@kernel
def scan_features(buffer, start, stop, base, columns, values, n, odd, n_odd, powers_of_ten):
    """The words ``index:value`` to ``stop``: (error code, where, features so far, odd so far)."""
    while start < stop:
        word, end, colon = next_word(buffer, start, stop)
        if colon == end or colon + 1 == end:
            return BAD_FEATURE, word, n, n_odd
        index, good = parse_index(buffer, word, colon)
        if not good:
            return BAD_INDEX, word, n, n_odd
        if index < base:
            return INDEX_ZERO, word, n, n_odd
        value, plain = parse_decimal(buffer, colon + 1, end, powers_of_ten)
        columns[n], values[n] = index - base, value
        if not plain:
            odd[n_odd, 0], odd[n_odd, 1], odd[n_odd, 2] = n, colon + 1, end
            n_odd += 1
        n += 1
        start = end
    return 0, 0, n, n_odd


@kernel
def scan(
    buffer, start, line, base, powers_of_ten, keep_going,
    label_indptr, labels, indptr, columns, values, lines, odd, bad,
):  # fmt: skip
    """All rows, into the last eight arrays; returns (rows, odd values, bad rows).

    ``odd`` has columns (entry, start, stop), ``bad`` has columns (line, code, where).
    """
    n_rows, n_bad = 0, 0
    n_labels, n, n_odd = label_indptr[0], indptr[0], indptr[0]
    while start < len(buffer):
        stop, end, has_comment = line_end(buffer, start)
        word, word_end, colon = next_word(buffer, start, stop)
        code, where, now, now_odd, now_labels = 0, start, n, n_odd, n_labels
        if word == stop:  # nothing but blanks is a row without labels and features
            if end == start or buffer[start] == _RETURN:
                code = BLANK_LINE
        else:
            features = word
            if colon == word_end:  # the first word is the labels, not a feature
                now_labels, good = scan_labels(buffer, word, word_end, labels, n_labels)
                code, where, features = (0 if good else BAD_LABEL), word, word_end
            if code == 0:
                code, where, now, now_odd = scan_features(
                    buffer, features, stop, base, columns, values, n, odd, n_odd, powers_of_ten
                )
        if word == stop and has_comment:
            pass  # a comment alone is no row
        elif code == 0:
            n_labels, n, n_odd = now_labels, now, now_odd
            lines[n_rows] = line
            n_rows += 1
            label_indptr[n_rows], indptr[n_rows] = n_labels, n
        else:
            bad[n_bad, 0], bad[n_bad, 1], bad[n_bad, 2] = line, code, where
            n_bad += 1
            if not keep_going:
                break
        start = end + 1
        line += 1
    return n_rows, n_odd, n_bad
