#!/usr/bin/env python3
"""Poisson's equation by sine transforms, in SciPy's or CuPy's ten lines: what poisson_direct_bench does.

    python3 bench/peers/direct.py scipy|cupy [--float] [SIDExSIDE ...]

Prints the median of eleven solves from a source to the solution, and the residual |b - L u| / |b| of the same source: noise of mean zero.
SciPy transforms with two workers. CuPy has no sine transform of type 1: each axis is extended oddly, and transformed by rfft.
"""

import argparse
import statistics
import time

import numpy

SIZES = "266x400 400x400 1023x1023 4095x4095 4096x4096 127x127x127 255x255x255"


def eigenvalues(xp, shape, kind):
    """The eigenvalues of -L with values around the grid."""
    total = 0
    for axis, n in enumerate(shape):
        one = (2 * xp.sin(xp.pi * xp.arange(1, n + 1) / (2 * (n + 1)))) ** 2
        total = total + one.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    return total.astype(kind)


def source_of(xp, shape, kind):
    """The source of bench/poisson/problem.hpp: a hash of the indices, from -0.5 to 0.5."""
    mixed = 0
    for axis, (n, factor) in enumerate(zip(shape, (2654435761, 2246822519, 3266489917))):
        one = xp.arange(n, dtype=xp.uint32) * xp.uint32(factor)
        mixed = mixed ^ one.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    mixed *= xp.uint32(3266489917 if len(shape) == 2 else 668265263)
    return (mixed >> 16).astype(kind) / kind(65536) - kind(0.5)


def residual(xp, b, u):
    """|b - L u| / |b| for zeros around u."""
    inside = xp.pad(u, 1)
    defect = b + 2 * b.ndim * u
    for axis in range(b.ndim):
        for begin in (0, 2):
            part = [slice(1, -1)] * b.ndim
            part[axis] = slice(begin, begin + b.shape[axis])
            defect -= inside[tuple(part)]
    return float(xp.linalg.norm(defect.ravel()) / xp.linalg.norm(b.ravel()))


def solve_by_scipy(b, spectrum):
    import scipy.fft

    return scipy.fft.idstn(scipy.fft.dstn(b, 1, workers=2) / -spectrum, 1, workers=2)


def dst1_by_cupy(x, axis):
    import cupy

    n = x.shape[axis]
    shape = list(x.shape)
    shape[axis] = 2 * (n + 1)
    odd = cupy.zeros(shape, x.dtype)
    part = [slice(None)] * x.ndim
    part[axis] = slice(n + 2, None)
    odd[tuple(part)] = -cupy.flip(x, axis)
    part[axis] = slice(1, n + 1)
    odd[tuple(part)] = x
    return -cupy.fft.rfft(odd, axis=axis)[tuple(part)].imag


def solve_by_cupy(b, spectrum):
    for axis in range(b.ndim):
        b = dst1_by_cupy(b, axis)
    b = b / -spectrum
    for axis in range(b.ndim):
        b = dst1_by_cupy(b, axis) / (2 * (b.shape[axis] + 1))
    return b


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("package", choices=["scipy", "cupy"])
    parser.add_argument("--float", action="store_true", help="float in place of double")
    parser.add_argument("sizes", nargs="*", default=SIZES.split())
    arguments = parser.parse_intermixed_args()
    kind = numpy.float32 if arguments.float else numpy.float64
    if arguments.package == "cupy":
        import cupy as xp

        solve, wait = solve_by_cupy, xp.cuda.Device().synchronize
    else:
        xp, solve, wait = numpy, solve_by_scipy, lambda: None
    for size in arguments.sizes:
        shape = tuple(int(n) for n in size.split("x"))
        b = source_of(xp, shape, kind)
        spectrum = eigenvalues(xp, shape, kind)
        seconds = []
        for _ in range(12):
            wait()
            start = time.perf_counter()
            u = solve(b, spectrum)
            wait()
            seconds.append(time.perf_counter() - start)
        print(f"{arguments.package} {size}: {1e3 * statistics.median(seconds[1:]):.4g} ms, residual {residual(xp, b, u):.2g}", flush=True)


if __name__ == "__main__":
    main()
