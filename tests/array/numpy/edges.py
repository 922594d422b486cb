#!/usr/bin/env python3
"""Statements on arrays of numbers at the ends of their range, with the right answers, for array_numpy_test.

usage: edges.py FILE [--cases N] [--seed S]

A second generator beside generate.py, with other habits: one axis of lengths around those of vectors and of the groups that sums
are made of, and patterns of numbers rather than one number after the other. Answers are NumPy's where it is exact, and
exact arithmetic's, rounded once, elsewhere. edges.bin beside this file is what `edges.py edges.bin --cases 1200 --seed 1` writes.
"""

import fractions
import math

import numpy as np

import generate
from generate import Random, combined

LENGTHS = [1, 2, 3, 4, 7, 15, 16, 17, 20, 31, 32, 33, 63, 64, 65, 100, 129, 257]
INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
REDUCTIONS = ["sum", "prod", "min", "max", "mean", "var", "any", "all", "count_nonzero", "argmin", "argmax", "nansum",
              "nanprod", "nanmin", "nanmax", "nanmean", "nanargmin", "nanargmax"]
JOINS = [("?", "i1"), ("i1", "u1"), ("i2", "u2"), ("i4", "u4"), ("i8", "u8"), ("u1", "f4"), ("i8", "f4"), ("i4", "f8"),
         ("f4", "f8"), ("c8", "f8"), ("i4", "c8"), ("c8", "c16")]


def specials(dtype):
    info = np.finfo(dtype)
    big, small = float(info.max), float(info.smallest_subnormal)
    return [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, big, -big, big / 2, -big / 3, float(info.tiny), small, -small,
            3 * small, float(info.eps), 1 + float(info.eps), 0.5, 1.5, 2.5, 1e10, 2.0**24 + 2, 2.0**53 + 2 if dtype == "f8" else 3e7]


