"""What processors do in one or two instructions and numba has no name for.

Each stands here twice: as a function in plain Python, and as LLVM code to the same effect, which
becomes what the processor at hand has for it. A row that is written or read must be 52 long or
more: nobody checks.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from black_maria.cards import NUM_CARDS
from black_maria.kernels import instruction

_WORD = 64
"""Bits of a plane."""


def _spread(plane: Any, entries: Any) -> None:
    """Write the bits of a plane, int64, as 52 entries 0 or 1, int8."""
    for card in range(NUM_CARDS):
        entries[card] = plane >> card & 1


@instruction(_spread)
def spread(typingctx, plane, entries):
    """A plane's bits are lanes of one bit, which widen to bytes.

    With this and ``collect`` a decision takes 113 ns at 512 tables; 160 with a table of eight
    entries for every byte of a plane.
    """

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[1])(context, builder, arguments[1])
        bits = builder.bitcast(arguments[0], ir.VectorType(ir.IntType(1), _WORD))
        lanes = builder.zext(bits, ir.VectorType(ir.IntType(8), _WORD))
        places = ir.Constant(ir.VectorType(ir.IntType(32), NUM_CARDS), list(range(NUM_CARDS)))
        cards = builder.shuffle_vector(lanes, lanes, places)
        builder.store(cards, builder.bitcast(array.data, cards.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, entries), code


def _collect(entries: Any) -> Any:
    """The plane, int64, whose bits are the lowest of 52 entries, int8."""
    return sum((int(entries[card]) & 1) << card for card in range(NUM_CARDS))


@instruction(_collect)
def collect(typingctx, entries):
    """What ``spread`` does, backwards."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        row = ir.VectorType(ir.IntType(8), NUM_CARDS)
        cards = builder.load(builder.bitcast(array.data, row.as_pointer()), align=1)
        places = [min(card, NUM_CARDS) for card in range(_WORD)]
        places = ir.Constant(ir.VectorType(ir.IntType(32), _WORD), places)
        lanes = builder.shuffle_vector(cards, ir.Constant(row, [0] * NUM_CARDS), places)
        bits = builder.trunc(lanes, ir.VectorType(ir.IntType(1), _WORD))
        return builder.bitcast(bits, ir.IntType(_WORD))

    return types.int64(entries), code


def _fetch(rows: Any, row: int, byte: int) -> None:
    """Have a byte of a row, and those beside it, in the cache by the time they are needed."""


@instruction(_fetch)
def fetch(typingctx, rows, row, byte):
    """Ask for the 64 bytes around a byte and don't wait; a row beyond the last does no harm."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        (stride, *_) = cgutils.unpack_tuple(builder, array.strides)
        place = builder.add(builder.mul(arguments[1], stride), arguments[2])
        start = builder.bitcast(array.data, cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [start.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [start.type], kind)
        to_write, keep, data = number(1), number(3), number(1)
        builder.call(function, [builder.gep(start, [place]), to_write, keep, data])
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64), code
