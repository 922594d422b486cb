#!/usr/bin/env python3
"""JaxPM: the value and gradient of bench/nbody/ranks_table --gradient, on all devices that JAX has.

side^3 particles 1 Mpc/h apart grow from white noise by second-order Lagrangian perturbation theory and steps of
FastPM; the loss is the mean squared distance of their density from 1. The gradient is by the noise alone, and each step
is computed again on the way back. Prints the seconds of the value and of the value with its gradient, after compilation.
Over several devices slabs have `--halo` planes of ghosts, and no particle may be farther than half of them from its
site. `--check` compares the gradient with a central difference along random noise.
"""

import argparse
import os
import statistics
import sys
import time
from functools import partial

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
try:
    import jax
    import jax.numpy as jnp
    import jax_cosmo as jc
    from jax.sharding import NamedSharding, PartitionSpec
    from jaxdecomp._src.fft_utils import ADJOINT
    from jaxdecomp._src.jax.fft import PfftHiPrim
    from jaxdecomp._src.jax.halo import HaloExchangeHiPrim
    from jaxpm import growth
    from jaxpm.distributed import fft3d, ifft3d, normal_field
    from jaxpm.kernels import fftk
    from jaxpm.painting import cic_paint_dx
    from jaxpm.pm import lpt, pm_forces
except ImportError as error:
    sys.exit(f"jaxpm_gradient.py is skipped: {error} (see bench/peers/README.md)")

import jaxpm_steps
import nbody_job

# JAX 0.11 asks for transposes inside of a scan, which jaxdecomp 0.3.4 lacks: these are what its own vjp says.
PfftHiPrim.transpose = lambda self, ct, x: x.accum(
    PfftHiPrim(jax.typeof(ct), ADJOINT(self.params["fft_type"]), not self.params["adjoint"])(ct)
)
HaloExchangeHiPrim.transpose = lambda self, ct, x: x.accum(HaloExchangeHiPrim(jax.typeof(ct), **self.params)(ct))


def loss_of(options, sharding, halo):
    shape = (options.side,) * 3
    # jax_cosmo keeps tables in a cosmology: made here, they are constants of the compiled functions.
    cosmo = jc.Cosmology(**jaxpm_steps.COSMOLOGY)
    wave_numbers = jnp.logspace(-4, 2, 512)
    power = jc.power.linear_matter_power(jc.Cosmology(**jaxpm_steps.COSMOLOGY), wave_numbers)
    first, drifts, kicks = jaxpm_steps.factors(cosmo, options.steps)
    for second in growth.growth_factor_second, growth.growth_rate_second:
        second(cosmo, jnp.atleast_1d(nbody_job.A_START))
    of_mesh = dict(halo_size=halo, sharding=sharding)
    force = partial(pm_forces, mesh_shape=shape, paint_absolute_pos=False, **of_mesh)

    def loss(noise):
        modes = fft3d(noise)
        k = sum(component**2 for component in fftk(modes)) ** 0.5
        field = ifft3d(modes * jnp.sqrt(jnp.interp(k.reshape(-1), wave_numbers, power).reshape(k.shape)))
        position, momentum, _ = lpt(cosmo, field, None, a=nbody_job.A_START, order=2, **of_mesh)

        @jax.checkpoint
        def step(state, factor):
            drift, kick = factor
            position = state[0] + drift * state[1]
            return (position, state[1] + kick * force(position)), None

        momentum = momentum + first * force(position)
        position, _ = jax.lax.scan(step, (position, momentum), (drifts, kicks))[0]
        return jnp.mean((cic_paint_dx(position, **of_mesh) - 1) ** 2)

    return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=128, help="particles along a side")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--halo", type=int, default=48, help="planes of ghosts on each side of a slab")
    parser.add_argument("--check", action="store_true", help="compare with a difference")
    parser.add_argument("--wait-for", help="a file: the timed part begins when it is there")
    options = parser.parse_args()

    devices, sharding, halo = jax.devices(), None, 0
    if len(devices) > 1:
        kinds = (jax.sharding.AxisType.Auto,) * 2
        sharding = NamedSharding(
            jax.make_mesh((len(devices), 1), ("x", "y"), axis_types=kinds), PartitionSpec("x", "y")
        )
        halo = (min(options.halo, options.side // len(devices)), 0)
    name = f"JaxPM {options.side}^3 on {len(devices)} {devices[0].device_kind}"
    noise, along = (normal_field(jax.random.key(seed), (options.side,) * 3, sharding) for seed in (1, 2))
    loss = loss_of(options, sharding, halo)
    start = time.perf_counter()
    value, both = (jax.jit(f).lower(noise).compile() for f in (loss, jax.value_and_grad(loss)))
    print(f"{name}: compiled in {time.perf_counter() - start:.1f} s", flush=True)
    while options.wait_for and not os.path.exists(options.wait_for):
        time.sleep(0.05)

    result, slope = both(noise)
    print(f"{name}: value {float(result):.6g}, gradient's norm {float(jnp.linalg.norm(slope)):.6g}", flush=True)
    seconds = lambda f: nbody_job.seconds_of(lambda: f(noise))
    seconds(value)
    of_value, of_both = zip(*((seconds(value), seconds(both)) for _ in range(3)))
    of_value, of_both = statistics.median(of_value), statistics.median(of_both)
    print(f"{name}: value {of_value:.4g} s, with gradient {of_both:.4g} s, ratio {of_both / of_value:.3g}", flush=True)
    if options.check:
        by = lambda length: float(value(noise + length * along))
        difference = (by(1e-2) - by(-1e-2)) / 2e-2
        found = float(jnp.sum(slope * along))
        print(f"{name}: along random noise {found:.6g}, by difference {difference:.6g}")
        if abs(found - difference) > 0.05 * abs(difference):
            raise SystemExit("the gradient isn't that of the value: its time is no peer's")


if __name__ == "__main__":
    main()
