#!/usr/bin/env python3
"""Poisson's equation by sine transforms, in SciPy's or CuPy's ten lines: what poisson_direct_bench does.

    python3 bench/peers/direct.py scipy|cupy [--float] [SIDExSIDE ...]

Prints the median of eleven solves from a source to the solution. SciPy transforms with two workers. CuPy has no sine transform of type 1:
each axis is extended oddly, and transformed by rfft.
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
    arguments = parser.parse_args()
    kind = numpy.float32 if arguments.float else numpy.float64
    if arguments.package == "cupy":
        import cupy as xp

        solve, wait = solve_by_cupy, xp.cuda.Device().synchronize
    else:
        xp, solve, wait = numpy, solve_by_scipy, lambda: None
    for size in arguments.sizes:
        shape = tuple(int(n) for n in size.split("x"))
        b = xp.asarray(numpy.random.default_rng(1).random(shape).astype(kind) - kind(0.5))
        spectrum = eigenvalues(xp, shape, kind)
        seconds = []
        for _ in range(12):
            wait()
            start = time.perf_counter()
            solve(b, spectrum)
            wait()
            seconds.append(time.perf_counter() - start)
        print(f"{arguments.package} {size}: {1e3 * statistics.median(seconds[1:]):.4g} ms", flush=True)


if __name__ == "__main__":
    main()
