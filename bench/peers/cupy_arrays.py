"""CuPy: the same array expressions as NumPy's, on the device."""

import time

import cupy as cp

import job


def sweep(u, v, b):
    inside = v[1:-1, 1:-1]
    cp.add(u[:-2, 1:-1], u[2:, 1:-1], out=inside)
    cp.add(inside, u[1:-1, :-2], out=inside)
    cp.add(inside, u[1:-1, 2:], out=inside)
    cp.subtract(inside, b, out=inside)
    cp.multiply(inside, cp.float32(0.25), out=inside)


def solve(source, sweeps):
    b = cp.asarray(source)
    u = cp.pad(b, 1)
    v = cp.zeros_like(u)
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    for _ in range(sweeps):
        sweep(u, v, b)
        u, v = v, u
    cp.cuda.Device().synchronize()
    seconds = time.perf_counter() - start
    return cp.asnumpy(u[1:-1, 1:-1]), seconds


if not cp.cuda.is_available():
    raise ImportError("no CUDA device")
device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
job.main("cupy-arrays", cp.__version__, "CUDA", device, None, solve)
