"""CuPy: operations on arrays, or with --kernels the rows that gain by kernels of one's own."""

import sys

import cupy as cp

from rows import ITERATIONS, cube, line, main, matrix, pixels, row, rows_of_angles, unsorted

own_kernels = "--kernels" in sys.argv


def arrays(*names):
    return row(*names) if not own_kernels else lambda function: function


def kernels(*names):
    return row(*names) if own_kernels else lambda function: function


@arrays("x+=3")
def add_number(n):
    x = cp.zeros(n, cp.float32)
    return lambda: cp.add(x, 3, out=x)


@rows_of_angles(cp, arrays)
def cosine_and_sine(x):
    y, t = cp.empty_like(x), cp.empty_like(x)

    def statement():
        cp.cos(x, out=y)
        cp.square(y, out=y)
        cp.sin(x, out=t)
        cp.square(t, out=t)
        return cp.add(y, t, out=y)

    return statement


@rows_of_angles(cp, kernels)
def cosine_and_sine_kernel(x):
    y = cp.empty_like(x)
    kernel = cp.ElementwiseKernel(
        "float32 x", "float32 y", "float c = cosf(x), s = sinf(x); y = c * c + s * s", "cosine_and_sine"
    )
    return lambda: kernel(x, y)


@arrays("a+b")
def add_arrays(n):
    a, b = line(cp, 0, 1, n), line(cp, 1, 2, n)
    return lambda: a + b


@arrays("a+b,preallocated")
def add_arrays_in_place(n):
    a, b = line(cp, 0, 1, n), line(cp, 1, 2, n)
    c = cp.empty_like(a)
    return lambda: cp.add(a, b, out=c)


@arrays("selu")
def selu(n):
    x = line(cp, -3, 3, n)
    return lambda: 1.05 * cp.where(x > 0, x, 1.67 * cp.exp(x) - 1.67)


@kernels("selu")
def selu_kernel(n):
    x = line(cp, -3, 3, n)
    y = cp.empty_like(x)
    kernel = cp.ElementwiseKernel(
        "float32 x", "float32 y", "y = 1.05f * (x > 0 ? x : 1.67f * expf(x) - 1.67f)", "selu"
    )
    return lambda: kernel(x, y)


@arrays("chain")
def chain(n):
    a, b, c, d = (line(cp, i, i + 1, n, "float64") for i in range(4))
    y = cp.empty_like(a)

    def statement():
        cp.multiply(a, b, out=y)
        cp.add(y, c, out=y)
        cp.multiply(y, 0.5, out=y)
        cp.subtract(y, d, out=y)
        return cp.multiply(y, a, out=y)

    return statement


@kernels("chain")
def chain_kernel(n):
    a, b, c, d = (line(cp, i, i + 1, n, "float64") for i in range(4))
    y = cp.empty_like(a)
    kernel = cp.ElementwiseKernel(
        "float64 a, float64 b, float64 c, float64 d",
        "float64 y",
        "y = ((a * b + c) * 0.5 - d) * a",
        "chain",
    )
    return lambda: kernel(a, b, c, d, y)


@arrays("sum,array")
def sum_to_array(n):
    return line(cp, 0, 1, n).sum


@arrays("max,array")
def max_to_array(n):
    return line(cp, 0, 1, n).max


@arrays("any,array")
def any_to_array(n):
    x = line(cp, 0, 1, n)
    return lambda: (x > 2).any()


@kernels("any,array")
def any_to_array_kernel(n):
    x = line(cp, 0, 1, n)
    kernel = cp.ReductionKernel("float32 x", "bool y", "x > 2", "a || b", "y = a", "false", "any_of_all")
    return lambda: kernel(x)


def to_number(reduction):
    def prepare(n):
        to_array = reduction(n)
        return lambda: to_array().item()

    return prepare


arrays("sum")(to_number(sum_to_array))
arrays("max")(to_number(max_to_array))
arrays("any")(to_number(any_to_array))
kernels("any")(to_number(any_to_array_kernel))


@arrays("sort,float")
def sort(n):
    x = unsorted(cp, n)
    return lambda: cp.sort(x)


@arrays("argsort,float")
def sorting_indices(n):
    x = unsorted(cp, n)
    return lambda: cp.argsort(x)


