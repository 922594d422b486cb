"""The job of compare.py: to rebuild a photograph from its Laplacian by Jacobi's method.

Given b (m x n), find u with zero outside the picture such that the 5-point Laplacian of u is b, by
sweeps u_new[i, j] = (((u[i-1, j] + u[i+1, j]) + u[i, j-1]) + u[i, j+1] - b[i, j]) / 4, from u = b.

    python job.py photo PHOTO.npy ROWS COLUMNS       writes a photograph to work on
    python job.py difference PICTURE.npy OTHER.npy   prints the largest difference of two pictures
"""

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


def cpu_name():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(l.split(": ", 1)[1].strip() for l in lines if l.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def rebuild(photo, sweeps, output, solve):
    """Does the job once, writes the picture and returns a report.

    solve(source, sweeps) starts from the source, makes the sweeps and returns the picture and the
    seconds that the sweeps took, with everything compiled, copied and waited for.
    """
    picture = np.load(photo).astype(np.float32)
    source = laplacian(picture)
    solve(source, 20)  # compiles and warms up
    rebuilt, seconds = solve(source, sweeps)
    np.save(output, np.asarray(rebuilt, dtype=np.float32))
    rows, columns = picture.shape
    error = float(np.max(np.abs(np.asarray(rebuilt, dtype=np.float64) - picture)))
    return {"rows": rows, "columns": columns, "sweeps": sweeps, "seconds": seconds, "max_abs_error": error}


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    if what == "photo":
        np.save(words[0], photograph(int(words[1]), int(words[2])))
    else:
        one, other = map(np.load, words)
        print(float(np.max(np.abs(one - other))))
