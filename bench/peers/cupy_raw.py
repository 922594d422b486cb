"""CuPy with a kernel in CUDA C: one thread a cell, one launch a sweep."""

import time

import cupy as cp

import job

sweep = cp.RawKernel(
    r"""
extern "C" __global__ void sweep(float const* __restrict__ u, float* __restrict__ v,
                                 float const* __restrict__ b, int rows, int columns) {
  int const j = blockIdx.x * blockDim.x + threadIdx.x;
  int const i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= rows || j >= columns) return;
  size_t const width = columns + 2;
  size_t const at = (i + 1) * width + j + 1;
  v[at] = 0.25f * ((((u[at - width] + u[at + width]) + u[at - 1]) + u[at + 1])
                   - b[i * (size_t)columns + j]);
}
""",
    "sweep",
)


def solve(source, sweeps):
    rows, columns = source.shape
    b = cp.asarray(source)
    u = cp.pad(b, 1)
    v = cp.zeros_like(u)
    threads = (32, 8)
    blocks = (-(-columns // threads[0]), -(-rows // threads[1]))
    forth = (u, v, b, rows, columns)
    back = (v, u, b, rows, columns)
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    for _ in range(sweeps):
        sweep(blocks, threads, forth)
        forth, back = back, forth
    cp.cuda.Device().synchronize()
    seconds = time.perf_counter() - start
    return cp.asnumpy(forth[0][1:-1, 1:-1]), seconds


if not cp.cuda.is_available():
    raise ImportError("no CUDA device")
device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
job.main("cupy-raw", cp.__version__, "CUDA", device, None, solve)
