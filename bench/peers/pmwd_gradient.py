#!/usr/bin/env python3
"""pmwd and coir on the same white noise: where their particles end.

    python pmwd_gradient.py forward --nbody build/openmp/apps/nbody/coir-nbody

Both start from Lagrangian perturbation theory of second order at a = 1/16, particles 1 Mpc/h apart, and go to a = 1 by
FastPM's steps, with spectral forces. This runs in a Python that has pmwd and h5py (see requirements-nbody.txt).
"""

import argparse
import sys
import tempfile
from pathlib import Path

try:
    import h5py
    import jax.numpy as jnp
    import numpy as np
    import pmwd
except ImportError as error:
    sys.exit(f"pmwd_gradient.py is skipped: {error} (see bench/peers/README.md)")

from compare import last_line, run

A_START = 1 / 16


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


def configuration(options, ratio, dtype, tables):
    conf = pmwd.Configuration(
        ptcl_spacing=1.0,
        ptcl_grid_shape=(options.side,) * 3,
        mesh_shape=ratio,
        a_start=A_START,
        a_stop=1,
        # Rounding must not make it one step more.
        a_nbody_maxstep=(1 - A_START) / options.steps * (1 + 1e-9),
        float_dtype=dtype,
        **tables,
    )
    assert conf.a_nbody_num == options.steps
    return conf


def particles_of(modes, cosmo, conf):
    cosmo = pmwd.boltzmann(cosmo, conf, varlin=False)
    start, observable = pmwd.lpt(pmwd.linear_modes(modes, cosmo, conf), cosmo, conf)
    return pmwd.nbody(start, observable, cosmo, conf)[0]


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
    return [str(part) for pair in values.items() for part in pair]


def run_ours(command):
    done = run([str(part) for part in command])
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {last_line(done.stderr)}")


def rms(values):
    return float(np.sqrt(np.mean(np.square(np.asarray(values, dtype=np.float64)))))


def wrapped(differences, box):
    return differences - box * np.rint(differences / box)


def our_particles(options, ratio, dtype, noise, folder):
    output = folder / "run"
    run_ours(
        [options.nbody, *universe_options(options, ratio, dtype), "--noise", noise, "--output", output,
         "--snapshots", "--no-pictures", "--no-spectra", "--quiet"]
    )  # fmt: skip
    (path,) = output.glob("snapshot_*.hdf5")
    with h5py.File(path) as file:
        coordinates = np.asarray(file["PartType1/Coordinates"], dtype=np.float64)
        ids = np.asarray(file["PartType1/ParticleIDs"])
        per_kpc = options.side / float(file["Header"].attrs["BoxSize"])
    return coordinates[np.argsort(ids)] * per_kpc


def compare_forward(options):
    print("| mesh ratio | numbers | pmwd's tables | rms distance, spacings | rms displacement |")
    print("| --- | --- | --- | --- | --- |")
    for tables, name in [({}, "its own"), (None, "fine")]:
        tables = refine_tables() if tables is None else tables
        for ratio in options.ratios:
            for dtype in options.dtypes:
                conf = configuration(options, ratio, dtype, tables)
                modes = noise_of(options.seed, conf)
                ends = particles_of(modes, pmwd.SimpleLCDM(conf), conf)
                theirs = np.asarray(ends.pos(), dtype=np.float64)
                with tempfile.TemporaryDirectory() as folder:
                    np.save(Path(folder) / "noise.npy", np.asarray(modes))
                    ours = our_particles(options, ratio, dtype, Path(folder) / "noise.npy", Path(folder))
                apart = wrapped(ours - theirs, options.side)
                # Vectors: the mean square of a component three times.
                print(
                    f"| {ratio} | {dtype} | {name} | {3**0.5 * rms(apart):.3g} | "
                    f"{3**0.5 * rms(displacements(theirs, options.side)):.3g} |",
                    flush=True,
                )


def displacements(positions, side):
    sites = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1)
    return wrapped(positions - sites.reshape(-1, 3), side)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    forward = commands.add_parser("forward", help="compare where particles end")
    forward.add_argument("--nbody", required=True, help="the executable coir-nbody")
    forward.add_argument("--side", type=int, default=64, help="particles along a side")
    forward.add_argument("--steps", type=int, default=30)
    forward.add_argument("--ratios", type=int, nargs="+", default=[1, 2], help="cells per particle")
    forward.add_argument("--dtypes", nargs="+", default=["float32", "float64"])
    forward.add_argument("--seed", type=int, default=0, help="of pmwd's white noise")
    return parser.parse_args()


def main():
    options = parse_arguments()
    {"forward": compare_forward}[options.command](options)


if __name__ == "__main__":
    main()
