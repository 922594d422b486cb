"""A snapshot as pynbody and yt read it, with every warning taken for an error: positions, velocities and masses are
those of the file, with the units that it says.

    python snapshots.py SNAPSHOT OMEGA_M BOX_IN_MPC_PER_H H
"""

import sys
import warnings

import h5py
import numpy as np

CRITICAL_DENSITY = 27.7536627  # 1e10 Msun/h per (Mpc/h)^3


TOLERANCE = 1e-5  # single precision, and a solar mass of which codes know five digits


def expect_close(name, values, expected):
    error = np.max(np.abs(values / expected - 1))
    print(f"{name}: within {error:.1e}")
    if not error < TOLERANCE:
        sys.exit(f"{name}: off by {error:.1e}, {TOLERANCE:.0e} is asked for")


def check_pynbody(path, stored, a, h, mass):
    import pynbody

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        snapshot = pynbody.load(path)
        for name in ("pos", "vel", "mass", "iord"):
            snapshot[name]
        expect_close("pynbody: scale factor", snapshot.properties["a"], a)
        expect_close("pynbody: h", snapshot.properties["h"], h)
        snapshot.physical_units()
    assert len(snapshot.dm) == len(stored["ids"])
    np.testing.assert_array_equal(snapshot["iord"], stored["ids"])
    expect_close("pynbody: positions", snapshot["pos"].in_units("kpc"), stored["positions"] * a / h)
    expect_close("pynbody: velocities", snapshot["vel"].in_units("km s**-1"), stored["velocities"] * np.sqrt(a))
    expect_close("pynbody: masses", snapshot["mass"].in_units("Msol"), 1e10 * mass / h)


def check_yt(path, stored, a, h, mass):
    import yt

    yt.set_log_level("error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What yt and its dependencies say about each other isn't about the file.
        warnings.simplefilter("ignore", DeprecationWarning)
        dataset = yt.load(path)
        particles = dataset.all_data()
        order = np.argsort(particles["PartType1", "particle_index"])
        field = lambda name, unit: particles["PartType1", name][order].to(unit).value
        positions = field("particle_position", "kpc")
        velocities = field("particle_velocity", "km/s")
        masses = field("particle_mass", "Msun")
    rows = np.argsort(stored["ids"])
    expect_close("yt: redshift", 1 + dataset.current_redshift, 1 / a)
    expect_close("yt: h", dataset.hubble_constant, h)
    expect_close("yt: positions", positions, stored["positions"][rows] * a / h)
    expect_close("yt: velocities", velocities, stored["velocities"][rows] * np.sqrt(a))
    expect_close("yt: masses", masses, 1e10 * mass / h)


def main(path, omega_m, box, h):
    with h5py.File(path) as file:
        group = file["PartType1"]
        stored = {
            "positions": group["Coordinates"][:].astype(np.float64),
            "velocities": group["Velocities"][:].astype(np.float64),
            "ids": group["ParticleIDs"][:],
        }
        header = file["Header"].attrs
        a = header["Time"]
        mass = CRITICAL_DENSITY * omega_m * box**3 / len(stored["ids"])
        expect_close("the header's mass", header["MassTable"][1], mass)
        expect_close("Masses", group["Masses"][:], mass)
        expect_close("the box", header["BoxSize"], 1e3 * box)
        expect_close("the header's h", header["HubbleParam"], h)
    check_pynbody(path, stored, a, h, mass)
    check_yt(path, stored, a, h, mass)


main(sys.argv[1], *(float(number) for number in sys.argv[2:5]))
