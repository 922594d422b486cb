#!/usr/bin/env python3
"""Times angular spectra, their derivatives and Fisher matrices by coir and by jax_cosmo in turns, and prints medians and ratios.

    python3 spectra.py --python venv/bin/python --bench build/openmp/bench/cosmology/cosmology_angular_power_bench

Both are bound to one core. jax_cosmo runs under jit, in double precision, with its own numbers of nodes, on the surveys of
bench/cosmology/angular_power_bench.cpp. Its Fisher matrix takes the blocks of its sparse covariance. See turns.py.
"""

import json
import os
import re
import statistics
import time

from turns import HERE, in_turns, main_of, parser_of, print_table, run_bench, run_json, write_json

ROWS = ["spectra,stage_4/128", "spectra,des_y1/50", "derivatives,des_y1/50", "fisher,des_y1/50"]


def programs():
    """A function without arguments for each row."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import jax_cosmo as jc
    from jax.tree_util import register_pytree_node_class
    from jax_cosmo.redshift import redshift_distribution

    @register_pytree_node_class
    class Gaussian(redshift_distribution):
        def pz_fn(self, z):
            mean, sigma = self.params[:2]
            return jnp.exp(-((z - mean) ** 2) / (2 * sigma**2))

    def multipoles(count):
        return 10.0 * 300.0 ** (jnp.arange(count) / (count - 1))

    def universe(omega_m, omega_b, h, n_s, sigma8, w0):
        return jc.Cosmology(
            Omega_c=omega_m - omega_b, Omega_b=omega_b, h=h, n_s=n_s, sigma8=sigma8, Omega_k=0.0, w0=w0, wa=0.0
        )

    fiducial = [0.3, 0.05, 0.7, 0.96, 0.8, -1.0, 0.5, 0.0] + [0.012, 0.01] * 4 + [1.4] * 5

    def des_y1(x):
        probes = []
        shapes = [
            jc.redshift.systematic_shift(Gaussian(z, 0.15, gals_per_arcmin2=1.5, zmax=2.0), x[9 + 2 * i], zmax=2.0)
            for i, z in enumerate((0.39, 0.6, 0.75, 0.95))
        ]
        alignment = jc.bias.des_y1_ia_bias(x[6], x[7], 0.62)
        probes.append(jc.probes.WeakLensing(shapes, ia_bias=alignment, multiplicative_bias=list(x[8:16:2]), sigma_e=0.26))
        counts = [Gaussian(z, 0.06, gals_per_arcmin2=0.02, zmax=2.0) for z in (0.24, 0.39, 0.54, 0.69, 0.84)]
        probes.append(jc.probes.NumberCounts(counts, [jc.bias.constant_linear_bias(x[16 + i]) for i in range(5)]))
        return universe(*x[:6]), probes

    def stage_4(x):
        counts = [Gaussian(0.25 + 0.1 * i, 0.03 * (1.25 + 0.1 * i), zmax=2.5) for i in range(10)]
        shapes = [Gaussian(0.3 + 0.3 * i, 0.1, zmax=2.5) for i in range(5)]
        bias = [jc.bias.constant_linear_bias(1.5) for _ in counts]
        return universe(*x[:6]), [jc.probes.NumberCounts(counts, bias), jc.probes.WeakLensing(shapes)]

    def spectra(survey, count):
        def mean(x):
            cosmology, probes = survey(x)
            return jc.angular_cl.angular_cl(cosmology, multipoles(count), probes)

        return mean

    def fisher(x):
        slopes = jax.jacfwd(lambda y: spectra(des_y1, 50)(y).reshape(-1))(x)
        cosmology, probes = des_y1(x)
        _, covariance = jc.angular_cl.gaussian_cl_covariance_and_mean(
            cosmology, multipoles(50), probes, f_sky=0.03, sparse=True
        )
        return jc.sparse.dot(slopes.T, jc.sparse.inv(covariance), slopes)

    functions = [spectra(stage_4, 128), spectra(des_y1, 50), jax.jacfwd(spectra(des_y1, 50)), fisher]
    start = jnp.array(fiducial)
    return {row: (jax.jit(function), start) for row, function in zip(ROWS, functions)}


def time_jax_cosmo(rows):
    """Prints the median seconds of each row."""
    import jax

    seconds = {}
    for row, (function, start) in programs().items():
        if row not in rows:
            continue
        jax.block_until_ready(function(start))
        times = []
        while len(times) < 3 or (sum(times) < 2 and len(times) < 50):
            begin = time.perf_counter()
            jax.block_until_ready(function(start))
            times.append(time.perf_counter() - begin)
        seconds[row] = statistics.median(times)
    print(json.dumps(seconds))


def time_coir(bench):
    rows, _ = run_bench(bench, ".", 0.5)
    return {row["name"].removesuffix("/manual_time"): row["seconds"] for row in rows}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--bench", required=True, help="cosmology_angular_power_bench")
    parser.add_argument("--time-jax-cosmo", action="store_true", help="print jax_cosmo's times alone")
    parser.add_argument("--rows", default=".", metavar="REGEX", help="the rows to measure")
    options = parser.parse_args()
    rows = [row for row in ROWS if re.search(options.rows, row)]
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # what is started inherits it
    if options.time_jax_cosmo:
        time_jax_cosmo(rows)
        return
    contestants = {
        "coir": lambda: time_coir(options.bench),
        "jax_cosmo": lambda: run_json(options.python, HERE / "spectra.py", "--bench", "", "--time-jax-cosmo", "--rows", options.rows),
    }
    times = {name: [] for name in contestants}
    for _, name in in_turns(options.rounds, list(contestants)):
        times[name].append(contestants[name]())
    table = []
    for row in rows:
        ours, theirs = ([seconds[row] for seconds in times[name]] for name in ("coir", "jax_cosmo"))
        ratio = statistics.median(their / our for our, their in zip(ours, theirs))
        table.append([row, f"{statistics.median(ours) * 1e3:.3g}", f"{statistics.median(theirs) * 1e3:.4g}", f"{ratio:.0f}"])
    print_table(["milliseconds", "coir", "jax_cosmo", "jax_cosmo / coir"], table)
    write_json(options.json, times)


main_of(main)
