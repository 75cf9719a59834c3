import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from setwise.data.formats._number_kernel import POWERS_OF_TEN, parse_decimal, parse_index
from setwise.data.formats.spelling import finite_number


def parsed(text):
    buffer = np.frombuffer(b"<" + text.encode() + b">", dtype=np.uint8)
    return parse_decimal(buffer, 1, len(buffer) - 1, POWERS_OF_TEN)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_exactly_or_left_to_float(number):
    for text in (repr(number), f"{number:.6g}", f"{number:+.3e}", f"{number:.2f}"):
        value, plain = parsed(text)
        if plain:
            assert value == float(text)
            assert np.signbit(value) == np.signbit(float(text))


@given(st.decimals(-1000, 1000, places=6))
def test_the_usual_spellings_are_read_in_the_kernel(decimal):
    assert parsed(str(decimal)) == (float(decimal), True)


@given(st.text(st.sampled_from("0123456789+-.eE_ naif?'"), max_size=8))
def test_nothing_is_read_as_a_number_that_python_would_refuse(text):
    value, plain = parsed(text)
    if plain:
        assert value == float(text)


def test_spellings_that_are_no_finite_number():
    for text in ("", "?", "nan", "inf", "1_000", "1,5", "0x10", "1e999"):
        assert not parsed(text)[1]
        assert finite_number(text) is None


def test_indices_have_one_to_nine_digits():
    def index(text):
        buffer = np.frombuffer(text.encode() + b" ", dtype=np.uint8)
        return parse_index(buffer, 0, len(text))

    assert index("123456789") == (123456789, True)
    for text in ("", "1234567890", "-1", "1.0", "a"):
        assert not index(text)[1]
