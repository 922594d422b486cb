"""CuPy: operations on arrays, or with --kernels the rows that gain by kernels of one's own."""

import sys

import cupy as cp

from rows import ITERATIONS, main, row
from whole_arrays import add_rows, to_number

if not cp.cuda.is_available():
    raise ImportError("no CUDA device")
own_kernels = "--kernels" in sys.argv


def add_kernels():
    @row("cos2+sin2,0..100", "cos2+sin2,arange")
    def cosine_and_sine(x):
        y = cp.empty_like(x)
        kernel = cp.ElementwiseKernel(
            "float32 x", "float32 y", "float c = cosf(x), s = sinf(x); y = c * c + s * s", "cosine_and_sine"
        )
        return lambda: kernel(x, y)

    @row("selu")
    def selu(x):
        y = cp.empty_like(x)
        kernel = cp.ElementwiseKernel(
            "float32 x", "float32 y", "y = 1.05f * (x > 0 ? x : 1.67f * expf(x) - 1.67f)", "selu"
        )
        return lambda: kernel(x, y)

    @row("chain")
    def chain(a, b, c, d):
        y = cp.empty_like(a)
        kernel = cp.ElementwiseKernel(
            "float64 a, float64 b, float64 c, float64 d",
            "float64 y",
            "y = ((a * b + c) * 0.5 - d) * a",
            "chain",
        )
        return lambda: kernel(a, b, c, d, y)

    @row("any,array")
    def any_to_array(x):
        kernel = cp.ReductionKernel("float32 x", "bool y", "x > 2", "a || b", "y = a", "false", "any_of_all")
        return lambda: kernel(x)

    row("any")(to_number(any_to_array))

    @row("mandelbrot")
    def mandelbrot(c):
        kernel = cp.RawKernel(
            r"""
extern "C" __global__ void mandelbrot(int* counts, int n, int iterations) {
  int const j = blockIdx.x * blockDim.x + threadIdx.x;
  int const i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  float const width = 3.0f / n, x = (j + 0.5f) * width - 2, y = 1.5f - (i + 0.5f) * width;
  float re = 0, im = 0;
  int count = 0;
  for (; count < iterations; ++count) {
    float const re2 = re * re, im2 = im * im;
    if (re2 + im2 > 4) break;
    im = (re + re) * im + y;
    re = re2 - im2 + x;
  }
  counts[(size_t)i * n + j] = count;
}
""",
            "mandelbrot",
        )
        n = c.shape[0]
        counts = cp.zeros((n, n), cp.int32)
        threads = (32, 4)
        blocks = (-(-n // threads[0]), -(-n // threads[1]))

        def statement():
            kernel(blocks, threads, (counts, n, ITERATIONS))
            return counts

        return statement

    @row("jacobi,statement")
    def jacobi(b, u, v):
        kernel = cp.RawKernel(
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
        m, n = b.shape
        threads = (32, 8)
        blocks = (-(-n // threads[0]), -(-m // threads[1]))
        to, back = (u, v, b, m, n), (v, u, b, m, n)

        def statement():
            nonlocal to, back
            kernel(blocks, threads, to)
            to, back = back, to
            return to[0]

        return statement


def add_arrays():
    add_rows(cp, row, cp.sort, is_device=True)

    @row("uniform,float")
    def uniform_numbers(x):
        cp.random.seed(1)
        return lambda: cp.random.random_sample(x.size, dtype=cp.float32)

    @row("normal")
    def normal_numbers(x):
        cp.random.seed(1)
        return lambda: cp.random.standard_normal(x.size, dtype=cp.float32)


add_kernels() if own_kernels else add_arrays()
main(
    "cupy-kernels" if own_kernels else "cupy",
    cp.__version__,
    cp.cuda.runtime.getDeviceProperties(0)["name"].decode(),
    cp.asarray,
    lambda result: cp.cuda.Device().synchronize(),
    cp.asnumpy,
)
