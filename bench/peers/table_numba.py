"""Numba on the CPU: loops compiled with fastmath, shared by all threads, or on one with --serial."""

import sys

import numba
import numpy as np
from numba import prange

import job
from rows import ITERATIONS, line, main, row, rows_of_angles

parallel = "--serial" not in sys.argv
compiled = numba.njit(parallel=parallel, fastmath=True)  # prange is range without parallel
real = np.float32


@compiled
def add_number(x):
    for i in prange(x.size):
        x[i] += real(3)
    return x


@row("x+=3")
def add_number_row(n):
    x = np.zeros(n, real)
    return lambda: add_number(x)


@compiled
def cosine_and_sine(x, y):
    for i in prange(x.size):
        y[i] = np.cos(x[i]) ** 2 + np.sin(x[i]) ** 2
    return y


@rows_of_angles(np)
def cosine_and_sine_row(x):
    y = np.zeros_like(x)
    return lambda: cosine_and_sine(x, y)


@compiled
def add_arrays(a, b):
    c = np.empty_like(a)
    for i in prange(a.size):
        c[i] = a[i] + b[i]
    return c


@row("a+b")
def add_arrays_row(n):
    a, b = line(np, 0, 1, n), line(np, 1, 2, n)
    return lambda: add_arrays(a, b)


@compiled
def add_arrays_in_place(a, b, c):
    for i in prange(a.size):
        c[i] = a[i] + b[i]
    return c


@row("a+b,preallocated")
def add_arrays_in_place_row(n):
    a, b = line(np, 0, 1, n), line(np, 1, 2, n)
    c = np.zeros_like(a)
    return lambda: add_arrays_in_place(a, b, c)


@compiled
def selu(x, y):
    for i in prange(x.size):
        negative = real(1.67) * np.exp(x[i]) - real(1.67)
        y[i] = real(1.05) * (x[i] if x[i] > real(0) else negative)
    return y


@row("selu")
def selu_row(n):
    x = line(np, -3, 3, n)
    y = np.zeros_like(x)
    return lambda: selu(x, y)


@compiled
def chain(a, b, c, d, y):
    for i in prange(a.size):
        y[i] = ((a[i] * b[i] + c[i]) * 0.5 - d[i]) * a[i]
    return y


@row("chain")
def chain_row(n):
    a, b, c, d = (line(np, i, i + 1, n, "float64") for i in range(4))
    y = np.zeros_like(a)
    return lambda: chain(a, b, c, d, y)


@compiled
def sum_all(x):
    total = 0.0  # in double: one float would stop growing
    for i in prange(x.size):
        total += x[i]
    return total


@row("sum")
def sum_row(n):
    x = line(np, 0, 1, n)
    return lambda: sum_all(x)


@compiled
def max_all(x):
    largest = x[0]
    for i in prange(x.size):
        largest = max(largest, x[i])
    return largest


@row("max")
def max_row(n):
    x = line(np, 0, 1, n)
    return lambda: max_all(x)


@compiled
def any_of_all(x):
    hits = 0  # a loop that counts vectorises, one that may stop early doesn't
    for i in prange(x.size):
        hits += x[i] > real(2)
    return hits > 0


@row("any")
def any_row(n):
    x = line(np, 0, 1, n)
    return lambda: any_of_all(x)


@compiled
def normal_numbers(x):
    for i in prange(x.size):  # each thread has a generator of its own
        x[i] = np.random.standard_normal()
    return x


@row("normal")
def normal_row(n):
    x = np.zeros(n, real)
    return lambda: normal_numbers(x)


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
def mandelbrot_row(n):
    counts = np.zeros((n, n), np.int32)
    return lambda: mandelbrot(counts)


@compiled
def jacobi(u, v, b):
    for i in prange(b.shape[0]):
        for j in range(b.shape[1]):
            v[i + 1, j + 1] = real(0.25) * (
                u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2] - b[i, j]
            )


@row("jacobi,statement")
def jacobi_row(m, n):
    b = np.ones((m, n), real)
    u, v = np.zeros((m + 2, n + 2), real), np.zeros((m + 2, n + 2), real)

    def statement():
        nonlocal u, v
        jacobi(u, v, b)
        u, v = v, u
        return u

    return statement


main("numba-parallel" if parallel else "numba-serial", numba.__version__, job.cpu_name())
