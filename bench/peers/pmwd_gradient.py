#!/usr/bin/env python3
"""pmwd and coir on the same white noise: where particles end, gradients of a loss, and the time that these take.

    python pmwd_gradient.py forward --nbody build/openmp/apps/nbody/coir-nbody
    python pmwd_gradient.py gradient --field build/openmp/apps/field/coir-field [--ranks 1 2 4]
    python pmwd_gradient.py times --bench build/openmp/bench/nbody/nbody_gradient_bench

Both start from Lagrangian perturbation theory of second order at a = 1/16, particles 1 Mpc/h apart, and go to a = 1 by
FastPM's steps, with spectral forces. The loss is the variance of the difference of two densities, as in
docs/papers/adjoint/grads.py of pmwd. This runs in a Python that has pmwd and h5py (see requirements-nbody.txt).
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

# By itself JAX takes three quarters of a device's memory, and our programs run beside it.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

try:
    import h5py
    import jax
    import jax.numpy as jnp
    import numpy as np
    import pmwd
except ImportError as error:
    sys.exit(f"pmwd_gradient.py is skipped: {error} (see bench/peers/README.md)")

import nbody_job
from pmwd_steps import configuration
from turns import main_of, print_table, run, run_bench

A_START = 1 / 16
CASE = ["mesh ratio", "numbers", "pmwd's tables"]


def refine_tables():
    """Options of a Configuration with which pmwd's tables don't limit what is compared.

    pmwd interpolates growth linearly between the ends of steps, and its transfer function between 128 wave numbers a
    decade. It keeps what it has compiled, so that runs with its own tables must come before.
    """

    def growth_a(self):
        kicks = (self.a_nbody[1:] + self.a_nbody[:-1]) / 2  # where FastPM's momenta are
        return jnp.sort(jnp.concatenate((self.a_lpt, self.a_nbody[1:], kicks)))

    pmwd.Configuration.growth_a = property(growth_a)
    return {"transfer_lgk_maxstep": 1 / 8192, "growth_rtol": 1e-12, "growth_atol": 1e-12}


def particles_of(modes, cosmo, conf):
    cosmo = pmwd.boltzmann(cosmo, conf, varlin=False)
    start, observable = pmwd.lpt(pmwd.linear_modes(modes, cosmo, conf), cosmo, conf)
    return pmwd.nbody(start, observable, cosmo, conf)[0]


def density_of(modes, cosmo, conf):
    return pmwd.scatter(particles_of(modes, cosmo, conf), conf)


def loss_of(target, conf):
    """A function of noise and cosmology."""
    return lambda modes, cosmo: (density_of(modes, cosmo, conf) - target).var()


def slopes_of(cosmology):
    """pmwd's derivatives by our names, that of A_s per 1."""
    return {
        "A_s": 1e9 * float(cosmology.A_s_1e9),
        "n_s": float(cosmology.n_s),
        "omega_m": float(cosmology.Omega_m),
        "omega_b": float(cosmology.Omega_b),
        "h": float(cosmology.h),
    }


def noise_of(seed, conf):
    """The same numbers for any precision."""
    in_double = conf.replace(float_dtype="float64")
    return pmwd.white_noise(seed, in_double, real=True).astype(conf.float_dtype)


def universe_options(options, ratio, dtype):
    """The same universe, start and steps for our applications. pmwd's SimpleLCDM is cosmology::simple_lcdm()."""
    values = {
        "--particles": options.side,
        "--box": options.side,
        "--mesh-ratio": ratio,
        "--kernel": "naive",
        "--softening": "none",
        "--precision": {"float32": "single", "float64": "double"}[dtype],
        "--stepper": "fastpm",
        "--steps": options.steps,
        "--a-start": A_START,
        "--a-end": 1,
        "--omega-m": 0.3,
        "--omega-b": 0.05,
        "--h": 0.7,
        "--n-s": 0.96,
        "--A-s": 2e-9,
    }
    # At mesh ratio 2 pmwd makes the same false structure.
    return [str(part) for pair in values.items() for part in pair] + ["--allow-false-structure"]


def rms(values):
    return float(np.sqrt(np.mean(np.square(np.asarray(values, dtype=np.float64)))))


def wrapped(differences, box):
    return differences - box * np.rint(differences / box)


