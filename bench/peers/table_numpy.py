"""NumPy: whole-array operations, into existing arrays where the row allows it."""

import numpy as np

import job
from rows import ITERATIONS, functions, main, row
from whole_arrays import add_rows

add_rows(np, row, np.sort, is_device=False)
if int(np.__version__.split(".")[0]) < 2:  # transforms are in double whatever they are given
    del functions["r2c,float"], functions["c2r,float"]


@row("selu")
def selu(x):
    y, positive = np.empty_like(x), np.empty(x.size, bool)

    def statement():
        np.exp(x, out=y)
        np.multiply(y, 1.67, out=y)
        np.subtract(y, 1.67, out=y)
        np.greater(x, 0, out=positive)
        np.copyto(y, x, where=positive)
        return np.multiply(y, 1.05, out=y)

    return statement


@row("any")
def any_of_all(x):
    mask = np.empty(x.size, bool)
    return lambda: np.greater(x, 2, out=mask).any()


@row("uniform,float")
def uniform_numbers(x):
    generator = np.random.default_rng(1)
    return lambda: generator.random(dtype=np.float32, out=x)


@row("normal")
def normal_numbers(x):
    generator = np.random.default_rng(1)
    return lambda: generator.standard_normal(dtype=np.float32, out=x)


@row("mandelbrot")
def mandelbrot(c):
    def statement():
        counts = np.full(c.size, ITERATIONS, np.int32)
        at, here, z = np.arange(c.size), c.ravel(), np.zeros(c.size, c.dtype)
        for step in range(ITERATIONS):  # on the pixels that are still there
            inside = z.real * z.real + z.imag * z.imag <= 4
            if not inside.all():
                counts[at[~inside]] = step
                at, here, z = at[inside], here[inside], z[inside]
            np.multiply(z, z, out=z)
            np.add(z, here, out=z)
        return counts.reshape(c.shape)

    return statement


@row("mandelbrot,arrays")
def mandelbrot_arrays(c):
    def statement():
        z, counts = np.zeros_like(c), np.zeros(c.shape, np.int32)
        for _ in range(ITERATIONS):
            small = z.real * z.real + z.imag * z.imag <= 4
            np.multiply(z, z, out=z, where=small)
            np.add(z, c, out=z, where=small)
            np.add(counts, small, out=counts)
        return counts

    return statement


main("numpy", np.__version__, job.cpu_name())
