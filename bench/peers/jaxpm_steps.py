#!/usr/bin/env python3
"""JaxPM: the simulation of bench/nbody/step_bench.cpp, on whatever device JAX prefers.

side^3 particles 1 Mpc/h apart on a mesh of as many cells, float32, started by second-order Lagrangian
perturbation theory at a = 0.1, in equal steps of a to 1 with FastPM's factors; prints what nbody_job.py says.
"""

import sys
from importlib.metadata import version

try:
    import jax
    import jax.numpy as jnp
    import jax_cosmo as jc
    from jaxpm import growth
    from jaxpm.distributed import uniform_particles
    from jaxpm.pm import linear_field, lpt, pm_forces
except ImportError as error:
    sys.exit(f"jaxpm_steps.py is skipped: {error} (see bench/peers/README.md)")

import nbody_job

# pmwd's SimpleLCDM; sigma8 is what its amplitude of 2e-9 gives.
OMEGA_M = 0.3
COSMOLOGY = dict(Omega_c=0.25, Omega_b=0.05, h=0.7, n_s=0.96, sigma8=0.812, Omega_k=0.0, w0=-1.0, wa=0.0)


def factors(cosmo, steps):
    """The first kick, and each step's drift and the kicks around its end, which are one."""
    ends = jnp.linspace(nbody_job.A_START, 1, steps + 1)
    middles = (ends[1:] + ends[:-1]) / 2

    def kick(at, begin, end):
        change = growth.Gf(cosmo, end) - growth.Gf(cosmo, begin)
        return 1.5 * OMEGA_M * change / growth.dGfa(cosmo, at) / (at**2 * growth.E(cosmo, at))

    def drift(at, begin, end):
        slope = growth.growth_factor(cosmo, at) * growth.growth_rate(cosmo, at) / at
        change = growth.growth_factor(cosmo, end) - growth.growth_factor(cosmo, begin)
        return change / slope / (at**3 * growth.E(cosmo, at))

    after = jnp.concatenate([middles[1:], ends[-1:]])
    first = kick(ends[:1], ends[:1], middles[:1])
    return first, drift(middles, ends[:-1], ends[1:]), kick(ends[1:], middles, after)


def main():
    options = nbody_job.parse_arguments(__doc__)
    if options.ratio != 1:
        sys.exit(f"JaxPM has as many cells as particles, so --ratio must be 1, not {options.ratio}")
    shape, box = (options.side,) * 3, (float(options.side),) * 3
    # jax_cosmo keeps tables in a cosmology, so that each compiled function makes its own.
    cosmology = lambda: jc.Cosmology(**COSMOLOGY)
    wave_numbers = jnp.logspace(-4, 2, 512)
    power = jc.power.linear_matter_power(cosmology(), wave_numbers)

    @jax.jit
    def start(seed):
        spectrum = lambda k: jnp.interp(k.reshape(-1), wave_numbers, power).reshape(k.shape)
        field = linear_field(shape, box, spectrum, seed=seed)
        lattice = uniform_particles(shape)
        displacement, momentum, _ = lpt(cosmology(), field, lattice, a=nbody_job.A_START, order=2)
        return lattice + displacement, momentum

    first_kick, drifts, kicks = factors(cosmology(), options.steps)

    @jax.jit
    def steps(position, momentum):
        def step(state, factor):
            drift, kick = factor
            position = state[0] + drift * state[1]
            return (position, state[1] + kick * pm_forces(position, mesh_shape=shape)), None

        momentum = momentum + first_kick * pm_forces(position, mesh_shape=shape)
        return jax.lax.scan(step, (position, momentum), (drifts, kicks))[0]

    seed = jax.random.key(1)
    state = start(seed)
    nbody_job.measure(options, "JaxPM", version("jaxpm"), lambda: start(seed), lambda: steps(*state))


if __name__ == "__main__":
    main()
