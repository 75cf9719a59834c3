# mypy: ignore-errors
"""Random numbers for the samplers: xoroshiro128+, its two words of state held by the caller.

Blackman and Vigna's generator, seeded by splitmix64. One stream a chain or document makes answers
the same for every number of threads.
"""

import numba
import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_24, _40, _16, _37, _27 = (np.uint64(shift) for shift in (24, 40, 16, 37, 27))
_30, _31, _11 = (np.uint64(shift) for shift in (30, 31, 11))
_UNIT = 1.0 / 9007199254740992.0  # 2^-53

# Functions of the inner loops. They make and return no arrays, so that references to those they are
# given need not be counted, which takes longer than all else.
inlined = numba.njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
# Functions that make or return arrays.
making = numba.njit(nogil=True, error_model="numpy")


@inlined
def mixed(seed, value):
    """A number in which every bit depends on every bit of both (splitmix64)."""
    x = (np.uint64(seed) ^ np.uint64(value)) + _GOLDEN
    x = (x ^ (x >> _30)) * _MIX_1
    x = (x ^ (x >> _27)) * _MIX_2
    return x ^ (x >> _31)


@inlined
def start(seed):
    """The first state of the stream that belongs to a seed."""
    a = mixed(seed, np.uint64(1))
    return a, mixed(a, np.uint64(2)) | np.uint64(1)


@inlined
def draw(a, b):
    """A number in [0, 1), and the next state."""
    result = a + b
    b ^= a
    a = ((a << _24) | (a >> _40)) ^ b ^ (b << _16)
    b = (b << _37) | (b >> _27)
    return (result >> _11) * _UNIT, a, b


@inlined
def restart(stream, seed):
    """Set a stream, two words in an array, to where a seed begins."""
    stream[0], stream[1] = start(seed)


@inlined
def uniform(stream):
    """A number in [0, 1) from a stream in an array, which moves on."""
    u, stream[0], stream[1] = draw(stream[0], stream[1])
    return u