def our_particles(options, ratio, dtype, noise, folder):
    output = folder / "run"
    universe = universe_options(options, ratio, dtype)
    what = ["--snapshots", "--no-pictures", "--no-spectra", "--quiet"]
    run(options.nbody, *universe, "--noise", noise, "--output", output, *what)
    (path,) = output.glob("snapshot_*.hdf5")
    with h5py.File(path) as file:
        coordinates = np.asarray(file["PartType1/Coordinates"], dtype=np.float64)
        ids = np.asarray(file["PartType1/ParticleIDs"])
        per_kpc = options.side / float(file["Header"].attrs["BoxSize"])
    return coordinates[np.argsort(ids)] * per_kpc


def compare_forward(options):
    rows = []
    for tables, name in [({}, "its own"), (None, "fine")]:
        tables = refine_tables() if tables is None else tables
        for ratio in options.ratios:
            for dtype in ("float32", "float64"):
                conf = configuration(options, ratio, A_START, float_dtype=dtype, **tables)
                modes = noise_of(options.seed, conf)
                ends = particles_of(modes, pmwd.SimpleLCDM(conf), conf)
                theirs = np.asarray(ends.pos(), dtype=np.float64)
                with tempfile.TemporaryDirectory() as folder:
                    np.save(Path(folder) / "noise.npy", np.asarray(modes))
                    ours = our_particles(options, ratio, dtype, Path(folder) / "noise.npy", Path(folder))
                apart = wrapped(ours - theirs, options.side)
                # Vectors: the mean square of a component three times.
                moved = displacements(theirs, options.side)
                rows.append([ratio, dtype, name, *(f"{3**0.5 * rms(x):.3g}" for x in (apart, moved))])
    print_table([*CASE, "rms distance, spacings", "rms displacement"], rows)


def displacements(positions, side):
    sites = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1)
    return wrapped(positions - sites.reshape(-1, 3), side)


def our_gradient(options, ratio, dtype, noise, target, ranks):
    """The value, the slope of the noise and those of parameters, by coir-field."""
    launch = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks] if ranks > 1 else []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / "noise.npy", np.asarray(noise))
        np.save(folder / "target.npy", np.asarray(target))
        # Its loss is sum (density - target)^2 / (2 sigma^2). Means are equal, so that the variance is the mean square.
        sigma = (target.size / 2) ** 0.5
        universe = universe_options(options, ratio, dtype)
        universe[universe.index("--particles")] = "--side"
        run(
            *launch,
            options.field,
            *("--gradient-of", folder / "target.npy", "--noise", folder / "noise.npy", *universe),
            *("--sigma", sigma, "--smooth", 0, "--output", folder, "--report", folder / "report.json", "--quiet"),
        )
        report = json.loads((folder / "report.json").read_text())
        return report["misfit"], np.load(folder / "gradient.npy"), report["slopes"]


def compare_gradients(options):
    """Prints a table of gradients of the noise, and one of those of parameters. Float is also compared with double."""
    noise_rows, parameter_rows = [], []
    for tables, name in [({}, "its own"), (None, "fine")]:
        tables = refine_tables() if tables is None else tables
        for ratio in options.ratios:
            exact = None  # in double: our slope, and theirs
            for dtype in ("float64", "float32"):
                conf = configuration(options, ratio, A_START, float_dtype=dtype, **tables)
                cosmo = pmwd.SimpleLCDM(conf)
                if exact is None:
                    target = density_of(noise_of(0, conf), cosmo, conf)
                noise = noise_of(1, conf)
                gradient = jax.value_and_grad(loss_of(target.astype(dtype), conf), argnums=(0, 1))
                value, (slope, cosmology) = gradient(noise, cosmo)
                slope, theirs = np.asarray(slope, dtype=np.float64), slopes_of(cosmology)
                for ranks in options.ranks:
                    our_value, our_slope, ours = our_gradient(options, ratio, dtype, noise, target, ranks)
                    exact = exact or (our_slope, slope)
                    case = [ratio, dtype, name, ranks]
                    from_double = [rms(found - right) for found, right in zip((our_slope, slope), exact)]
                    loss = [f"{float(value):.6g}", f"{our_value / float(value) - 1:.1e}", f"{rms(slope):.4g}"]
                    apart = [f"{d / rms(slope):.1e}" for d in (rms(our_slope - slope), *from_double)]
                    noise_rows.append([*case, *loss, *apart])
                    parameter_rows.append([*case, *(f"{ours[p] / theirs[p] - 1:.1e}" for p in theirs)])
    columns = ["our ranks", "loss", "ours / theirs - 1", "rms slope of the noise", "rms of ours - theirs, over it"]
    columns += ["of ours - ours in double", "of theirs - theirs in double"]
    print_table([*CASE, *columns], noise_rows)
    print("\nours / theirs - 1\n")
    print_table([*CASE, "our ranks", *theirs], parameter_rows)


