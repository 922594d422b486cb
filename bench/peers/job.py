"""The job that every peer does: rebuild a photograph from its Laplacian by Jacobi's method.

Given b (m x n), find u with zero outside the picture such that the 5-point Laplacian of u is b, by
sweeps u_new[i, j] = (((u[i-1, j] + u[i+1, j]) + u[i, j-1]) + u[i, j+1] - b[i, j]) / 4, from u = b.

A peer calls main() with a function that makes the sweeps. Run by itself, this script writes a
photograph to work on: python job.py PHOTO.npy ROWS COLUMNS
"""

import argparse
import json
import math
import platform
import sys

import numpy as np


def photograph(rows, columns):
    """A grey picture (0 to 255, float32) with slopes, edges and fine texture, as a photograph has."""
    y = np.linspace(0, 1, rows)[:, None]
    x = np.linspace(0, 1, columns)[None, :]
    light = 90 + 70 * x * (1 - y) + 30 * np.sin(5 * x + 3 * y)
    cup = (x - 0.55) ** 2 + (1.5 * (y - 0.5)) ** 2
    picture = np.where(cup < 0.06, 230 - 400 * cup, light)
    picture = np.where(cup < 0.02, 40 + 900 * cup, picture)
    texture = 12 * np.sin(137 * x + 40 * np.sin(9 * y)) * np.sin(113 * y)
    return np.clip(np.rint(picture + texture), 0, 255).astype(np.float32)


def laplacian(picture):
    """The 5-point Laplacian of a picture that is zero outside; exact for whole grey levels."""
    u = np.pad(picture, 1)
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * picture


def relative_residual(picture, source):
    residual = source.astype(np.float64) - laplacian(picture.astype(np.float64))
    return float(np.linalg.norm(residual) / np.linalg.norm(source.astype(np.float64)))


def cpu_name():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(l.split(": ", 1)[1].strip() for l in lines if l.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def finite(number):
    return number if math.isfinite(number) else None


def main(application, version, backend, device, threads, solve):
    """Does the job once and prints a report with the keys of coir-jacobi's.

    solve(source, sweeps) starts from the source, makes the sweeps and returns the picture and the
    seconds that the sweeps took, with everything compiled, copied and waited for.
    """
    parser = argparse.ArgumentParser(description=f"{application}: rebuild a picture from its Laplacian")
    parser.add_argument("photo", help="the picture, .npy")
    parser.add_argument("--sweeps", type=int, default=150_000)
    parser.add_argument("--output", help="write the rebuilt picture, .npy")
    arguments = parser.parse_args()

    picture = np.load(arguments.photo).astype(np.float32)
    source = laplacian(picture)
    solve(source, 20)  # compiles and warms up
    rebuilt, seconds = solve(source, arguments.sweeps)
    rebuilt = np.asarray(rebuilt, dtype=np.float32)
    if arguments.output:
        np.save(arguments.output, rebuilt)

    rows, columns = picture.shape
    error = rebuilt.astype(np.float64) - picture
    mean_square = float(np.mean(error**2))
    report = {
        "application": application,
        "version": version,
        "kokkos_version": None,
        "backend": backend,
        "device": device,
        "threads": threads,
        "scheme": "plain",
        "precision": "float",
        "rows": rows,
        "columns": columns,
        "sweeps": arguments.sweeps,
        "seconds": seconds,
        "cells_per_second": rows * columns * arguments.sweeps / seconds,
        "bandwidth_share": None,
        "relative_residual": finite(relative_residual(rebuilt, source)),
        "converged": False,
        "stopped_by": "sweeps",
        "max_abs_error": finite(float(np.max(np.abs(error)))),
        "psnr_db": 10 * math.log10(255**2 / mean_square) if mean_square > 0 else None,
    }
    json.dump(report, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python job.py PHOTO.npy ROWS COLUMNS")
    np.save(sys.argv[1], photograph(int(sys.argv[2]), int(sys.argv[3])))
