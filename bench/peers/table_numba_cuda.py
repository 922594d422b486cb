"""Numba for CUDA: compiled kernels, one launch a statement."""

import math

import numba
import numpy as np
from numba import cuda

from rows import ITERATIONS, main, row

if not cuda.is_available():
    raise ImportError("no CUDA device")
real = np.float32
THREADS = 256
compiled = cuda.jit(fastmath=True)


def blocks_for(n):
    return -(-n // THREADS)


def mapped(function):
    """A row whose kernel writes an array like the first one, its last argument."""
    kernel = compiled(function)

    def prepare(*arrays):
        result = cuda.device_array_like(arrays[0])
        launch = kernel[blocks_for(result.size), THREADS]

        def statement():
            launch(*arrays, result)
            return result

        return statement

    return prepare


@compiled
def add_number(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += real(3)


@row("x+=3")
def add_number_row(x):
    launch = add_number[blocks_for(x.size), THREADS]

    def statement():
        launch(x)
        return x

    return statement


def cosine_and_sine(x, y):
    i = cuda.grid(1)
    if i < x.size:
        c, s = math.cos(x[i]), math.sin(x[i])
        y[i] = c * c + s * s


def selu(x, y):
    i = cuda.grid(1)
    if i < x.size:
        negative = real(1.67) * math.exp(x[i]) - real(1.67)
        y[i] = real(1.05) * (x[i] if x[i] > real(0) else negative)


def add_arrays(a, b, c):
    i = cuda.grid(1)
    if i < a.size:
        c[i] = a[i] + b[i]


def chain(a, b, c, d, y):
    i = cuda.grid(1)
    if i < a.size:
        y[i] = ((a[i] * b[i] + c[i]) * 0.5 - d[i]) * a[i]


row("cos2+sin2,0..100", "cos2+sin2,arange")(mapped(cosine_and_sine))
row("selu")(mapped(selu))
row("a+b,preallocated")(mapped(add_arrays))
row("chain")(mapped(chain))


@row("a+b")
def add_arrays_row(a, b):
    launch = compiled(add_arrays)[blocks_for(a.size), THREADS]

    def statement():
        c = cuda.device_array_like(a)
        launch(a, b, c)
        return c

    return statement


# Reductions: each thread goes through the array in strides of the grid, the threads of a block join in
# shared memory, and the blocks by an atomic.


@compiled
def sum_all(x, result):
    partial = cuda.shared.array(THREADS, numba.float64)
    thread = cuda.threadIdx.x
    mine = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        mine += x[i]
    partial[thread] = mine
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if thread < step:
            partial[thread] += partial[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        cuda.atomic.add(result, 0, partial[0])


@compiled
def max_all(x, result):
    partial = cuda.shared.array(THREADS, numba.float32)
    thread = cuda.threadIdx.x
    mine = x[0]
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        mine = max(mine, x[i])
    partial[thread] = mine
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if thread < step:
            partial[thread] = max(partial[thread], partial[thread + step])
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        cuda.atomic.max(result, 0, partial[0])


@compiled
def any_of_all(x, result):
    found = False
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        found |= x[i] > real(2)
    if found:
        result[0] = 1  # whoever writes writes the same


def reduced(kernel, dtype, start, to_number):
    def prepare(x):
        first = cuda.to_device(np.full(1, start, dtype))
        result = cuda.device_array_like(first)
        # Enough blocks to fill any device, not more.
        launch = kernel[min(blocks_for(x.size), 2048), THREADS]

        def statement():
            result.copy_to_device(first)
            launch(x, result)
            return result.copy_to_host()[0] if to_number else result

        return statement

    return prepare


for suffix, to_number in {"": True, ",array": False}.items():
    row("sum" + suffix)(reduced(sum_all, np.float64, 0, to_number))
    row("max" + suffix)(reduced(max_all, np.float32, -np.inf, to_number))
    row("any" + suffix)(reduced(any_of_all, np.int32, 0, to_number))


@compiled
def mandelbrot(counts):
    j, i = cuda.grid(2)
    n = counts.shape[0]
    if i < n and j < n:
        width = real(3) / real(n)
        x = (real(j) + real(0.5)) * width - real(2)
        y = real(1.5) - (real(i) + real(0.5)) * width
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


@row("mandelbrot")
def mandelbrot_row(c):
    n = c.shape[0]
    counts = cuda.device_array((n, n), np.int32)
    launch = mandelbrot[(-(-n // 32), -(-n // 4)), (32, 4)]

    def statement():
        launch(counts)
        return counts

    return statement


@compiled
def jacobi(u, v, b):
    j, i = cuda.grid(2)
    if i < b.shape[0] and j < b.shape[1]:
        v[i + 1, j + 1] = real(0.25) * (
            u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2] - b[i, j]
        )


@row("jacobi,statement")
def jacobi_row(b, u, v):
    m, n = b.shape
    launch = jacobi[(-(-n // 32), -(-m // 8)), (32, 8)]

    def statement():
        nonlocal u, v
        launch(u, v, b)
        u, v = v, u
        return u

    return statement


def to_host(result):
    if isinstance(result, np.generic):
        return result
    result = result.copy_to_host()
    return result[0] if result.shape == (1,) else result


name = cuda.get_current_device().name
main(
    "numba-cuda",
    numba.__version__,
    name.decode() if isinstance(name, bytes) else name,
    cuda.to_device,
    lambda result: cuda.synchronize(),
    to_host,
)
