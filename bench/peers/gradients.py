#!/usr/bin/env python3
"""Times values and gradients of programs by coir and by JAX in turns, and prints a table of medians and ratios.

    python3 gradients.py --python venv/bin/python --bench build/openmp/bench/autodiff/autodiff_programs_bench

JAX runs under jit(value_and_grad) and returns the value and the gradient of the same programs on the same inputs.
Each round times each of them once. See turns.py.
"""

import json
import statistics
import sys
import time

from turns import HERE, Failed, in_turns, main_of, parser_of, print_table, run_bench, run_json, write_json

ROWS = ["diffusion/64", "diffusion/1024", "log_sum_exp/100000", "perceptron/1024"]


def programs():
    """A function and its arguments for each row, as bench/autodiff/programs_bench.cpp has them."""
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


def time_jax():
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
    for row, (function, arguments) in programs().items():
        value = jax.jit(function)
        both = jax.jit(jax.value_and_grad(function, argnums=tuple(range(len(arguments)))))
        seconds[f"value,{row}"] = seconds_of(lambda: value(*arguments))
        seconds[f"grad,{row}"] = seconds_of(lambda: both(*arguments))
    print(json.dumps(seconds))


def time_coir(bench):
    rows, _ = run_bench(bench, f"/({'|'.join(row.split('/')[1] for row in ROWS)})/", 0.5)
    return {row["name"].removesuffix("/manual_time"): row["seconds"] for row in rows}


def main():
    parser = parser_of(__doc__)
    parser.add_argument(
        "--bench", action="append", required=True, help="autodiff_programs_bench, of one or several builds"
    )
    parser.add_argument("--time-jax", action="store_true", help="print JAX's times alone")
    options = parser.parse_args()
    contestants = {bench: lambda bench=bench: time_coir(bench) for bench in options.bench}
    contestants["JAX"] = lambda: run_json(options.python, HERE / "gradients.py", "--bench", "", "--time-jax")
    if options.time_jax:
        time_jax()
        return
    times = {name: [] for name in contestants}
    for _, name in in_turns(options.rounds, list(contestants)):
        times[name].append(contestants[name]())
    table = []
    for row in (f"{what},{row}" for row in ROWS for what in ("value", "grad")):
        theirs = [seconds[row] for seconds in times["JAX"]]
        cells = [row, f"{statistics.median(theirs) * 1e3:.3g}"]
        for bench in options.bench:
            ours = [seconds[row] for seconds in times[bench]]
            ratio = statistics.median(their / our for their, our in zip(theirs, ours))
            cells += [f"{statistics.median(ours) * 1e3:.3g}", f"{ratio:.2f}"]
        table.append(cells)
    print_table(["milliseconds", "JAX", *(head for bench in options.bench for head in (bench, "JAX / it"))], table)
    write_json(options.json, times)


main_of(main)
