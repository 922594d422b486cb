#!/usr/bin/env python3
"""Random statements on arrays with NumPy's answers, for array_numpy_test to compare coir's with.

usage: generate.py FILE [--cases N] [--seed S]

Needs NumPy 2. cases.bin beside this file is what `generate.py cases.bin --cases 3500 --seed 1` writes; the test reads
another file if COIR_NUMPY_CASES names one.

Where docs/arrays.md says that coir differs from NumPy, the answers here are NumPy's for what it says instead: see
`combined`, and the comments that begin with "differs".
"""

import argparse
import math
import struct

import numpy as np

TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"]
CODE = {np.dtype(name): code for code, name in enumerate(TYPES)}
OPEN = 32767

# The kernels that numpy/*.cpp instantiate; the lists there are the same.
REAL_PAIRS = [
    ("?", "?"), ("u1", "u1"), ("i4", "i4"), ("u8", "u8"), ("f4", "f4"), ("f8", "f8"), ("i1", "u1"), ("u2", "i2"),
    ("i4", "u4"), ("i8", "u8"), ("u1", "f4"), ("i8", "f8"),
]
COMPLEX_PAIRS = [("c16", "c16"), ("c8", "c8"), ("c8", "f8"), ("i4", "c8")]
NUMBER_PAIRS = [  # of an array and a number
    ("u1", "i4"), ("i4", "f8"), ("u4", "i4"), ("i8", "u8"), ("f4", "f8"), ("f4", "i4"), ("f8", "i8"), ("?", "i4"),
]
BIT_PAIRS = [("u1", "u1"), ("i1", "u1"), ("u8", "u8"), ("i8", "i4")]
CASTS = [("f8", "i4"), ("f4", "u1"), ("i4", "i1"), ("i8", "u4"), ("u8", "f4"), ("f8", "f4"), ("f8", "?"), ("?", "f8")]

ARITHMETIC = ["add", "subtract", "multiply", "minimum", "maximum", "mod", "floor_divide", "divide", "remainder"]
COMPLEX_ARITHMETIC = ["add", "subtract", "multiply", "divide"]
BITS = ["and", "or", "xor", "left", "right", "power"]
UNARY = ["sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
         "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "rint", "abs", "sign",
         "square", "negative"]
EXACT_UNARY = ["sqrt", "floor", "ceil", "trunc", "rint", "abs", "sign", "square", "negative"]
COMPLEX_UNARY = ["sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
                 "asinh", "acosh", "atanh"]
NUMPY_NAME = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
              "atanh": "arctanh"}
INTEGER_UNARY = ["negative", "abs", "square", "sign", "invert"]
REAL_BINARY = ["pow", "hypot", "atan2", "copysign", "fmin", "fmax", "nextafter", "fmod", "fdim", "remainder"]
REDUCTIONS = ["sum", "prod", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "mean", "var"]


def ufunc(name):
    return getattr(np, NUMPY_NAME.get(name, name))


def combined(a, b):
    """The type that elements of types a and b combine to."""
    a, b = np.dtype(a), np.dtype(b)
    kinds = a.kind + b.kind
    if kinds == "bb":
        return np.dtype("i4")  # differs: bool counts
    for x, y in ((a, b), (b, a)):
        if x.kind in "biu" and y in (np.dtype("f4"), np.dtype("c8")):
            return y  # differs: an integer with float is float
    return np.result_type(a, b)


