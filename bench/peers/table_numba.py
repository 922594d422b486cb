"""Numba on the CPU: loops compiled with fastmath, shared by all threads, or on one with --serial."""

import sys

import numba
import numpy as np
from numba import prange

import job
from rows import ITERATIONS, main, row

parallel = "--serial" not in sys.argv
compiled = numba.njit(parallel=parallel, fastmath=True)  # prange is range without parallel
real = np.float32


def called(function):
    """A row that calls a function of its arrays."""
    compiled_function = compiled(function)
    return lambda *arrays: lambda: compiled_function(*arrays)


def mapped(function):
    """The same with an array for the result, like the first one, as the last argument."""
    compiled_function = compiled(function)

    def prepare(*arrays):
        result = np.zeros_like(arrays[0])
        return lambda: compiled_function(*arrays, result)

    return prepare


def add_number(x):
    for i in prange(x.size):
        x[i] += real(3)
    return x


def cosine_and_sine(x, y):
    for i in prange(x.size):
        y[i] = np.cos(x[i]) ** 2 + np.sin(x[i]) ** 2
    return y


def add_arrays(a, b):
    c = np.empty_like(a)
    for i in prange(a.size):
        c[i] = a[i] + b[i]
    return c


def add_arrays_in_place(a, b, c):
    for i in prange(a.size):
        c[i] = a[i] + b[i]
    return c


def selu(x, y):
    for i in prange(x.size):
        negative = real(1.67) * np.exp(x[i]) - real(1.67)
        y[i] = real(1.05) * (x[i] if x[i] > real(0) else negative)
    return y


def chain(a, b, c, d, y):
    for i in prange(a.size):
        y[i] = ((a[i] * b[i] + c[i]) * 0.5 - d[i]) * a[i]
    return y


def sum_all(x):
    total = 0.0  # in double: one float would stop growing
    for i in prange(x.size):
        total += x[i]
    return total


def max_all(x):
    largest = x[0]
    for i in prange(x.size):
        largest = max(largest, x[i])
    return largest


def any_of_all(x):
    hits = 0  # a loop that counts vectorises, one that may stop early doesn't
    for i in prange(x.size):
        hits += x[i] > real(2)
    return hits > 0


def normal_numbers(x):
    for i in prange(x.size):  # each thread has a generator of its own
        x[i] = np.random.standard_normal()
    return x


row("x+=3")(called(add_number))
row("cos2+sin2,0..100", "cos2+sin2,arange")(mapped(cosine_and_sine))
row("a+b")(called(add_arrays))
row("a+b,preallocated")(mapped(add_arrays_in_place))
row("selu")(mapped(selu))
row("chain")(mapped(chain))
row("sum")(called(sum_all))
row("max")(called(max_all))
row("any")(called(any_of_all))
row("normal")(called(normal_numbers))


@compiled
def mandelbrot(counts):
    n = counts.shape[0]
    width = real(3) / real(n)
    for i in prange(n):
        y = real(1.5) - (real(i) + real(0.5)) * width
        for j in range(n):
            x = (real(j) + real(0.5)) * width - real(2)
            re = im = real(0)
            count = 0
            while count < ITERATIONS:
                re2, im2 = re * re, im * im
                if re2 + im2 > real(4):
                    break
                im = (re + re) * im + y
                re = re2 - im2 + x
                count += 1
            counts[i, j] = count
    return counts


@row("mandelbrot")
def mandelbrot_row(c):
    counts = np.zeros(c.shape, np.int32)
    return lambda: mandelbrot(counts)


@compiled
def sweep(b, u, v):
    for i in prange(b.shape[0]):
        for j in range(b.shape[1]):
            v[i + 1, j + 1] = real(0.25) * (
                u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2] - b[i, j]
            )


@numba.njit
def make_sweeps(b, u, v, count):
    for _ in range(count):
        sweep(b, u, v)
        u, v = v, u
    return u


row("jacobi,loop")(lambda b, u, v: lambda count: make_sweeps(b, u, v, count))


@row("jacobi,statement")
def jacobi(b, u, v):
    def statement():
        nonlocal u, v
        sweep(b, u, v)
        u, v = v, u
        return u

    return statement


main("numba-parallel" if parallel else "numba-serial", numba.__version__, job.cpu_name())
