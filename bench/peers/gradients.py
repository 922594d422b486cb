#!/usr/bin/env python3
"""Times values and gradients of programs by coir and by JAX in turns, and prints a table of medians and ratios.

    python3 gradients.py --python venv/bin/python --build build/openmp
    python3 gradients.py --twelve --python venv/bin/python --build build/openmp

JAX runs under jit(value_and_grad) and returns the value and the gradient of the same programs on the same inputs.
Each round times each of them once. See turns.py.
"""

import json
import statistics
import sys
import time
from pathlib import Path

from turns import HERE, Failed, in_turns, main_of, parser_of, print_table, run_bench, run_json, write_json

ROWS = ["diffusion/64", "diffusion/1024", "log_sum_exp/100000", "perceptron/1024"]


def programs():
    """A function and its arguments for each row, as bench/autodiff/programs has them."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def matrix(rows, columns, scale=1.0):
        numbers = scale * np.sin(np.linspace(0, 1000, rows * columns))
        return jnp.asarray(numbers.astype("float32").reshape(rows, columns))

    def diffusion(u):
        def step(_, u):
            neighbours = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
            return u + 0.2 * (neighbours - 4 * u)

        return jnp.sum(jax.lax.fori_loop(0, 100, step, u) ** 2)

    def log_sum_exp(x):
        largest = jnp.max(x, 1)
        return jnp.sum(jnp.log(jnp.sum(jnp.exp(x - largest[:, None]), 1)) + largest)

    data, target = matrix(1024, 784), matrix(1024, 10)

    def perceptron(w1, w2, w3):
        return jnp.mean((jnp.tanh(jnp.tanh(data @ w1) @ w2) @ w3 - target) ** 2)

    return {
        "diffusion/64": (diffusion, [matrix(64, 64)]),
        "diffusion/1024": (diffusion, [matrix(1024, 1024)]),
        "log_sum_exp/100000": (log_sum_exp, [matrix(100000, 100)]),
        "perceptron/1024": (perceptron, [matrix(784, 512, 0.05), matrix(512, 512, 0.05), matrix(512, 10, 0.05)]),
    }


TWELVE = [
    "advection/256",
    "wave/256",
    "shallow_water/256",
    "burgers/256",
    "ising/1024",
    "k_means/20000",
    "gaussian_process/256",
    "attention/256",
    "total_variation/1024",
    "optical_flow/1024",
    "navier_stokes/128",
    "recurrent_cell/64",
]


def twelve_programs():
    """The same for the rows of --twelve."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def matrix(rows, columns, scale=1.0):
        numbers = scale * np.sin(np.linspace(0, 1000, rows * columns))
        return jnp.asarray(numbers.astype("float32").reshape(rows, columns))

    def loop(steps, step, state):
        return jax.lax.fori_loop(0, steps, lambda _, state: step(*state), state)

    def laplacian(u):
        return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u

    def along(u, axis):
        return 0.5 * (jnp.roll(u, -1, axis) - jnp.roll(u, 1, axis))

    def advection(x):
        def step(u):
            behind = u - jnp.roll(u, 1, 1)
            ahead = jnp.roll(behind, -1, 1)
            nearer = jnp.where(jnp.abs(behind) < jnp.abs(ahead), behind, ahead)
            flux = u + 0.25 * jnp.where(behind * ahead > 0, nearer, 0)
            return (u - 0.5 * (flux - jnp.roll(flux, 1, 1)),)

        return jnp.sum(loop(50, step, (x,))[0] ** 2)

    def wave(x):
        def step(u, v):
            v = v + 0.2 * laplacian(u)
            return u + v, v

        return jnp.sum(loop(50, step, (x, 0.1 * x))[0] ** 2)

    def shallow_water(x):
        def step(h, u, v):
            du = u * along(u, 0) + v * along(u, 1) + along(h, 0)
            dv = u * along(v, 0) + v * along(v, 1) + along(h, 1)
            return h - 0.05 * (along(h * u, 0) + along(h * v, 1)), u - 0.05 * du, v - 0.05 * dv

        h, u, v = loop(20, step, (1 + 0.1 * x, 0.1 * x, 0.1 * x))
        return jnp.sum(h * (u**2 + v**2)) + jnp.sum(h**2)

    def burgers(x):
        def step(u):
            return (u - 0.1 * u * (along(u, 0) + along(u, 1)) + 0.1 * laplacian(u),)

        return jnp.sum(loop(50, step, (x,))[0] ** 2)

    def ising(x):
        s = jnp.tanh(x)
        return -jnp.sum(s * (jnp.roll(s, 1, 0) + jnp.roll(s, 1, 1))) - 0.1 * jnp.sum(s)

    points, tokens, batch = matrix(20000, 8), matrix(256, 64), matrix(64, 32)
    large = matrix(1024, 1024)
    other = jnp.sin(5 * large)

    def k_means(centres):
        squared = jnp.sum(centres**2, 1) - 2 * points @ centres.T
        return jnp.mean(jnp.min(squared, 1) + jnp.sum(points**2, 1))

    def gaussian_process(x):
        at = x.ravel()
        seen = jnp.sin(3 * at)
        covariance = jnp.exp(-2 * (at[:, None] - at) ** 2) + 0.1 * jnp.eye(len(at), dtype="float32")
        factor = jnp.linalg.cholesky(covariance)
        return 0.5 * jnp.sum(seen * jnp.linalg.solve(covariance, seen)) + jnp.sum(jnp.log(jnp.diagonal(factor)))

    def attention(wq, wk, wv):
        scores = (tokens @ wq) @ (tokens @ wk).T * 0.125
        weights = jnp.exp(scores - jnp.max(scores, 1)[:, None])
        return jnp.mean((weights / jnp.sum(weights, 1)[:, None] @ (tokens @ wv)) ** 2)

    def total_variation(u):
        steps = (u[1:, :-1] - u[:-1, :-1]) ** 2 + (u[:-1, 1:] - u[:-1, :-1]) ** 2
        return jnp.sum(jnp.sqrt(steps + 1e-4)) + 0.5 * jnp.sum((u - other) ** 2)

    def optical_flow(u, v):
        def smooth(w):
            return jnp.sum((w[1:, :-1] - w[:-1, :-1]) ** 2 + (w[:-1, 1:] - w[:-1, :-1]) ** 2)

        seen = along(large, 0) * u + along(large, 1) * v + (other - large)
        return jnp.sum(seen**2) + 0.1 * (smooth(u) + smooth(v))

    def navier_stokes(x):
        n = x.shape[1]
        kx, ky = jnp.meshgrid(jnp.fft.fftfreq(n) * n, jnp.fft.rfftfreq(n) * n, indexing="ij")
        squared = jnp.where(kx**2 + ky**2 > 0, kx**2 + ky**2, 1).astype("float32")
        decay = jnp.exp(-1e-3 * squared)
        filters = [(1j * k).astype("complex64") for k in (ky / squared, kx, -kx / squared, ky)]

        def step(w):
            to_u, x_slope, to_v, y_slope = (jnp.fft.irfftn(jnp.fft.rfftn(w) * k, w.shape) for k in filters)
            advected = to_u * x_slope + to_v * y_slope
            return (jnp.fft.irfftn(jnp.fft.rfftn(w - 0.01 * advected) * decay, w.shape),)

        return jnp.sum(loop(5, step, (x,))[0] ** 2)

    def recurrent_cell(w, u):
        def step(state):
            return (jnp.tanh(state @ w + batch @ u),)

        return jnp.mean(loop(19, step, (jnp.tanh(batch @ u),))[0] ** 2)

    field = matrix(256, 256)
    programs = [
        (advection, [field]),
        (wave, [field]),
        (shallow_water, [field]),
        (burgers, [field]),
        (ising, [large]),
        (k_means, [matrix(16, 8)]),
        (gaussian_process, [matrix(1, 256)]),
        (attention, [matrix(64, 64, 0.2), matrix(64, 64, 0.3), matrix(64, 64)]),
        (total_variation, [large]),
        (optical_flow, [large, other]),
        (navier_stokes, [matrix(128, 128)]),
        (recurrent_cell, [matrix(128, 128, 0.1), matrix(32, 128, 0.1)]),
    ]
    return dict(zip(TWELVE, programs, strict=True))