class Random:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def below(self, n):
        return int(self.rng.integers(n))

    def choice(self, items):
        return items[self.below(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def shape(self, rank):
        """Small extents, sometimes none or a single element, sometimes more than a vector is wide."""
        shape = [self.choice([1, 2, 3, 4, 5] if rank < 3 else [1, 2, 3]) for _ in range(rank)]
        if rank and self.chance(0.05):
            shape[self.below(rank)] = 0
        if rank and self.chance(0.03):
            shape = [1] * rank
            shape[-1] = 33 + self.below(40)
        return tuple(shape)

    def broadcast_pair(self, rank_a, rank_b):
        rank = max(rank_a, rank_b)
        whole = self.shape(rank)
        stretch = lambda r: tuple(1 if self.chance(0.25) else n for n in whole[rank - r:])
        return stretch(rank_a), stretch(rank_b)

    def values(self, dtype, shape, tame=False):
        dtype = np.dtype(dtype)
        size = math.prod(shape)
        if dtype.kind == "b":
            flat = self.rng.integers(0, 2, size)
        elif dtype.kind in "iu":
            info = np.iinfo(dtype)
            low, high = (max(info.min, -9), min(info.max, 9))
            flat = self.rng.integers(low, high + 1, size).astype(dtype)
            for i in range(size):
                if not tame and self.chance(0.3):
                    edge = self.choice([info.min, info.max, info.max // 2, 2**24 + 1, 2**53 + 1, 255, 256, 1])
                    flat[i] = edge if info.min <= edge <= info.max else info.max
                elif not tame and self.chance(0.2):
                    flat[i] = self.rng.integers(info.min, info.max, dtype=dtype, endpoint=True)
        elif dtype.kind == "f":
            flat = self.rng.uniform(-4, 4, size)
            whole = self.rng.random(size) < 0.4
            flat[whole] = np.round(flat[whole] * 2)
            flat = flat.astype(dtype)
            info = np.finfo(dtype)
            for i in range(size):
                if not tame and self.chance(0.15):
                    flat[i] = self.choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, info.max, info.tiny,
                                           info.smallest_subnormal, 0.1, 1e10])
        else:
            flat = (self.rng.uniform(-3, 3, size) + 1j * self.rng.uniform(-3, 3, size)).astype(dtype)
        return np.asarray(flat, dtype).reshape(shape)

    def number(self, dtype):
        """A single number of a type, as Python has it."""
        return self.values(dtype, (1,))[0].item()

    def sliced(self, dtype, shape, tame=False):
        """An array of this shape, as a slice of a larger one: the array, and the operand to write."""
        base, ranges, index = [], [], []
        for n in shape:
            step = self.choice([1, 1, 1, 1, -1, -1, 2, -2, 3])
            before, after = (self.below(3), self.below(2)) if self.chance(0.2) else (0, 0)
            extent = before + max(n - 1, 0) * abs(step) + (n > 0) + after
            if n == 0:
                start = stop = self.below(extent + 1)
                step = abs(step)
            elif step > 0:
                start, stop = before, extent - after
            else:
                start = extent - after - 1
                stop = before - 1 if before > 0 else OPEN
            base.append(extent)
            ranges.append((start, stop, step))
            index.append(slice(start, None if stop == OPEN else stop, step))
        whole = self.values(dtype, tuple(base), tame)
        array = whole[tuple(index)]
        assert array.shape == tuple(shape), (array.shape, shape, ranges)
        return array, ("array", whole, ranges)


class Cases:
    def __init__(self):
        self.bytes = bytearray()
        self.count = 0

    def put(self, name, operands, result, integers=(), reals=(), ulps=0.0, slack=None, strict=False):
        """A case. `result` is an array, or None if coir must refuse. Results differ by at most `slack`, an array, if
        there is one, or else by `ulps`; `strict`: zeros have the same sign, too."""
        out = self.bytes
        out += struct.pack("<B", len(name)) + name.encode()
        out += struct.pack(f"<B{len(integers)}q", len(integers), *integers)
        out += struct.pack(f"<B{len(reals)}d", len(reals), *reals)
        out += struct.pack("<B", len(operands))
        for kind, *rest in operands:
            if kind == "number":
                dtype, value = rest
                out += struct.pack("<BB", 0, CODE[np.dtype(dtype)]) + np.array(value, dtype).tobytes()
            else:
                whole, ranges = rest
                out += struct.pack("<BBB", 1, CODE[whole.dtype], whole.ndim)
                for extent, (start, stop, step) in zip(whole.shape, ranges):
                    out += struct.pack("<4h", extent, start, stop, step)
                out += whole.tobytes()
        out += struct.pack("<BBBd", result is None, strict, slack is not None, ulps)
        if result is not None:
            result = np.asarray(result)
            out += struct.pack("<BB", CODE[result.dtype], result.ndim)
            out += struct.pack(f"<{result.ndim}h", *result.shape)
            out += result.tobytes()
            if slack is not None:
                slack = np.broadcast_to(np.asarray(slack, float), result.shape)
                assert not np.isnan(slack).any(), (name, slack)
                out += np.ascontiguousarray(slack).tobytes()
        self.count += 1

    def write(self, path):
        with open(path, "wb") as file:
            file.write(b"coir cases 1\n" + struct.pack("<I", self.count) + self.bytes)


def c_quotient(a, b):
    """Differs: integers divide as in C, rounding towards 0, and by 0 give 0."""
    q = np.empty(np.broadcast(a, b).shape, object)
    for i, (x, y) in enumerate(np.broadcast(a, b)):
        x, y = int(x), int(y)
        q.flat[i] = 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return q


def wrapped(objects, dtype):
    bits = 8 * np.dtype(dtype).itemsize
    flat = [int(x) % 2**bits for x in objects.flat]
    return np.array(flat, f"u{bits // 8}").view(dtype).reshape(objects.shape)


def arithmetic(op, a, b, dtype):
    a, b = np.asarray(a).astype(dtype), np.asarray(b).astype(dtype)
    if np.dtype(dtype).kind in "iu" and op == "divide":
        return wrapped(c_quotient(a, b), dtype)
    if np.dtype(dtype).kind in "iu" and op == "remainder":
        q = c_quotient(a, b)
        rest = a.astype(object) - q * b.astype(object)
        rest = np.where(np.broadcast_to(b, rest.shape) == 0, 0, rest)
        return wrapped(np.asarray(rest, object), dtype)
    return getattr(np, op)(a, b)


def put_arithmetic(r, cases):
    types = r.choice(REAL_PAIRS)
    shapes = r.broadcast_pair(2, 2)
    (a, x), (b, y) = (r.sliced(t, s) for t, s in zip(types, shapes))
    dtype = combined(*types)
    k = r.below(9 if dtype.kind in "iu" else 8)
    result = arithmetic(ARITHMETIC[k], a, b, dtype)
    cases.put("arithmetic", [x, y], result, [k], strict=k not in (3, 4))


def put_complex_arithmetic(r, cases):
    types = r.choice(COMPLEX_PAIRS)
    shapes = r.broadcast_pair(2, 2)
    (a, x), (b, y) = (r.sliced(t, s, True) for t, s in zip(types, shapes))
    dtype = combined(*types)
    k = r.below(4)
    if k == 3 and not np.all(b):
        k = 2
    result = getattr(np, COMPLEX_ARITHMETIC[k])(a.astype(dtype), b.astype(dtype))
    # A product is four roundings of products, a quotient about ten of the whole.
    size = np.abs(a) * np.abs(b) if k == 2 else np.abs(result)
    slack = None if k < 2 else (4 if k == 2 else 10) * np.finfo(dtype).eps * size.astype(float)
    cases.put("complex_arithmetic", [x, y], result, [k], slack=slack)


def exact_comparisons(a, b):
    """Differs: int64 and float64 are compared by their values, as Python does."""
    pairs = np.broadcast(np.asarray(a).astype(object), np.asarray(b, object))
    result = [(x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (x != y) for x, y in pairs]
    return np.array(result, np.int32).reshape(pairs.shape)


def comparisons(a, b):
    """The six of them as bits."""
    return ((a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b)).astype(np.int32)


def put_comparisons(r, cases):
    types = r.choice(REAL_PAIRS)
    shapes = r.broadcast_pair(2, 2)
    (a, x), (b, y) = (r.sliced(t, s) for t, s in zip(types, shapes))
    result = exact_comparisons(a, b)
    if not ({"i8", "u8"} & set(types) and {"f4", "f8"} & set(types)):
        assert np.array_equal(result, comparisons(a, b)), (a, b)
    cases.put("comparisons", [x, y], result)


def beside(array, number_type, number):
    """What NumPy takes in place of the array and the number, where a number is of its own kind's size."""
    kind = np.dtype(number_type).kind
    if array.dtype.kind == "b" or (array.dtype.kind in "iu" and kind == "f"):
        return array.astype(number_type), np.dtype(number_type).type(number)  # differs: the number's type
    return array, number


def put_number(r, cases):
    array_type, number_type = r.choice(NUMBER_PAIRS)
    (a, x) = r.sliced(array_type, r.shape(2))
    number = r.number(number_type)
    if array_type == "f4" and number_type == "f8" and np.isinf(np.float32(number)):
        number = 1.5
    k = r.below(7)
    left, n = beside(a, number_type, number)
    forms = [lambda: np.add(left, n), lambda: np.subtract(n, left), lambda: np.multiply(left, n),
             lambda: np.minimum(left, n), lambda: np.maximum(n, left), lambda: np.mod(left, n),
             lambda: np.floor_divide(n, left)]
    try:
        result = forms[k]()
    except OverflowError:
        result = None
    cases.put("number", [x, ("number", number_type, number)], result, [k], strict=k not in (3, 4))


def put_number_comparisons(r, cases):
    array_type, number_type = r.choice(NUMBER_PAIRS)
    (a, x) = r.sliced(array_type, r.shape(2))
    number = r.number(number_type)
    # Beside floats a number is a float first.
    result = comparisons(a, number) if a.dtype.kind == "f" else exact_comparisons(a, number)
    cases.put("number_comparisons", [x, ("number", number_type, number)], result)


def put_clip(r, cases):
    array_type = r.choice(["u1", "i4", "f4", "f8"])
    (a, x) = r.sliced(array_type, r.shape(2))
    low, high = sorted(int(v) for v in r.rng.choice([-1000, -3, 0, 2, 100, 200, 300, 2**31 + 5], 2, replace=False))
    try:
        result = np.clip(a, low, high)
    except OverflowError:
        result = None
    cases.put("clip", [x, ("number", "i8", low), ("number", "i8", high)], result)


def put_bits(r, cases):
    types = r.choice(BIT_PAIRS)
    shapes = r.broadcast_pair(2, 2)
    (a, x), (b, y) = (r.sliced(t, s) for t, s in zip(types, shapes))
    k = r.below(6)
    if k == 5:
        (b, y) = r.sliced(types[1], shapes[1], True)
        y[1][...] = np.abs(y[1]) % 8
    names = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "power"]
    dtype = combined(*types)
    cases.put("bits", [x, y], getattr(np, names[k])(a.astype(dtype), b.astype(dtype)), [k])


def put_unary(r, cases):
    dtype = np.dtype(r.choice(["f4", "f8"]))
    (a, x) = r.sliced(dtype, r.shape(2))
    k = r.below(len(UNARY))
    name = UNARY[k]
    if name in EXACT_UNARY:
        cases.put("unary", [x], ufunc(name)(a), [k], strict=name not in ("sign",))
        return
    # libmvec is within 4 ulp; the reference is rounded once. Large arguments of periodic functions, too.
    result = ufunc(name)(a.astype(np.longdouble)).astype(dtype)
    cases.put("unary", [x], result, [k], ulps=4.5)


def put_complex_unary(r, cases):
    dtype = np.dtype(r.choice(["c8", "c16"]))
    (a, x) = r.sliced(dtype, r.shape(2), True)
    k = r.below(len(COMPLEX_UNARY))
    f = ufunc(COMPLEX_UNARY[k])
    z = a.astype(np.clongdouble)
    w = f(z)
    # Some roundings of the result, of its parts' sums of numbers about 1, and of the argument.
    slope = np.abs((f(z * (1 + 1e-7)) - w) / 1e-7)
    slack = 16 * np.finfo(dtype).eps * (np.abs(w) + 1 + slope)
    cases.put("complex_unary", [x], w.astype(dtype), [k], slack=slack.astype(float))


def put_integer_unary(r, cases):
    dtype = r.choice(["i1", "u1", "i4", "u8"])
    (a, x) = r.sliced(dtype, r.shape(2))
    k = r.below(5)
    cases.put("integer_unary", [x], getattr(np, INTEGER_UNARY[k])(a), [k])


def put_real_binary(r, cases):
    types = r.choice([("f4", "f4"), ("f8", "f8"), ("f4", "f8"), ("i4", "f8")])
    shapes = r.broadcast_pair(2, 2)
    (a, x), (b, y) = (r.sliced(t, s) for t, s in zip(types, shapes))
    dtype = np.dtype(combined(*types))
    k = r.below(len(REAL_BINARY))
    name = REAL_BINARY[k]
    p, q = a.astype(dtype), b.astype(dtype)
    if name in ("pow", "hypot", "atan2"):
        wide = {"pow": np.power, "hypot": np.hypot, "atan2": np.arctan2}[name]
        result = wide(p.astype(np.longdouble), q.astype(np.longdouble)).astype(dtype)
        cases.put("real_binary", [x, y], result, [k], ulps=4.5)
        return
    if name == "fdim":
        result = np.where(np.isnan(p) | np.isnan(q), dtype.type(np.nan), np.where(p > q, p - q, dtype.type(0)))
    elif name == "remainder":  # differs: C's
        result = np.empty(np.broadcast(p, q).shape, dtype)
        for i, (u, v) in enumerate(np.broadcast(p, q)):
            bad = np.isnan(u) or np.isnan(v) or np.isinf(u) or v == 0
            result.flat[i] = np.nan if bad else math.remainder(u, v)
    else:
        result = getattr(np, name)(p, q)
    cases.put("real_binary", [x, y], result, [k], strict=name in ("copysign", "fmod", "remainder"))


def put_cast(r, cases):
    k = r.below(len(CASTS))
    source, target = CASTS[k]
    (a, x) = r.sliced(source, r.shape(2), tame=source in ("f4", "f8") and target != "?")
    if (source, target) == ("f4", "u1"):
        x[1][...] = np.abs(x[1])
    cases.put("cast", [x], a.astype(target), [k])


def reference_slack(a, axis, dtype, power):
    """log2(n) + 30 roundings of the sum of |x|^power: docs/arrays.md."""
    size = np.abs(a).astype(np.longdouble)
    n = max(a.size if axis is None else a.shape[axis], 1)
    return (np.log2(n) + 30) * np.finfo(dtype).eps * np.sum(size**power, axis=axis).astype(float)


def put_reduction(r, cases):
    if r.chance(0.5):
        dtype, rank = np.dtype(r.choice(["?", "u1", "f4", "f8", "c16"])), 2
        names = REDUCTIONS
    else:
        dtype, rank = np.dtype("f8"), r.choice([1, 3, 4])
        names = ["sum", "max", "argmin", "count_nonzero", "var"]
    if dtype.kind == "c":
        names = ["sum", "prod", "any", "count_nonzero", "mean", "var"]
    name = r.choice(names)
    shape = r.shape(rank)
    rounds = dtype.kind in "fc" and name in ("sum", "prod", "mean", "var")
    if 0 in shape and name in ("min", "max", "argmin", "argmax", "mean", "var"):
        shape = (3,) * rank
    (a, x) = r.sliced(dtype, shape, rounds or name == "var")
    axis = None if r.chance(0.4) else r.below(rank)
    integers = [REDUCTIONS.index(name), 9 if axis is None else axis if r.chance(0.5) else axis - rank]
    wide = a.astype(np.clongdouble if dtype.kind == "c" else np.longdouble) if rounds else a
    if name == "count_nonzero":
        result = np.asarray(np.count_nonzero(a, axis=axis), np.int64)
    else:
        result = getattr(np, name)(wide, axis=axis)
    if dtype.kind == "b" and name in ("sum", "prod"):
        result = np.asarray(result, np.int64)
    slack = None
    if rounds:
        result = np.asarray(result)
        out = np.dtype("f8") if dtype == "c16" and name == "var" else dtype
        result = (result.real if out.kind == "f" else result).astype(out)
        n = max(a.size if axis is None else a.shape[axis], 1)
        if name == "prod":
            slack = 2 * n * np.finfo(dtype).eps * np.abs(result).astype(float)
        else:
            slack = reference_slack(a, axis, dtype, 1)
            if name == "mean":
                slack = slack / n
            if name == "var":
                middle = np.max(np.abs(a))
                slack = 4 * (np.log2(n) + 30) * np.finfo(dtype).eps * float(2 * middle) ** 2
    elif name in ("mean", "var"):
        size = float(np.max(np.abs(a.astype(float))))
        slack = 40 * np.finfo("f8").eps * (size if name == "mean" else 4 * size * size)
    cases.put("reduction", [x], result, integers, slack=slack)


def put_shapes(r, cases):
    form = r.below(12)
    if form < 4:
        ranks = (r.below(5), r.below(5))
        shapes = r.broadcast_pair(*ranks)
        (a, x), (b, y) = (r.sliced("f8", s) for s in shapes)
        cases.put("broadcast", [x, y], a + b, strict=True)
    elif form < 6:
        rank = 2 + r.below(3)
        order = [int(i) for i in r.rng.permutation(rank)]
        (a, x) = r.sliced("f8", r.shape(rank))
        cases.put("transpose", [x], np.transpose(a, order), order, strict=True)
    elif form == 6:
        (a, x) = r.sliced("f8", r.shape(3))
        axis = r.below(6) - 3
        cases.put("flip", [x], np.flip(a, axis), [axis], strict=True)
    elif form == 7:
        (a, x) = r.sliced("f8", r.shape(3))
        target = (a.shape[0] * a.shape[1], a.shape[2]) if a.size == 0 or r.chance(0.5) else (-1, a.shape[0])
        cases.put("reshape", [x], a.reshape(target), list(target), strict=True)
    elif form == 8:
        (a, x) = r.sliced("f8", r.shape(2))
        shift, axis = r.below(13) - 6, r.below(2)
        cases.put("roll", [x], np.roll(a, shift, axis), [shift, axis], strict=True)
    elif form == 9:
        axis = r.below(2)
        shape = r.shape(2)
        other = list(shape)
        other[axis] = r.below(4)
        (a, x), (b, y) = r.sliced("f8", shape), r.sliced("f8", tuple(other))
        cases.put("concatenate", [x, y], np.concatenate((a, b), axis), [axis], strict=True)
    elif form == 10:
        shape = r.shape(2)
        (m, x), (a, y), (b, z) = r.sliced("?", shape), r.sliced("f8", shape), r.sliced("i4", shape)
        cases.put("where", [x, y, z], np.where(m, a, b), strict=True)
    else:
        # What a statement reads of what it writes is read as it was before.
        n = 2 + r.below(60)
        a = r.values("f8", (n,))
        shift = 1 + r.below(n - 1)
        result = a.copy()
        forward = r.below(2)
        if forward:
            result[shift:] = a[:-shift] + 1
        else:
            result[:-shift] = a[shift:] + 1
        cases.put("overlap", [("array", a, [(0, n, 1)])], result, [shift, forward], strict=True)


def put_order(r, cases):
    form = r.below(9)
    dtype = r.choice(["f8", "i4"])
    if form < 2:
        (a, x) = r.sliced(dtype, r.shape(2))
        axis = r.below(2)
        result = np.sort(a, axis) if form == 0 else np.argsort(a, axis, kind="stable").astype(np.int64)
        cases.put("sort" if form == 0 else "argsort", [x], result, [axis])
    elif form == 2:
        (a, x) = r.sliced(dtype, r.shape(2), True)
        cases.put("unique", [x], np.unique(a))
    elif form == 3:
        types = r.choice([("f8", "i4"), ("i4", "f8"), ("f8", "f8"), ("i8", "u8")])
        a = np.sort(r.values(types[0], (r.below(30),)))
        (v, y) = r.sliced(types[1], r.shape(2))
        right = r.below(2)
        # differs: 64-bit integers by their values
        wide = lambda t: t.astype(object) if types == ("i8", "u8") else t
        result = np.searchsorted(wide(a), wide(v), "right" if right else "left")
        cases.put("searchsorted", [("array", a, [(0, a.size, 1)]), y], result.astype(np.int64), [right])
    elif form in (4, 5):
        dtype = r.choice(["f8", "f4", "u1", "i4"])
        (a, x) = r.sliced(dtype, r.shape(2), True)
        axis = r.below(2)
        name = "cumsum" if form == 4 else "cumprod"
        if a.dtype.kind == "f":
            exact = getattr(np, name)(a.astype(np.longdouble), axis)
            size = np.cumsum(np.abs(a), axis) if form == 4 else np.abs(exact) * (a.shape[axis] + 1)
            slack = 40 * np.finfo(dtype).eps * size.astype(float)
            cases.put(name, [x], exact.astype(dtype), [axis], slack=slack)
        else:
            cases.put(name, [x], getattr(np, name)(a, axis), [axis])
    elif form == 6:
        (a, x) = r.sliced(dtype, r.shape(2), True)
        if a.size == 0:
            return
        q = r.choice([0.0, 0.25, 0.5, 1.0, float(r.rng.random())])
        cases.put("quantile", [x], np.asarray(np.quantile(a, q)), reals=[q], slack=8 * np.finfo("f8").eps * 9)
    elif form == 7:
        bins = 1 + r.below(30)
        (a, x) = r.sliced(dtype, r.shape(2), True)
        low, high = sorted([r.choice([-3.0, 0.0, 0.1, 2.0, 9.0]), r.choice([-1.3, 0.7, 5.0, 25.0])])
        counts, edges = np.histogram(a, bins, (low, high))
        which = r.below(2)
        cases.put("histogram", [x], (counts.astype(np.int64), edges)[which], [bins, which], [low, high], strict=True)
    else:
        n = 1 + r.below(120)
        counts, _ = np.histogram(np.arange(n, dtype="i4"), n, (0, n))
        a = np.arange(n, dtype="i4")
        cases.put("histogram", [("array", a.reshape(1, n), [(0, 1, 1), (0, n, 1)])], counts.astype(np.int64), [n, 0],
                  [0.0, float(n)])


def put_creation(r, cases):
    form = r.below(5)
    bounds = [float(r.choice([0.0, 1.0, -1.3, 2.7, 0.1, 99.0, 1e-300, 1e10, r.rng.normal()])) for _ in range(2)]
    if form < 2:
        dtype = r.choice(["f8", "f4"])
        n = r.below(60)
        cases.put("linspace", [("number", dtype, 0)], np.linspace(*bounds, n, dtype=dtype), [n], bounds, strict=True)
    elif form < 4:
        step = float(r.choice([0.1, 0.3, -0.7, 1.0, 1 / 3, 2.5, r.rng.normal()]))
        start = bounds[0] if abs(bounds[0]) < 1e9 else 5.0
        stop = start + step * (r.below(70) + r.rng.random())
        result = np.arange(start, stop, step)
        cases.put("arange", [], result, [], [start, stop, step], strict=True)
    else:
        start, stop, step = (r.below(100) - 50, r.below(100) - 50, r.choice([1, 2, 7, -1, -3]))
        cases.put("arange_integers", [], np.arange(start, stop, step, dtype="i4"), [start, stop, step])


KINDS = [(put_arithmetic, 5), (put_complex_arithmetic, 1), (put_comparisons, 3), (put_number, 4),
         (put_number_comparisons, 3), (put_clip, 1), (put_bits, 2), (put_unary, 4), (put_complex_unary, 2),
         (put_integer_unary, 1), (put_real_binary, 3), (put_cast, 1), (put_reduction, 4), (put_shapes, 5),
         (put_order, 4), (put_creation, 2)]


def write_cases(source, kinds, count, text):
    """Writes the file that the command line names: `count` cases unless it says how many, of what `source(seed)` gives."""
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--cases", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if int(np.__version__.split(".")[0]) < 2:
        raise SystemExit(f"this needs NumPy 2, whose numbers beside arrays are other than {np.__version__}'s")
    kinds = [kind for kind, weight in kinds for _ in range(weight)]
    r, cases = source(options.seed), Cases()
    with np.errstate(all="ignore"):
        while cases.count < options.cases:
            r.choice(kinds)(r, cases)
    cases.write(options.file)


if __name__ == "__main__":
    write_cases(Random, KINDS, 3500, __doc__)
