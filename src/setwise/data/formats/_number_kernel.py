# mypy: ignore-errors
"""Numbers from bytes, exactly rounded or not at all.

A decimal with at most 2**53 as digits and a power of ten within 10**±22 is one correctly rounded
operation on two exact doubles (Clinger 1990). Every other spelling is left to the caller, who
resolves it with Python's own ``float``.
"""

import numpy as np

from setwise.compiling import kernel

POWERS_OF_TEN = 10.0 ** np.arange(23)

_ZERO, _NINE = ord("0"), ord("9")
_TAB, _RETURN, _SPACE = ord("\t"), ord("\r"), ord(" ")
_PLUS, _MINUS, _DOT = ord("+"), ord("-"), ord(".")
_E_LOWER, _E_UPPER = ord("e"), ord("E")
_MOST_DIGITS = 2**53


@kernel
def is_blank(byte):
    """Whether a byte is white space; other control characters are damage, not blanks."""
    return byte <= _SPACE and (byte == _SPACE or (byte >= _TAB and byte <= _RETURN))


@kernel
def parse_index(buffer, start, stop):
    """(value, True) for a run of one to nine digits, else (0, False)."""
    if stop == start or stop - start > 9:
        return 0, False
    value = 0
    for at in range(start, stop):
        byte = buffer[at]
        if byte < _ZERO or byte > _NINE:
            return 0, False
        value = value * 10 + (np.int64(byte) - _ZERO)
    return value, True


@kernel
def parse_exponent(buffer, start, stop):
    """(value, True) for an integer with or without a sign, of at most nine digits."""
    at = start
    negative = False
    if at < stop and (buffer[at] == _MINUS or buffer[at] == _PLUS):
        negative = buffer[at] == _MINUS
        at += 1
    value, good = parse_index(buffer, at, stop)
    return (-value if negative else value), good


@kernel
def parse_decimal(buffer, start, stop, powers_of_ten):
    """(value, True) for ``buffer[start:stop]``, or (0, False) where ``float`` must decide."""
    at = start
    negative = False
    if at < stop and (buffer[at] == _MINUS or buffer[at] == _PLUS):
        negative = buffer[at] == _MINUS
        at += 1
    mantissa = np.int64(0)
    digits = 0
    exponent = 0
    seen_dot = False
    while at < stop:
        byte = buffer[at]
        if _ZERO <= byte <= _NINE:
            mantissa = mantissa * 10 + (np.int64(byte) - _ZERO)
            if mantissa > _MOST_DIGITS:
                return 0.0, False
            digits += 1
            if seen_dot:
                exponent -= 1
        elif byte == _DOT and not seen_dot:
            seen_dot = True
        else:
            break
        at += 1
    if digits == 0:
        return 0.0, False
    if at < stop:
        if buffer[at] != _E_LOWER and buffer[at] != _E_UPPER:
            return 0.0, False
        written, good = parse_exponent(buffer, at + 1, stop)
        if not good:
            return 0.0, False
        exponent += written
    if exponent < -22 or exponent > 22:
        return 0.0, False
    value = float(mantissa)
    if exponent < 0:
        value /= powers_of_ten[-exponent]
    else:
        value *= powers_of_ten[exponent]
    return (-value if negative else value), True
