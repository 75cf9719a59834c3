# mypy: ignore-errors
"""exp and log(1 + e) that compile to a few vector instructions, in single and double precision.

The library's own functions are called lane by lane, at a tenth of the speed. A power of two is
split off by adding 1.5 * 2^23 (2^52 in double precision): the sum's last bits are then the exponent
as an integer, and shifting them into place multiplies by that power. The rest is a polynomial,
fitted here at Chebyshev nodes; four coefficients at a time, so that few operations wait for others.
Errors are a few units in the last place of 1, relative to 1: all that a sigmoid needs.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.polynomial import Chebyshev, Polynomial

from setwise.compiling import LANE_MATH, lane_function

OPTIONS = {"fastmath": set(LANE_MATH), "error_model": "numpy", "forceinline": True}


def _coefficients(function, number, domain, kind):
    """Of the polynomial through ``function`` at Chebyshev nodes, by fours, filled up with zeros."""
    fitted = Chebyshev.interpolate(function, number - 1, domain).convert(kind=Polynomial).coef
    fours = np.append(fitted, np.zeros(-len(fitted) % 4)).reshape(-1, 4)
    return tuple(tuple(kind(value) for value in four) for four in fours)


def _log1p_ratio(e):
    return np.log1p(e + 1e-300) / (e + 1e-300)


_HALF = [-0.5, 0.5]
EXP2_SINGLE = _coefficients(np.exp2, 6, _HALF, np.float32)
EXP2_DOUBLE = _coefficients(np.exp2, 12, _HALF, np.float64)
LOG1P_SINGLE = _coefficients(_log1p_ratio, 8, [0, 1], np.float32)
LOG1P_DOUBLE = _coefficients(_log1p_ratio, 20, [0, 1], np.float64)

LOG2E_SINGLE, LOG2E_DOUBLE = np.float32(1 / math.log(2)), np.float64(1 / math.log(2))
ROUNDER_SINGLE, ROUNDER_DOUBLE = np.float32(1.5 * 2**23), np.float64(1.5 * 2**52)
SHIFT_SINGLE, SHIFT_DOUBLE = np.int32(23), np.int64(52)
LIMIT_SINGLE, LIMIT_DOUBLE = np.float32(80), np.float64(700)


@intrinsic
def _bits32(context, x):
    return types.int32(types.float32), lambda c, build, s, a: build.bitcast(a[0], ir.IntType(32))


@intrinsic
def _float32(context, bits):
    return types.float32(types.int32), lambda c, build, s, a: build.bitcast(a[0], ir.FloatType())


@intrinsic
def _bits64(context, x):
    return types.int64(types.float64), lambda c, build, s, a: build.bitcast(a[0], ir.IntType(64))


@intrinsic
def _float64(context, bits):
    return types.float64(types.int64), lambda c, build, s, a: build.bitcast(a[0], ir.DoubleType())


@lane_function
def _cubic(c, x, x2):
    return (c[0] + c[1] * x) + x2 * (c[2] + c[3] * x)


def unit(x):
    """One, of the type of x: a literal would turn single precision into double."""
    return type(x)(1)


@overload(unit, jit_options=OPTIONS)
def _unit_of_type(x):
    one = np.float32(1) if x == types.float32 else np.float64(1)
    return lambda x: one


def exp(x):
    """e^x, for x in [-700, 700] or in single precision [-80, 80]; others count as its ends."""
    return math.exp(x)


@overload(exp, jit_options=OPTIONS)
def _exp_of_type(x):
    return _exp_single if x == types.float32 else _exp_double


def _exp_single(x):
    x = max(min(x, LIMIT_SINGLE), -LIMIT_SINGLE)
    rounded = x * LOG2E_SINGLE + ROUNDER_SINGLE
    rest = x * LOG2E_SINGLE - (rounded - ROUNDER_SINGLE)
    x2 = rest * rest
    power = _cubic(EXP2_SINGLE[0], rest, x2) + x2 * x2 * _cubic(EXP2_SINGLE[1], rest, x2)
    return _float32(_bits32(power) + (_bits32(rounded) << SHIFT_SINGLE))


def _exp_double(x):
    x = max(min(x, LIMIT_DOUBLE), -LIMIT_DOUBLE)
    rounded = x * LOG2E_DOUBLE + ROUNDER_DOUBLE
    rest = x * LOG2E_DOUBLE - (rounded - ROUNDER_DOUBLE)
    x2 = rest * rest
    x4 = x2 * x2
    power = _cubic(EXP2_DOUBLE[1], rest, x2) + x4 * _cubic(EXP2_DOUBLE[2], rest, x2)
    power = _cubic(EXP2_DOUBLE[0], rest, x2) + x4 * power
    return _float64(_bits64(power) + (_bits64(rounded) << SHIFT_DOUBLE))


def log1p(e):
    """log(1 + e) for e in [0, 1]."""
    return math.log1p(e)


@overload(log1p, jit_options=OPTIONS)
def _log1p_of_type(e):
    return _log1p_single if e == types.float32 else _log1p_double


def _log1p_single(e):
    e2 = e * e
    return e * (_cubic(LOG1P_SINGLE[0], e, e2) + e2 * e2 * _cubic(LOG1P_SINGLE[1], e, e2))


def _log1p_double(e):
    e2 = e * e
    e4 = e2 * e2
    ratio = _cubic(LOG1P_DOUBLE[3], e, e2) + e4 * _cubic(LOG1P_DOUBLE[4], e, e2)
    ratio = _cubic(LOG1P_DOUBLE[2], e, e2) + e4 * ratio
    ratio = _cubic(LOG1P_DOUBLE[1], e, e2) + e4 * ratio
    return e * (_cubic(LOG1P_DOUBLE[0], e, e2) + e4 * ratio)
