"""Numba for CUDA: one thread a cell, one launch a sweep."""

import time

import numba
import numpy as np
from numba import cuda

import job


@cuda.jit
def sweep(u, v, b):
    j, i = cuda.grid(2)
    if i < b.shape[0] and j < b.shape[1]:
        v[i + 1, j + 1] = np.float32(0.25) * (
            u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2] - b[i, j]
        )


def solve(source, sweeps):
    u = cuda.to_device(np.pad(source, 1))
    v = cuda.to_device(np.zeros((source.shape[0] + 2, source.shape[1] + 2), np.float32))
    b = cuda.to_device(source)
    threads = (32, 8)
    blocks = (-(-source.shape[1] // threads[0]), -(-source.shape[0] // threads[1]))
    launch = sweep[blocks, threads]
    cuda.synchronize()
    start = time.perf_counter()
    for _ in range(sweeps):
        launch(u, v, b)
        u, v = v, u
    cuda.synchronize()
    seconds = time.perf_counter() - start
    return u.copy_to_host()[1:-1, 1:-1], seconds


if not cuda.is_available():
    raise ImportError("no CUDA device")
name = cuda.get_current_device().name
job.main(
    "numba-cuda", numba.__version__, "CUDA", name.decode() if isinstance(name, bytes) else name, None, solve
)
