#!/usr/bin/env python3
"""Times samplers without U-turns of coir, NumPyro and walnutpie in turns, and prints a table of medians and ratios.

    python3 samplers.py --python venv/bin/python --bench build/openmp/bench/inference/inference_nuts_bench

All draw 2 chains of 2000 draws in double from the same densities after a warm-up of 1000 draws, a chain a core, and only
the draws after warm-up and compilation are timed. Effective sample sizes are those of ranks (bulk), of the worst parameter.
walnutpie draws 20000, and calls compiled C with gradients written by hand. See turns.py.
"""

import ctypes
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

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


C = """
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
static atomic_long calls;
long count(void) { return atomic_exchange(&calls, 0); }
int gaussian(size_t n, const double* x, double* grad, double* lp, void* data) {
  const double* precision = data;
  double value = 0;
  for (int i = 0; i < 21; ++i) {
    double sum = 0;
    for (int j = 0; j < 21; ++j) sum += precision[21 * i + j] * x[j];
    grad[i] = -sum;
    value -= 0.5 * x[i] * sum;
  }
  *lp = value;
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return 0;
}
int eight_schools(size_t n, const double* x, double* grad, double* lp, void* data) {
  static const double y[] = {28, 8, -3, 7, -1, 1, 18, 12}, sigma[] = {15, 10, 16, 11, 9, 11, 10, 18};
  const double tau = exp(x[1]), scale = tau * tau / 25;
  double value = -0.02 * x[0] * x[0] - log1p(scale) + x[1], of_mu = -0.04 * x[0], of_tau = 0;
  for (int j = 0; j < 8; ++j) {
    const double off = (y[j] - x[0] - tau * x[j + 2]) / sigma[j], pull = off / sigma[j];
    value -= 0.5 * (x[j + 2] * x[j + 2] + off * off);
    of_mu += pull;
    of_tau += pull * x[j + 2];
    grad[j + 2] = pull * tau - x[j + 2];
  }
  grad[0] = of_mu;
  grad[1] = of_tau * tau - 2 * scale / (1 + scale) + 1;
  *lp = value;
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return 0;
}
"""


def time_walnutpie():
    """As time_numpyro(). A run of 20000 draws, less one that ends with its warm-up: of fewer draws noise would be left."""
    import arviz
    import numpy as np
    import walnutpie

    i = np.arange(21)
    size = 1 + 0.1 * i
    precision = np.linalg.inv(np.outer(size, size) * (0.5 ** abs(i[:, None] - i) + 0.2))
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "targets.c"), Path(folder, "targets.so")
        source.write_text(C)
        subprocess.run(
            ["cc", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True
        )
        functions = ctypes.CDLL(str(library))
        for name, n in (("gaussian", 21), ("eight_schools", 10)):
            target = walnutpie.logp_cfunc_type((name, functions)), precision.ctypes.data_as(ctypes.c_void_p)

            def run(draws):
                functions.count()
                begin = time.perf_counter()
                found = walnutpie.walnuts_pyfunc(
                    target, inits=np.full(n, 0.1), num_chains=2, seed=1, min_warmup_iter=1000, max_warmup_iter=1000,
                    min_sampling_iter=draws, max_sampling_iter=draws, max_trajectory_doublings=10)  # fmt: skip
                return time.perf_counter() - begin, functions.count(), np.stack([np.asarray(c) for c in found])

            before, calls_before, _ = run(1)
            seconds, calls, draws = run(20000)
            seconds -= before
            size = min(float(arviz.ess(draws[:, :, k], method="bulk")) for k in range(n))
            rows[name] = {"seconds": seconds, "gradients/s": (calls - calls_before) / seconds, "ESS/s": size / seconds}
    print(json.dumps(rows))


def time_coir(bench):
    rows, _ = run_bench(bench, "/2000/", 0.5)
    return {row["name"].split("/")[0].removeprefix("nuts,"): row for row in rows}


def main():
    peers = {"NumPyro": time_numpyro, "walnutpie": time_walnutpie}
    parser = parser_of(__doc__)
    parser.add_argument("--bench", required=True, help="inference_nuts_bench")
    parser.add_argument("--peers", nargs="+", default=list(peers), choices=list(peers))
    parser.add_argument("--time", choices=list(peers), help="print the figures of one peer alone")
    options = parser.parse_args()
    if options.time:
        peers[options.time]()
        return
    contestants = {"coir": lambda: time_coir(options.bench)}
    for peer in options.peers:
        contestants[peer] = lambda peer=peer: run_json(
            options.python, HERE / "samplers.py", "--bench", "", "--time", peer
        )
    found = {name: [] for name in contestants}
    for _, name in in_turns(options.rounds, list(contestants)):
        found[name].append(contestants[name]())
    table = []
    for row in ROWS:
        for what in ("gradients/s", "ESS/s"):
            ours = [numbers[row][what] for numbers in found["coir"]]
            cells = [f"{row}, {what}", f"{statistics.median(ours):.3g}"]
            for peer in options.peers:
                theirs = [numbers[row][what] for numbers in found[peer]]
                ratio = statistics.median(our / their for our, their in zip(ours, theirs))
                cells += [f"{statistics.median(theirs):.3g}", f"{ratio:.2g}"]
            table.append(cells)
    heads = ["", "coir", *(head for peer in options.peers for head in (peer, f"coir / {peer}"))]
    print_table(heads, table)
    write_json(options.json, found)


main_of(main)