def compare_times(options):
    """Seconds of the loss, and of the loss with its gradient, of bench/nbody/gradient_bench.cpp and of pmwd in turns.

    pmwd compiles each step by itself; jax.jit of the whole, which takes minutes to compile, is another row, and derivatives
    by the noise alone, without those by the cosmology, are a third.
    """
    a_start = 1 / 64 if options.steps == 63 else nbody_job.A_START
    conf = configuration(options, options.ratio, a_start, float_dtype="float32")
    cosmo = pmwd.SimpleLCDM(conf)
    target = density_of(noise_of(0, conf), cosmo, conf)
    noise = noise_of(1, conf)
    loss = loss_of(target, conf)
    gradient = jax.value_and_grad(loss, argnums=(0, 1))
    functions = {
        "pmwd": (loss, gradient),
        "pmwd, jit": (jax.jit(loss), jax.jit(gradient)),
        "pmwd, by the noise alone": (loss, jax.value_and_grad(loss)),
    }
    if options.no_jit:
        del functions["pmwd, jit"]
    theirs = {
        name: {"value": partial(value, noise, cosmo), "value_and_grad": partial(both, noise, cosmo)}
        for name, (value, both) in functions.items()
    }
    for works in theirs.values():
        for work in works.values():
            nbody_job.seconds_of(work)  # compiles
    names = [f"{kernel}/{options.side}/{options.ratio}/{options.steps}" for kernel in options.kernels]
    seconds = {name: {"value": [], "value_and_grad": []} for name in [*theirs, *names]}
    for _ in range(options.rounds):
        for name, works in theirs.items():
            for what, work in works.items():
                seconds[name][what].append(nbody_job.seconds_of(work))
        for name in names:
            ((entry,), _) = run_bench(options.bench, f"^{name}/", 1)
            for what, times in seconds[name].items():
                times.append(entry[what])
    best = min(
        (name for name in theirs if "alone" not in name),
        key=lambda name: statistics.median(seconds[name]["value_and_grad"]),
    )
    their_time = statistics.median(seconds[best]["value_and_grad"])
    rows = []
    for name, times in seconds.items():
        value, both = (statistics.median(times[what]) for what in ("value", "value_and_grad"))
        rows.append([name, f"{value:.3g}", f"{both:.3g}", f"{both / value:.2f}", f"{their_time / both:.1f}"])
    heads = ["loss, s", "loss and gradient, s", "gradient's factor", "pmwd's best time over it"]
    print_table(["", *heads], rows)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    forward = commands.add_parser("forward", help="compare where particles end")
    forward.add_argument("--nbody", required=True, help="the executable coir-nbody")
    forward.add_argument("--side", type=int, default=64, help="particles along a side")
    forward.add_argument("--steps", type=int, default=30)
    forward.add_argument("--seed", type=int, default=0, help="of pmwd's white noise")
    gradient = commands.add_parser("gradient", help="compare gradients of a loss")
    gradient.add_argument("--field", required=True, help="the executable coir-field")
    gradient.add_argument("--side", type=int, default=32, help="particles along a side")
    gradient.add_argument("--steps", type=int, default=15)
    gradient.add_argument("--ranks", type=int, nargs="+", default=[1], help="numbers of coir-field's ranks, by mpirun")
    for command in (forward, gradient):
        command.add_argument("--ratios", type=int, nargs="+", default=[1, 2], help="cells per particle")
    times = commands.add_parser("times", help="time a loss and its gradient in turns")
    times.add_argument("--bench", required=True, help="the executable nbody_gradient_bench")
    times.add_argument("--side", type=int, default=128, help="particles along a side")
    times.add_argument("--ratio", type=int, default=1, help="cells per particle along a side")
    times.add_argument("--steps", type=int, choices=[20, 63], default=20, help="from a = 0.1, or from 1/64")
    times.add_argument("--kernels", nargs="+", default=["fastpm", "fastpm,naive"], help="rows of the benchmark")
    times.add_argument("--no-jit", action="store_true", help="leave out jax.jit of the whole")
    times.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def main():
    options = parse_arguments()
    commands = {"forward": compare_forward, "gradient": compare_gradients, "times": compare_times}
    commands[options.command](options)


main_of(main)
