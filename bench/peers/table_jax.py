"""JAX: compiled functions, on whatever device JAX prefers. What a row overwrites is donated."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import job
from rows import ITERATIONS, main, row

jax.config.update("jax_enable_x64", True)  # for the rows in double
jax.config.update("jax_default_matmul_precision", "highest")  # float32 products in float32


@row("x+=3")
def add_number(x):
    @functools.partial(jax.jit, donate_argnums=0)
    def add(x):
        return x + 3

    def statement():
        nonlocal x
        x = add(x)
        return x

    return statement


def compiled(function):
    """A row that applies a function to its arrays."""
    compute = jax.jit(function)
    return lambda *arrays: lambda: compute(*arrays)


row("cos2+sin2,0..100", "cos2+sin2,arange")(compiled(lambda x: jnp.cos(x) ** 2 + jnp.sin(x) ** 2))
row("a+b")(compiled(jnp.add))
row("selu")(compiled(lambda x: 1.05 * jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67)))
row("chain")(compiled(lambda a, b, c, d: ((a * b + c) * 0.5 - d) * a))
row("matmul,double", "matmul,double,new", "matmul,float")(compiled(jnp.matmul))
row("x xT,float")(compiled(lambda x: x @ x.T))
row("matvec,float")(compiled(lambda x, w: x @ w.T))
row("sort,float", "sort,rows,float")(compiled(jnp.sort))
row("argsort,float")(compiled(jnp.argsort))
row("cumsum,float")(compiled(jnp.cumsum))
row("r2c,float", "r2c,double")(compiled(jnp.fft.rfftn))


def to_number(prepare):
    def number(x):
        to_array = prepare(x)
        return lambda: to_array().item()

    return number


for name, function in {"sum": jnp.sum, "max": jnp.max, "any": lambda x: jnp.any(x > 2)}.items():
    row(f"{name},array")(compiled(function))
    row(name)(to_number(compiled(function)))


@row("c2r,float")
def transform_back(x):
    return compiled(lambda y: jnp.fft.irfftn(y, x.shape, norm="forward"))(jnp.fft.rfftn(x))


def random_numbers(function):
    def prepare(x):
        return compiled(lambda key: function(key, x.size, jnp.float32))(jax.random.key(1))

    return prepare


row("uniform,float")(random_numbers(jax.random.uniform))
row("normal")(random_numbers(jax.random.normal))


@row("mandelbrot")
def mandelbrot(c):
    @jax.jit
    def compute(x, y):
        def step(_, state):
            re, im, counts = state
            small = re * re + im * im <= 4
            new_re, new_im = re * re - im * im + x, 2 * re * im + y
            return jnp.where(small, new_re, re), jnp.where(small, new_im, im), counts + small

        zero = jnp.zeros(c.shape, jnp.float32)
        state = zero, zero, jnp.zeros(c.shape, jnp.int32)
        # Several steps fuse into one kernel.
        return jax.lax.fori_loop(0, ITERATIONS, step, state, unroll=4)[2]

    x, y = c.real[:1], c.imag[:, :1]
    return lambda: compute(x, y)


def swept(u, b):
    # Padding the new inside fuses into one kernel; writing it into u by .at[].set() doesn't.
    inside = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - b
    return jnp.pad(jnp.float32(0.25) * inside, 1)


@row("jacobi,statement")
def jacobi(b, u, _):
    sweep = jax.jit(swept, donate_argnums=0)

    def statement():
        nonlocal u
        u = sweep(u, b)
        return u

    return statement


@functools.partial(jax.jit, donate_argnums=0)
def make_sweeps(u, b, count):
    return jax.lax.fori_loop(0, count, lambda _, u: swept(u, b), u)


row("jacobi,loop")(lambda b, u, _: lambda count: make_sweeps(u, b, count))

device = jax.devices()[0]
main(
    "jax",
    jax.__version__,
    job.cpu_name() if device.platform == "cpu" else device.device_kind,
    jnp.asarray,
    jax.block_until_ready,
    np.asarray,
)
