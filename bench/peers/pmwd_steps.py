#!/usr/bin/env python3
"""pmwd: the simulation of bench/nbody/step_bench.cpp, on whatever device JAX prefers.

side^3 particles 1 Mpc/h apart on a mesh of ratio^3 times as many cells, float32, started by second-order
Lagrangian perturbation theory at a = 0.1, in equal steps of a to 1; prints what nbody_job.py says.
"""

import sys

try:
    import pmwd
except ImportError as error:
    sys.exit(f"{sys.argv[0]} is skipped: {error} (see bench/peers/README.md)")

import nbody_job


def configuration(options, ratio, a_start, **more):
    """Of equal steps from a_start to 1."""
    conf = pmwd.Configuration(
        ptcl_spacing=1.0,
        ptcl_grid_shape=(options.side,) * 3,
        mesh_shape=ratio,
        a_start=a_start,
        a_stop=1,
        # Rounding must not make it one step more.
        a_nbody_maxstep=(1 - a_start) / options.steps * (1 + 1e-9),
        **more,
    )
    assert conf.a_nbody_num == options.steps
    return conf


def main():
    options = nbody_job.parse_arguments(__doc__)
    chunk = {} if options.chunk is None else {"chunk_size": options.chunk}
    conf = configuration(options, options.ratio, nbody_job.A_START, **chunk)
    cosmo = pmwd.boltzmann(pmwd.SimpleLCDM(conf), conf)

    def start():
        modes = pmwd.linear_modes(pmwd.white_noise(1, conf), cosmo, conf)
        return pmwd.lpt(modes, cosmo, conf)

    particles, observable = start()
    nbody_job.measure(
        options,
        "pmwd",
        getattr(pmwd, "__version__", None),
        start,
        lambda: pmwd.nbody(particles, observable, cosmo, conf),
    )


if __name__ == "__main__":
    main()
