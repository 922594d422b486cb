"""NumPy: whole-array operations, into existing arrays where the row allows it."""

import numpy as np

import job
from rows import ITERATIONS, cube, line, main, matrix, pixels, row, rows_of_angles, unsorted


@row("x+=3")
def add_number(n):
    x = np.zeros(n, np.float32)
    return lambda: np.add(x, 3, out=x)


@rows_of_angles(np)
def cosine_and_sine(x):
    y, t = np.empty_like(x), np.empty_like(x)

    def statement():
        np.cos(x, out=y)
        np.square(y, out=y)
        np.sin(x, out=t)
        np.square(t, out=t)
        return np.add(y, t, out=y)

    return statement


@row("a+b")
def add_arrays(n):
    a, b = line(np, 0, 1, n), line(np, 1, 2, n)
    return lambda: a + b


@row("a+b,preallocated")
def add_arrays_in_place(n):
    a, b = line(np, 0, 1, n), line(np, 1, 2, n)
    c = np.empty_like(a)
    return lambda: np.add(a, b, out=c)


@row("selu")
def selu(n):
    x = line(np, -3, 3, n)
    y, positive = np.empty_like(x), np.empty(n, bool)

    def statement():
        np.exp(x, out=y)
        np.multiply(y, 1.67, out=y)
        np.subtract(y, 1.67, out=y)
        np.greater(x, 0, out=positive)
        np.copyto(y, x, where=positive)
        return np.multiply(y, 1.05, out=y)

    return statement


@row("chain")
def chain(n):
    a, b, c, d = (line(np, i, i + 1, n, "float64") for i in range(4))
    y = np.empty_like(a)

    def statement():
        np.multiply(a, b, out=y)
        np.add(y, c, out=y)
        np.multiply(y, 0.5, out=y)
        np.subtract(y, d, out=y)
        return np.multiply(y, a, out=y)

    return statement


@row("sum")
def sum_all(n):
    return line(np, 0, 1, n).sum


@row("max")
def max_all(n):
    return line(np, 0, 1, n).max


@row("any")
def any_of_all(n):
    x = line(np, 0, 1, n)
    mask = np.empty(n, bool)
    return lambda: np.greater(x, 2, out=mask).any()


@row("sort,float")
def sort(n):
    x = unsorted(np, n)
    return lambda: np.sort(x)


@row("argsort,float")
def sorting_indices(n):
    x = unsorted(np, n)
    return lambda: np.argsort(x)


@row("sort,rows,float")
def sort_rows(n):
    x = unsorted(np, n).reshape(-1, 1024)
    return lambda: np.sort(x)


@row("cumsum,float")
def cumulative_sum(n):
    x = line(np, 0, 1, n)
    return lambda: np.cumsum(x)


@row("uniform,float")
def uniform_numbers(n):
    x = np.empty(n, np.float32)
    generator = np.random.default_rng(1)
    return lambda: generator.random(dtype=np.float32, out=x)


@row("normal")
def normal_numbers(n):
    x = np.empty(n, np.float32)
    generator = np.random.default_rng(1)
    return lambda: generator.standard_normal(dtype=np.float32, out=x)


@row("matmul,double")
def square(n):
    a = matrix(np, n, n, "float64")
    b, c = a.copy(), np.empty_like(a)
    return lambda: np.matmul(a, b, out=c)


@row("matmul,double,new")
def new_square(n):
    a = matrix(np, n, n, "float64")
    b = a.copy()
    return lambda: a @ b


@row("matmul,float")
def square_in_single(n):
    a = matrix(np, n, n, "float32")
    b, c = a.copy(), np.empty_like(a)
    return lambda: np.matmul(a, b, out=c)


@row("x xT,float")
def by_own_transpose(n):
    x = matrix(np, n, n, "float32")
    return lambda: x @ x.T


@row("matvec,float")
def many_vectors(k):
    x, w = matrix(np, k, 100, "float32"), matrix(np, 150, 100, "float32")
    return lambda: x @ w.T


@row("mandelbrot")
def mandelbrot(n):
    x, y = pixels(np, n)
    c = (x + 1j * y).astype(np.complex64).ravel()

    def statement():
        counts = np.full(n * n, ITERATIONS, np.int32)
        at, here, z = np.arange(n * n), c, np.zeros_like(c)
        for step in range(ITERATIONS):  # on the pixels that are still there
            inside = z.real * z.real + z.imag * z.imag <= 4
            if not inside.all():
                counts[at[~inside]] = step
                at, here, z = at[inside], here[inside], z[inside]
            np.multiply(z, z, out=z)
            np.add(z, here, out=z)
        return counts.reshape(n, n)

    return statement


@row("mandelbrot,arrays")
def mandelbrot_arrays(n):
    x, y = pixels(np, n)
    c = (x + 1j * y).astype(np.complex64)

    def statement():
        z, counts = np.zeros_like(c), np.zeros(c.shape, np.int32)
        for _ in range(ITERATIONS):
            small = z.real * z.real + z.imag * z.imag <= 4
            np.multiply(z, z, out=z, where=small)
            np.add(z, c, out=z, where=small)
            np.add(counts, small, out=counts)
        return counts

    return statement


@row("jacobi,statement")
def jacobi(m, n):
    b = np.ones((m, n), np.float32)
    u, v = np.zeros((m + 2, n + 2), np.float32), np.zeros((m + 2, n + 2), np.float32)

    def statement():
        nonlocal u, v
        inside = v[1:-1, 1:-1]
        np.add(u[:-2, 1:-1], u[2:, 1:-1], out=inside)
        np.add(inside, u[1:-1, :-2], out=inside)
        np.add(inside, u[1:-1, 2:], out=inside)
        np.subtract(inside, b, out=inside)
        np.multiply(inside, 0.25, out=inside)
        u, v = v, u
        return u

    return statement


def transform(dtype):
    def prepare(n):
        x = cube(np, n, dtype)
        return lambda: np.fft.rfftn(x)

    return prepare


row("r2c,double")(transform("float64"))
if int(np.__version__.split(".")[0]) >= 2:  # before, transforms were in double whatever they were given
    row("r2c,float")(transform("float32"))

    @row("c2r,float")
    def transform_back(n):
        y = np.fft.rfftn(cube(np, n, "float32"))
        return lambda: np.fft.irfftn(y, (n, n, n), axes=(0, 1, 2), norm="forward")


main("numpy", np.__version__, job.cpu_name())
