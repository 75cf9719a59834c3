# mypy: ignore-errors
"""Eight doubles as one value, for kernels that must not be left to the compiler's vectoriser.

It vectorises innermost loops only, and keeps what a loop carries from step to step in memory where
that is an array. A ``Vector`` is a local variable like a float: ``+``, ``-`` and ``*`` work lane by
lane, products that are added become fused multiply-adds, and LLVM maps the eight lanes to whatever
registers a machine has.

    v = load(array, at)    array[at : at + 8], without a bounds check
    v = spread(x)          x in every lane
    store(v, array, at)
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

WIDTH = 8
_LLVM_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_DOUBLE_BYTES = 8
# Fused multiply-adds are what these are for; nothing else about the arithmetic is loosened.
_FLAGS = ("contract",)


class _VectorType(types.Type):
    def __init__(self):
        super().__init__(name=f"Vector({WIDTH})")


VECTOR = _VectorType()


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _LLVM_VECTOR)


def _address(context, build, array_type, array, at):
    """Pointer to eight doubles; arrays are one-dimensional and contiguous."""
    data = context.make_array(array_type)(context, build, array).data
    return build.bitcast(build.gep(data, [at]), _LLVM_VECTOR.as_pointer())


@intrinsic
def load(context, array, at):
    """The vector ``array[at : at + 8]``."""

    def generate(context, build, signature, arguments):
        address = _address(context, build, signature.args[0], *arguments)
        return build.load(address, align=_DOUBLE_BYTES)

    return VECTOR(array, types.int64), generate


@intrinsic
def store(context, vector, array, at):
    """Write a vector to ``array[at : at + 8]``."""

    def generate(context, build, signature, arguments):
        vector, array, at = arguments
        address = _address(context, build, signature.args[1], array, at)
        build.store(vector, address, align=_DOUBLE_BYTES)
        return context.get_dummy_value()

    return types.void(vector, array, types.int64), generate


@intrinsic
def spread(context, number):
    """A vector with the same number in every lane."""

    def generate(context, build, signature, arguments):
        first = build.insert_element(
            ir.Constant(_LLVM_VECTOR, ir.Undefined), arguments[0], cgutils.int32_t(0)
        )
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        return build.shuffle_vector(first, first, everywhere)

    return VECTOR(types.float64), generate


def _lane_by_lane(instruction):
    @intrinsic
    def operation(context, a, b):
        def generate(context, build, signature, arguments):
            return getattr(build, instruction)(*arguments, flags=_FLAGS)

        return VECTOR(VECTOR, VECTOR), generate

    def of_vectors(a, b):
        if a is VECTOR and b is VECTOR:
            return lambda a, b: operation(a, b)
        return None

    return of_vectors


overload(operator.add)(_lane_by_lane("fadd"))
overload(operator.sub)(_lane_by_lane("fsub"))
overload(operator.mul)(_lane_by_lane("fmul"))
