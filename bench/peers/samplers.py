#!/usr/bin/env python3
"""Times the no-U-turn sampler by coir and by NumPyro in turns, and prints a table of medians and ratios.

    python3 samplers.py --python venv/bin/python --bench build/openmp/bench/inference/inference_nuts_bench

Both draw 2 chains of 2000 draws in double from the same densities after a warm-up of 1000 draws, a chain a core, and only
the draws after warm-up and compilation are timed. Effective sample sizes are those of ranks (bulk), of the worst parameter.
Needs numpyro and arviz. See turns.py.
"""

import json
import statistics
import time

from turns import HERE, in_turns, main_of, parser_of, print_table, run_bench, run_json, write_json

ROWS = ["gaussian", "eight_schools"]


def potentials():
    """Minus the log densities of bench/inference/nuts_bench.cpp, and their numbers of parameters."""
    import jax.numpy as jnp
    import numpy as np

    i = np.arange(21)
    size = 1 + 0.1 * i
    covariance = np.outer(size, size) * (0.5 ** abs(i[:, None] - i) + 0.2)
    precision = jnp.asarray(np.linalg.inv(covariance))
    y = jnp.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    sigma = jnp.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def gaussian(x):
        return 0.5 * x @ (precision @ x)

    def eight_schools(x):
        mu, tau, eta = x[0], jnp.exp(x[1]), x[2:]
        prior = 0.5 * (mu / 5) ** 2 + jnp.log1p((tau / 5) ** 2) - x[1] + 0.5 * jnp.sum(eta**2)
        return prior + 0.5 * jnp.sum(((y - mu - tau * eta) / sigma) ** 2)

    return {"gaussian": (gaussian, 21), "eight_schools": (eight_schools, 10)}


def time_numpyro():
    """Prints the seconds, gradients a second and effective sizes a second of each density."""
    import numpyro

    numpyro.set_host_device_count(2)
    numpyro.enable_x64()
    import arviz
    import jax
    import numpy as np
    from numpyro.infer import MCMC, NUTS

    rows = {}
    for name, (potential, n) in potentials().items():
        kernel = NUTS(potential_fn=potential)
        mcmc = MCMC(
            kernel, num_warmup=1000, num_samples=2000, num_chains=2, chain_method="parallel", progress_bar=False
        )
        start = jax.numpy.full((2, n), 0.1)
        mcmc.warmup(jax.random.PRNGKey(1), init_params=start)

        def draw(state, _, kernel=kernel):
            state = kernel.sample(state, (), {})
            return state, (state.z, state.num_steps)

        # MCMC.run() of chains in parallel compiles again at each call, which takes longer than the draws.
        run = jax.pmap(lambda state: jax.lax.scan(draw, state, None, length=2000))
        times = []
        for _ in range(4):  # the first one compiles
            begin = time.perf_counter()
            draws, steps = (np.asarray(numbers) for numbers in run(mcmc.last_state)[1])
            times.append(time.perf_counter() - begin)
        seconds = statistics.median(times[1:])
        steps = float(np.sum(steps))
        size = min(float(arviz.ess(draws[:, :, k], method="bulk")) for k in range(n))
        rows[name] = {"seconds": seconds, "gradients/s": steps / seconds, "ESS/s": size / seconds}
    print(json.dumps(rows))


def time_coir(bench):
    rows, _ = run_bench(bench, "/2000/", 0.5)
    return {row["name"].split("/")[0].removeprefix("nuts,"): row for row in rows}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--bench", required=True, help="inference_nuts_bench")
    parser.add_argument("--time-numpyro", action="store_true", help="print NumPyro's figures alone")
    options = parser.parse_args()
    if options.time_numpyro:
        time_numpyro()
        return
    contestants = {
        "coir": lambda: time_coir(options.bench),
        "NumPyro": lambda: run_json(options.python, HERE / "samplers.py", "--bench", "", "--time-numpyro"),
    }
    found = {name: [] for name in contestants}
    for _, name in in_turns(options.rounds, list(contestants)):
        found[name].append(contestants[name]())
    table = []
    for row in ROWS:
        for what in ("gradients/s", "ESS/s"):
            ours = [numbers[row][what] for numbers in found["coir"]]
            theirs = [numbers[row][what] for numbers in found["NumPyro"]]
            ratio = statistics.median(our / their for our, their in zip(ours, theirs))
            cells = [f"{statistics.median(values):.3g}" for values in (theirs, ours)]
            table.append([f"{row}, {what}", *cells, f"{ratio:.1f}"])
    print_table(["", "NumPyro", "coir", "coir / NumPyro"], table)
    write_json(options.json, found)


main_of(main)