@arrays("sort,rows,float")
def sort_rows(n):
    x = unsorted(cp, n).reshape(-1, 1024)
    return lambda: cp.sort(x)


@arrays("cumsum,float")
def cumulative_sum(n):
    x = line(cp, 0, 1, n)
    return lambda: cp.cumsum(x)


@arrays("uniform,float")
def uniform_numbers(n):
    cp.random.seed(1)
    return lambda: cp.random.random_sample(n, dtype=cp.float32)


@arrays("normal")
def normal_numbers(n):
    cp.random.seed(1)
    return lambda: cp.random.standard_normal(n, dtype=cp.float32)


@arrays("matmul,double")
def square(n):
    a = matrix(cp, n, n, "float64")
    b, c = a.copy(), cp.empty_like(a)
    return lambda: cp.matmul(a, b, out=c)


@arrays("matmul,double,new")
def new_square(n):
    a = matrix(cp, n, n, "float64")
    b = a.copy()
    return lambda: a @ b


@arrays("matmul,float")
def square_in_single(n):
    a = matrix(cp, n, n, "float32")
    b, c = a.copy(), cp.empty_like(a)
    return lambda: cp.matmul(a, b, out=c)


@arrays("x xT,float")
def by_own_transpose(n):
    x = matrix(cp, n, n, "float32")
    return lambda: x @ x.T


@arrays("matvec,float")
def many_vectors(k):
    x, w = matrix(cp, k, 100, "float32"), matrix(cp, 150, 100, "float32")
    return lambda: x @ w.T


@arrays("mandelbrot,arrays")
def mandelbrot_arrays(n):
    x, y = pixels(cp, n)
    c = (x + 1j * y).astype(cp.complex64)

    def statement():
        z, counts = cp.zeros_like(c), cp.zeros(c.shape, cp.int32)
        for _ in range(ITERATIONS):
            small = z.real * z.real + z.imag * z.imag <= 4
            z = cp.where(small, z * z + c, z)
            counts += small
        return counts

    return statement


@kernels("mandelbrot")
def mandelbrot_kernel(n):
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
    counts = cp.zeros((n, n), cp.int32)
    threads = (32, 4)
    blocks = (-(-n // threads[0]), -(-n // threads[1]))

    def statement():
        kernel(blocks, threads, (counts, n, ITERATIONS))
        return counts

    return statement


@arrays("jacobi,statement")
def jacobi(m, n):
    b = cp.ones((m, n), cp.float32)
    u, v = cp.zeros((m + 2, n + 2), cp.float32), cp.zeros((m + 2, n + 2), cp.float32)

    def statement():
        nonlocal u, v
        inside = v[1:-1, 1:-1]
        cp.add(u[:-2, 1:-1], u[2:, 1:-1], out=inside)
        cp.add(inside, u[1:-1, :-2], out=inside)
        cp.add(inside, u[1:-1, 2:], out=inside)
        cp.subtract(inside, b, out=inside)
        cp.multiply(inside, 0.25, out=inside)
        u, v = v, u
        return u

    return statement


@kernels("jacobi,statement")
def jacobi_kernel(m, n):
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
    b = cp.ones((m, n), cp.float32)
    u, v = cp.zeros((m + 2, n + 2), cp.float32), cp.zeros((m + 2, n + 2), cp.float32)
    threads = (32, 8)
    blocks = (-(-n // threads[0]), -(-m // threads[1]))

    def statement():
        nonlocal u, v
        kernel(blocks, threads, (u, v, b, m, n))
        u, v = v, u
        return u

    return statement


def transform(dtype):
    def prepare(n):
        x = cube(cp, n, dtype)
        return lambda: cp.fft.rfftn(x)

    return prepare


arrays("r2c,float")(transform("float32"))
arrays("r2c,double")(transform("float64"))


@arrays("c2r,float")
def transform_back(n):
    y = cp.fft.rfftn(cube(cp, n, "float32"))
    return lambda: cp.fft.irfftn(y, (n, n, n), axes=(0, 1, 2), norm="forward")


if not cp.cuda.is_available():
    raise ImportError("no CUDA device")
main(
    "cupy-kernels" if own_kernels else "cupy",
    cp.__version__,
    cp.cuda.runtime.getDeviceProperties(0)["name"].decode(),
    lambda result: cp.cuda.Device().synchronize(),
    cp.asnumpy,
)