def time_jax(all_programs):
    """Prints the median seconds of each program's value, and of its value with the gradient."""
    import jax

    def seconds_of(call):
        jax.block_until_ready(call())
        calls, times = 1, []
        while True:
            start = time.perf_counter()
            for _ in range(calls):
                jax.block_until_ready(call())
            elapsed = time.perf_counter() - start
            if elapsed < 1e-3:
                calls *= 2
                continue
            times.append(elapsed / calls)
            if len(times) >= 5 and sum(times) * calls > 0.5:
                return statistics.median(times)

    seconds = {}
    for row, (function, arguments) in all_programs().items():
        value = jax.jit(function)
        both = jax.jit(jax.value_and_grad(function, argnums=tuple(range(len(arguments)))))
        seconds[f"value,{row}"] = seconds_of(lambda: value(*arguments))
        seconds[f"grad,{row}"] = seconds_of(lambda: both(*arguments))
    print(json.dumps(seconds))


def time_coir(build, names):
    rows = run_bench(build / "bench/autodiff/autodiff_programs_bench", f"({'|'.join(names)})/", 0.3)[0]
    return {row["name"].removesuffix("/manual_time"): row["seconds"] for row in rows if "seconds" in row}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--build", type=Path, action="append", default=[], help="a build tree with our benchmarks, or several")
    parser.add_argument("--twelve", action="store_true", help="twelve programs of several fields")
    parser.add_argument("--time-jax", action="store_true", help="print JAX's times alone")
    options = parser.parse_args()
    names = TWELVE if options.twelve else ROWS
    twelve = ["--twelve"] if options.twelve else []
    contestants = {build: lambda build=build: time_coir(build, names) for build in options.build}
    contestants["JAX"] = lambda: run_json(options.python, HERE / "gradients.py", "--time-jax", *twelve)
    if options.time_jax:
        time_jax(twelve_programs if options.twelve else programs)
        return
    times = {name: [] for name in contestants}
    for _, name in in_turns(options.rounds, list(contestants)):
        times[name].append(contestants[name]())
    table = []
    for row in (f"{what},{row}" for row in names for what in ("value", "recorded_value", "grad", "recorded_grad")):
        if any(row not in seconds for build in options.build for seconds in times[build]):
            continue  # record() refuses programs for which the host waits
        theirs = [seconds[row.removeprefix("recorded_")] for seconds in times["JAX"]]
        cells = [row, f"{statistics.median(theirs) * 1e3:.3g}"]
        for build in options.build:
            ours = [seconds[row] for seconds in times[build]]
            ratio = statistics.median(their / our for their, our in zip(theirs, ours))
            cells += [f"{statistics.median(ours) * 1e3:.3g}", f"{ratio:.2f}"]
        table.append(cells)
    print_table(["milliseconds", "JAX", *(head for build in options.build for head in (build, "JAX / it"))], table)
    write_json(options.json, {str(name): seconds for name, seconds in times.items()})


main_of(main)
