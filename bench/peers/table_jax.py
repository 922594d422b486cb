"""JAX: compiled functions, on whatever device JAX prefers. What a row overwrites is donated."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import job
from rows import ITERATIONS, cube, line, main, matrix, pixels, row, rows_of_angles, unsorted

jax.config.update("jax_enable_x64", True)  # for the rows in double
jax.config.update("jax_default_matmul_precision", "highest")  # float32 products in float32


@row("x+=3")
def add_number(n):
    @functools.partial(jax.jit, donate_argnums=0)
    def add(x):
        return x + 3

    x = jnp.zeros(n, jnp.float32)

    def statement():
        nonlocal x
        x = add(x)
        return x

    return statement


@rows_of_angles(jnp)
def cosine_and_sine(x):
    add = jax.jit(lambda x: jnp.cos(x) ** 2 + jnp.sin(x) ** 2)
    return lambda: add(x)


@row("a+b")
def add_arrays(n):
    a, b = line(jnp, 0, 1, n), line(jnp, 1, 2, n)
    add = jax.jit(jnp.add)
    return lambda: add(a, b)


@row("selu")
def selu(n):
    x = line(jnp, -3, 3, n)
    compute = jax.jit(lambda x: 1.05 * jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67))
    return lambda: compute(x)


@row("chain")
def chain(n):
    arrays = [line(jnp, i, i + 1, n, "float64") for i in range(4)]
    compute = jax.jit(lambda a, b, c, d: ((a * b + c) * 0.5 - d) * a)
    return lambda: compute(*arrays)


def reduction(function):
    compute = jax.jit(function)

    def to_array(n):
        x = line(jnp, 0, 1, n)
        return lambda: compute(x)

    def to_number(n):
        x = line(jnp, 0, 1, n)
        return lambda: compute(x).item()

    return to_array, to_number


for name, function in {"sum": jnp.sum, "max": jnp.max, "any": lambda x: jnp.any(x > 2)}.items():
    to_array, to_number = reduction(function)
    row(f"{name},array")(to_array)
    row(name)(to_number)


def compiled(function, prepare):
    """A row that applies a function to what is made for a size."""
    compute = jax.jit(function)

    def for_size(n):
        x = prepare(n)
        return lambda: compute(x)

    return for_size


row("sort,float")(compiled(jnp.sort, lambda n: unsorted(jnp, n)))
row("argsort,float")(compiled(jnp.argsort, lambda n: unsorted(jnp, n)))
row("sort,rows,float")(compiled(jnp.sort, lambda n: unsorted(jnp, n).reshape(-1, 1024)))
row("cumsum,float")(compiled(jnp.cumsum, lambda n: line(jnp, 0, 1, n)))
row("r2c,float")(compiled(jnp.fft.rfftn, lambda n: cube(jnp, n, "float32")))
row("r2c,double")(compiled(jnp.fft.rfftn, lambda n: cube(jnp, n, "float64")))


@row("c2r,float")
def transform_back(n):
    y = jnp.fft.rfftn(cube(jnp, n, "float32"))
    compute = jax.jit(lambda y: jnp.fft.irfftn(y, (n, n, n), norm="forward"))
    return lambda: compute(y)


@row("uniform,float")
def uniform_numbers(n):
    key = jax.random.key(1)
    compute = jax.jit(lambda key: jax.random.uniform(key, n, jnp.float32))
    return lambda: compute(key)


@row("normal")
def normal_numbers(n):
    key = jax.random.key(1)
    compute = jax.jit(lambda key: jax.random.normal(key, n, jnp.float32))
    return lambda: compute(key)


@row("matmul,double", "matmul,double,new")
def square(n):
    a = matrix(jnp, n, n, "float64")
    b = jnp.copy(a)
    compute = jax.jit(jnp.matmul)
    return lambda: compute(a, b)


@row("matmul,float")
def square_in_single(n):
    a = matrix(jnp, n, n, "float32")
    b = jnp.copy(a)
    compute = jax.jit(jnp.matmul)
    return lambda: compute(a, b)


@row("x xT,float")
def by_own_transpose(n):
    x = matrix(jnp, n, n, "float32")
    compute = jax.jit(lambda x: x @ x.T)
    return lambda: compute(x)


@row("matvec,float")
def many_vectors(k):
    x, w = matrix(jnp, k, 100, "float32"), matrix(jnp, 150, 100, "float32")
    compute = jax.jit(lambda w, x: x @ w.T)
    return lambda: compute(w, x)


@row("mandelbrot")
def mandelbrot(n):
    @jax.jit
    def compute(x, y):
        def step(_, state):
            re, im, counts = state
            small = re * re + im * im <= 4
            new_re, new_im = re * re - im * im + x, 2 * re * im + y
            return jnp.where(small, new_re, re), jnp.where(small, new_im, im), counts + small

        zero = jnp.zeros((n, n), jnp.float32)
        state = zero, zero, jnp.zeros((n, n), jnp.int32)
        # Several steps fuse into one kernel.
        return jax.lax.fori_loop(0, ITERATIONS, step, state, unroll=4)[2]

    x, y = pixels(jnp, n)
    return lambda: compute(x, y)


@row("jacobi,statement")
def jacobi(m, n):
    @functools.partial(jax.jit, donate_argnums=0)
    def sweep(u, b):
        # Padding the new inside fuses into one kernel; writing it into u by .at[].set() doesn't.
        inside = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - b
        return jnp.pad(0.25 * inside, 1)

    u, b = jnp.zeros((m + 2, n + 2), jnp.float32), jnp.ones((m, n), jnp.float32)

    def statement():
        nonlocal u
        u = sweep(u, b)
        return u

    return statement


device = jax.devices()[0]
main(
    "jax",
    jax.__version__,
    job.cpu_name() if device.platform == "cpu" else device.device_kind,
    jax.block_until_ready,
    np.asarray,
)
