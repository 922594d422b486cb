"""JAX and jaxDecomp: Fourier transforms of a cube whose planes the devices of one host share out, in float32.

    python3 distributed_transforms.py --side 256 --devices 2 [--cores]

jaxdecomp is its pfft3d and pifft3d, of complex numbers; jax what jnp.fft makes of a sharded array; shard_map planes, an
exchange and lines by hand, with spectra shared out along y as coir's. Prints one JSON object with the median seconds of a call, waited for,
after compilation. What isn't installed or lacks the memory says so in `problems`.
"""

import argparse
import json
import os
import statistics
import sys
import time


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=256, help="numbers along a side, which the devices must divide")
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--cores", action="store_true", help="so many devices made of this host's cores")
    options = parser.parse_args()
    if options.side % options.devices:
        parser.error(f"--side must be a multiple of {options.devices} devices, not {options.side}")
    return options


options = parse_arguments()
if options.cores:
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.devices}"
try:
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType, NamedSharding, PartitionSpec
except ImportError as error:
    sys.exit(f"distributed_transforms.py: no JAX: {error}")

devices = jax.devices()[: options.devices]
if len(devices) < options.devices:
    sys.exit(f"distributed_transforms.py: JAX has {len(devices)} devices, not {options.devices}")
mesh = jax.make_mesh((options.devices, 1), ("x", "y"), axis_types=(AxisType.Auto,) * 2, devices=devices)
PLANES, ROWS = PartitionSpec("x"), PartitionSpec(None, "x")


def shared_out(function, there, back):
    """The function of the devices' parts, jitted."""
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=there, out_specs=back))


def forward(of_planes):
    def transform(field):
        rows = jax.lax.all_to_all(of_planes(field, axes=(1, 2)), "x", split_axis=1, concat_axis=0, tiled=True)
        return jnp.fft.fft(rows, axis=0)

    return shared_out(transform, PLANES, ROWS)


def backward(of_planes):
    def transform(spectrum):
        lines = jax.lax.all_to_all(jnp.fft.ifft(spectrum, axis=0), "x", split_axis=0, concat_axis=1, tiled=True)
        return of_planes(lines, axes=(1, 2))

    return shared_out(transform, ROWS, PLANES)


def pairs_of(package):
    """{kind: (forward, backward)} of a package."""
    if package == "jaxdecomp":
        import jaxdecomp

        return {"complex": (jax.jit(jaxdecomp.fft.pfft3d), jax.jit(jaxdecomp.fft.pifft3d))}
    if package == "shard_map":
        return {
            "complex": (forward(jnp.fft.fftn), backward(jnp.fft.ifftn)),
            "real": (forward(jnp.fft.rfftn), backward(jnp.fft.irfftn)),
        }
    planes, rows = NamedSharding(mesh, PLANES), NamedSharding(mesh, ROWS)
    return {
        "complex": (jax.jit(jnp.fft.fftn, out_shardings=rows), jax.jit(jnp.fft.ifftn, out_shardings=planes)),
        "real": (jax.jit(jnp.fft.rfftn, out_shardings=rows), jax.jit(jnp.fft.irfftn, out_shardings=planes)),
    }


def field_of(kind):
    """Normal numbers, planes shared out."""

    @jax.jit
    def normal():
        numbers = jax.random.normal(jax.random.key(1), (options.side,) * 3, jnp.float32)
        return jax.lax.with_sharding_constraint(numbers.astype(jnp.complex64 if kind == "complex" else jnp.float32), spread)

    spread = NamedSharding(mesh, PLANES)
    return normal()


def median_seconds(function, argument):
    for _ in range(2):
        function(argument).block_until_ready()
    seconds = []
    for _ in range(options.repeat):
        begin = time.perf_counter()
        function(argument).block_until_ready()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def main():
    results, problems = {}, {}
    for package in ("jaxdecomp", "shard_map", "jax"):
        try:
            pairs = pairs_of(package)
        except ImportError as error:
            problems[package] = str(error)
            continue
        for kind, (there, back) in pairs.items():
            try:
                field = field_of(kind)
                mine = results.setdefault(package, {})
                mine[f"{kind} forward"] = median_seconds(there, field)
                mine[f"{kind} backward"] = median_seconds(back, there(field))
            except Exception as error:  # of memory that is lacking, or of a release that can't do it
                problems[f"{package}, {kind}"] = (str(error).splitlines() or [type(error).__name__])[0][:200]
    about = {"jax": jax.__version__, "device": devices[0].device_kind, "devices": len(devices), "side": options.side}
    print(json.dumps({**about, "seconds": results, "problems": problems}))


main()