class Patterns(Random):
    def length(self):
        return self.choice(LENGTHS)

    def reals(self, dtype, n=None, finite=False, nan=True):
        n = n or self.length()
        pool = [x for x in specials(dtype) if (nan or not math.isnan(x)) and (not finite or math.isfinite(x))]
        form = self.below(6)
        if form == 0:  # specials alone
            values = [self.choice(pool) for _ in range(n)]
        elif form == 1:  # a special one among tame ones
            values = list(self.rng.uniform(-2, 2, n))
            values[self.below(n)] = self.choice(pool)
        elif form == 2:  # large and small ones in turns
            large = float(self.choice([1e5, 1e10, 1e30 if dtype == "f8" else 1e8]))
            values = [large if i % 2 == 0 else 1 / large for i in range(n)]
        elif form == 3:  # one number, many times
            values = [self.choice(pool)] * n
        elif form == 4:  # equal ones beside each other
            values = [float(v) for v in np.round(np.sort(self.rng.uniform(-3, 3, n)))]
        else:
            values = list(self.rng.standard_normal(n))
        with np.errstate(over="ignore"):
            return np.array(values).astype(dtype)

    def integers(self, dtype, n=None):
        n = n or self.length()
        info = np.iinfo(dtype)
        form = self.below(4)
        if form == 0:
            values = self.rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        elif form == 1:
            values = np.array([self.choice([info.min, info.max, 0, 1]) for _ in range(n)], dtype)
        elif form == 2:
            values = np.full(n, self.choice([info.min, info.max, info.max // 2 + 1, 100]), dtype)
        else:
            values = self.rng.integers(0, 4, n).astype(dtype)
        return values

    def values_of(self, dtype, n=None, **how):
        kind = np.dtype(dtype).kind
        if kind == "b":
            return self.rng.random(n or self.length()) < self.choice([0, 0.1, 0.5, 1])
        return self.integers(dtype, n) if kind in "iu" else self.reals(dtype, n, **how)

    def complexes(self, dtype, n=None, finite=False):
        n = n or self.length()
        real = "f4" if dtype == "c8" else "f8"
        part = lambda: np.array([self.choice([x for x in specials(real) if not finite or math.isfinite(x)])
                                 if self.chance(0.6) else self.rng.uniform(-3, 3) for _ in range(n)]).astype(real)
        z = np.empty(n, dtype)
        z.real, z.imag = part(), part()
        return z


def operand(array):
    return ("array", array, [(0, n, 1) for n in array.shape])


def to_float(number):
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def rounded(number, dtype):
    """A fraction as the nearest number of a type, infinite beyond its range."""
    return np.dtype(dtype).type(to_float(number))


def wrapped(number, dtype):
    bits = 8 * np.dtype(dtype).itemsize
    number %= 2**bits
    return np.dtype(dtype).type(number - 2**bits if np.dtype(dtype).kind == "i" and number >= 2 ** (bits - 1) else number)


def put_reduced(r, cases):
    dtype = r.choice(["?"] + INTEGERS + ["f4", "f8", "f4", "f8"])
    real = np.dtype(dtype).kind == "f"
    k = r.below(len(REDUCTIONS) if real else 11)
    name = REDUCTIONS[k]
    a = r.values_of(dtype)
    if name.startswith("nan") and name not in ("nansum", "nanprod") and np.isnan(a).all():
        a[0] = 1
    eps, n = np.finfo(dtype if real else "f8").eps, a.size
    slack = None
    left = a[~np.isnan(a)] if name.startswith("nan") else a
    plain = name.removeprefix("nan")
    if not real and plain in ("sum", "prod"):
        out = "u8" if np.dtype(dtype).kind == "u" else "i8"
        exact = sum(int(v) for v in a) if plain == "sum" else math.prod(int(v) for v in a)
        result = wrapped(exact, out)
    elif plain in ("sum", "mean", "var", "prod") and (not real or np.isfinite(left).all()):
        whole = [fractions.Fraction(int(v)) if not real else fractions.Fraction(float(v)) for v in left]
        largest = float(np.finfo(dtype if real else "f8").max)
        out = dtype if real else "f8"
        if plain == "prod":
            # Products of neighbours must stay within the range: then any sensible order does.
            sizes = [abs(v) for v in whole if v != 0]
            logs = np.cumsum([0.0] + [math.log2(v.numerator) - math.log2(v.denominator) for v in sizes])
            span = max(logs) - min(logs)
            if span > 0.4 * math.log2(largest):
                return
            exact = math.prod(whole, start=fractions.Fraction(1))
            result = rounded(exact, out)
            slack = 2 * n * eps * abs(float(result))
        else:
            size = sum(abs(v) for v in whole)
            if size >= fractions.Fraction(largest) / 4:
                return
            middle = sum(whole) / max(len(whole), 1)  # nansum of NaN alone is 0
            if plain == "var":
                if size >= fractions.Fraction(largest) ** fractions.Fraction(1, 2):
                    return
                exact = sum((v - middle) ** 2 for v in whole) / len(whole)
                reach = 2 * to_float(max(abs(v) for v in whole))
                slack = 4 * (math.log2(n) + 30) * eps * reach**2 + float(np.finfo(out).smallest_subnormal) * 4
            else:
                exact = sum(whole) if plain == "sum" else middle
                share = 1 if plain == "sum" else len(whole)
                slack = (math.log2(n) + 30) * eps * float(size) / share + float(np.finfo(out).smallest_subnormal) * 4
            result = rounded(exact, out)
    else:
        if plain == "prod" and not np.isnan(left).any():
            return  # whether something vanishes on the way to an infinity is the order's affair
        if plain in ("sum", "mean", "var") and np.abs(left[np.isfinite(left)].astype(np.longdouble)).sum() > float(np.finfo(dtype).max) / 4:
            return  # and so is what overflows beside one
        result = getattr(np, name)(a)
        if name in ("argmin", "argmax", "nanargmin", "nanargmax", "count_nonzero"):
            result = np.asarray(result, np.int64)
    cases.put("reduced", [operand(a)], np.asarray(result), [k], slack=slack)


def put_dot(r, cases):
    dtype = r.choice(["?"] + INTEGERS)
    a = r.values_of(dtype)
    b = r.values_of(dtype, a.size)
    out = "u8" if np.dtype(dtype).kind == "u" else "i8"
    cases.put("dot", [operand(a), operand(b)], np.asarray(wrapped(sum(int(x) * int(y) for x, y in zip(a, b)), out)))


def put_joined(r, cases):
    types = r.choice(JOINS)
    n = r.length()
    a, b = (r.complexes(t, n) if np.dtype(t).kind == "c" else r.values_of(t, n) for t in types)
    out = combined(*types)
    k = r.below(2)
    with np.errstate(all="ignore"):
        parts = [x.astype(out) for x in (a, b)]
    cases.put("joined", [operand(a), operand(b)], np.concatenate(parts) if k == 0 else np.stack(parts), [k], strict=True)


def put_complex_quotient(r, cases):
    dtype = r.choice(["c8", "c16"])
    a = r.complexes(dtype, finite=True)
    b = r.complexes(dtype, a.size, finite=True)
    b[b == 0] = 1
    result, slack = np.empty(a.size, dtype), np.empty(a.size)
    info = np.finfo(dtype)
    for i, (x, y) in enumerate(zip(a, b)):
        p, q, s, t = (fractions.Fraction(float(v)) for v in (x.real, x.imag, y.real, y.imag))
        size = s * s + t * t
        real, imaginary = (p * s + q * t) / size, (q * s - p * t) / size
        result[i] = complex(rounded(real, info.dtype), rounded(imaginary, info.dtype))
        near = math.hypot(result[i].real, result[i].imag)
        slack[i] = 10 * float(info.eps) * near + 8 * float(info.smallest_subnormal)
        # Numbers below the normal ones have lost digits before they are divided.
        if not math.isfinite(slack[i]) or near > float(info.max) / 8 or 0 < max(abs(y.real), abs(y.imag)) < float(info.tiny) * 16 or \
           0 < max(abs(x.real), abs(x.imag)) < float(info.tiny) * 16:
            a[i], b[i], result[i], slack[i] = 1, 1, 1, 1e-6
    cases.put("complex_quotient", [operand(a), operand(b)], result, slack=slack)


def put_complex_unary(r, cases):
    """Finite numbers of any size, by functions in wider numbers."""
    dtype = r.choice(["c8", "c16"])
    k = r.below(len(generate.COMPLEX_UNARY))
    name = generate.COMPLEX_UNARY[k]
    f = generate.ufunc(name)
    a = r.complexes(dtype, finite=True).reshape(1, -1)
    z = a.astype(np.clongdouble)
    w = f(z)
    info = np.finfo(dtype)
    slope = np.abs((f(z * (1 + 1e-7)) - w) / 1e-7)
    size = np.abs(w)
    slack = 16 * info.eps * (size + 1 + slope)
    # Left out: results beyond the range or known to no digit, and where the wider function itself has none.
    good = np.isfinite(w.real) & np.isfinite(w.imag) & np.isfinite(slope) & (size < float(info.max) / 4)
    good &= slack.astype(float) <= 1e-3 * (size.astype(float) + 1)
    good &= np.isfinite(slack.astype(float))
    a[~good], w[~good], slack[~good] = 0.5, f(np.clongdouble(0.5)), 1e-3
    cases.put("complex_unary", [operand(a)], w.astype(dtype), [k], slack=slack.astype(float))


def put_unary(r, cases):
    dtype = np.dtype(r.choice(["f4", "f8"]))
    a = r.reals(dtype.str[1:]).reshape(1, -1)
    k = r.below(len(generate.UNARY))
    name = generate.UNARY[k]
    if name in generate.EXACT_UNARY:
        cases.put("unary", [operand(a)], generate.ufunc(name)(a), [k], strict=name != "sign")
        return
    result = generate.ufunc(name)(a.astype(np.longdouble)).astype(dtype)
    cases.put("unary", [operand(a)], result, [k], ulps=4.5)


def put_real_binary(r, cases):
    dtype = np.dtype(r.choice(["f4", "f8"]))
    a = r.reals(dtype.str[1:]).reshape(1, -1)
    b = r.reals(dtype.str[1:], a.size).reshape(1, -1)
    k = r.below(len(generate.REAL_BINARY))
    name = generate.REAL_BINARY[k]
    if name in ("pow", "hypot", "atan2"):
        wide = {"pow": np.power, "hypot": np.hypot, "atan2": np.arctan2}[name]
        result = wide(a.astype(np.longdouble), b.astype(np.longdouble)).astype(dtype)
        cases.put("real_binary", [operand(a), operand(b)], result, [k], ulps=4.5)
    elif name in ("copysign", "fmin", "fmax", "nextafter", "fmod"):
        cases.put("real_binary", [operand(a), operand(b)], getattr(np, name)(a, b), [k], strict=name in ("copysign", "fmod"))


def put_median(r, cases):
    dtype = r.choice(["f4", "f8", "i1", "u1", "i8"])
    a = r.values_of(dtype)
    out = np.dtype(dtype if np.dtype(dtype).kind == "f" else "f8")
    k = r.below(2)
    q = 0.5 if k == 0 else r.choice([0.0, 0.25, 0.5, 1.0, float(r.rng.random())])
    if out.kind == "f" and np.dtype(dtype).kind == "f" and np.isnan(a).any():
        cases.put("median", [operand(a)], np.asarray(np.nan, out), [k], [q])
        return
    ordered = sorted(a.tolist())
    place = fractions.Fraction(q) * (len(ordered) - 1)
    below = ordered[math.floor(place)]
    above = ordered[min(math.floor(place) + 1, len(ordered) - 1)]
    share = place - math.floor(place)
    # On the way q (n - 1) is rounded, which moves the place by as much.
    if below == above or share == 0:
        result, slack = out.type(below), 0.0
        if share == 0 and k == 1 and place != round(float(place)):
            return
        if share == 0 and below != above and q * (len(ordered) - 1) != float(place):
            return
    elif math.isinf(below) and math.isinf(above):
        result, slack = out.type(math.nan), 0.0
    elif math.isinf(below) or math.isinf(above):
        result, slack = out.type(below if math.isinf(below) else above), 0.0
    else:
        low, high = fractions.Fraction(below), fractions.Fraction(above)
        result = rounded(low + share * (high - low), out)
        size = max(abs(low), abs(high))
        slack = to_float((8 + len(ordered)) * fractions.Fraction(float(np.finfo(out).eps)) * min(2 * size, fractions.Fraction(1e300)))
    cases.put("median", [operand(a)], np.asarray(result, out), [k], [q], slack=np.asarray(slack) if slack else None)


def put_histogram(r, cases):
    dtype = r.choice(["f4", "f8", "i1", "i8"])
    a = r.values_of(dtype)
    bins = r.choice([1, 2, 7, 10, 100, 1000])
    real = np.dtype(dtype).kind == "f"
    wide = a if real else a.astype("f8")
    if not real and np.abs(wide).max() > 2**52:
        return
    if real and not np.isfinite(a).all():
        cases.put("histogram_of_all", [operand(a)], None, [bins])
        return
    low, high = float(wide.min()), float(wide.max())
    if low == high or not math.isfinite(high - low) or (high - low) / bins < 1e-3 * max(abs(low), abs(high), 1e-30) * 1e-4:
        return  # whether a range can be cut has tests of its own
    # Numbers at an edge may fall to either side, where edges are rounded: left out unless they are the ends.
    edges = np.array([fractions.Fraction(low) + i * (fractions.Fraction(high) - fractions.Fraction(low)) / bins for i in range(bins + 1)])
    inner = [float(e) for e in edges[1:-1]]
    margin = 8 * float(np.finfo(wide.dtype).eps) * max(abs(low), abs(high))
    if inner and np.any(np.min(np.abs(np.subtract.outer(wide.astype("f8"), np.array(inner))), axis=1) <= margin):
        return
    counts = np.histogram(wide.astype("f8"), np.array([low] + inner + [high]))[0]
    cases.put("histogram_of_all", [operand(a)], counts.astype(np.int64), [bins])


def put_running(r, cases):
    dtype = r.choice(["u1", "i4"])
    a = r.values_of(dtype).reshape(1, -1)
    name = r.choice(["cumsum", "cumprod"])
    cases.put(name, [operand(a)], getattr(np, name)(a, 1), [1])


def put_order(r, cases):
    a = r.reals("f8").reshape(1, -1) if r.chance(0.6) else r.integers("i4").reshape(1, -1)
    form = r.below(3)
    if form == 0:
        cases.put("sort", [operand(a)], np.sort(a, 1), [1])
    elif form == 1:
        cases.put("argsort", [operand(a)], np.argsort(a, 1, kind="stable").astype(np.int64), [1])
    else:
        cases.put("unique", [operand(a)], np.unique(a))


KINDS = [(put_reduced, 8), (put_dot, 2), (put_joined, 2), (put_complex_quotient, 2), (put_complex_unary, 3), (put_unary, 4),
         (put_real_binary, 3), (put_median, 3), (put_histogram, 2), (put_running, 1), (put_order, 2)]


if __name__ == "__main__":
    generate.write_cases(Patterns, KINDS, 1200, __doc__)
