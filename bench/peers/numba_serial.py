"""Numba on one thread: loops compiled with fastmath, so that they vectorise."""

import time

import numba
import numpy as np

import job


@numba.njit(fastmath=True)
def sweep(u, v, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            v[i + 1, j + 1] = np.float32(0.25) * (
                u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2] - b[i, j]
            )


@numba.njit
def make_sweeps(u, v, b, count):
    for _ in range(count):
        sweep(u, v, b)
        u, v = v, u
    return u


def solve(source, sweeps):
    u = np.pad(source, 1)
    v = np.zeros_like(u)
    start = time.perf_counter()
    u = make_sweeps(u, v, source, sweeps)
    return u[1:-1, 1:-1], time.perf_counter() - start


job.main("numba-serial", numba.__version__, "Numba", job.cpu_name(), 1, solve)
