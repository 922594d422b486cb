"""Draws the plots of docs/validation.md from what nbody_validation_test wrote.

    COIR_VALIDATION_FOLDER=/tmp/v build/openmp/tests/nbody/nbody_validation_test
    python docs/validation/plots.py /tmp/v docs/img

Needs matplotlib.
"""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def number(word):
    """A number, or the word where it is none; names such as 1_4 aren't."""
    try:
        return word if "_" in word else float(word)
    except ValueError:
        return word


def rows(folder, name):
    """Lists of words and numbers, a list for each line."""
    lines = (folder / f"{name}.txt").read_text().splitlines()
    return [[number(word) for word in line.split()] for line in lines if not line.startswith("#")]


def curves(table):
    """{label: (x, y)} of rows that are label, x, y."""
    result = {}
    for label, x, y in table:
        xs, ys = result.setdefault(label, ([], []))
        xs.append(x)
        ys.append(y)
    return result


def save(figure, folder, name):
    figure.tight_layout()
    figure.savefig(folder / f"validation_{name}.png", dpi=100)
    plt.close(figure)


def plane_wave(source, target):
    table = rows(source, "plane_wave_profile")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    columns = list(zip(*table))
    axes[0].plot(columns[1], columns[3], "-", color="0.6", lw=3, label="Zel'dovich")
    axes[0].plot(columns[2], columns[4], ".", ms=4, label="64 particles, 40 steps")
    axes[0].set_xlabel("x / box")
    axes[0].set_ylabel("p  [100 km/s]")
    axes[0].legend()
    axes[1].plot(columns[0], [100 * (x - right) for x, right in zip(columns[2], columns[1])])
    axes[1].set_xlabel("q / box")
    axes[1].set_ylabel("error of x  [% of the box]")
    save(figure, target, "plane_wave")


def order(source, target):
    figure, axis = plt.subplots(figsize=(5, 3.6))
    lines = {}
    for stepper, assignment, steps, distance, _ in rows(source, "order"):
        if assignment == "cic":
            xs, ys = lines.setdefault(stepper, ([], []))
            xs.append(steps)
            ys.append(distance)
    for stepper, (xs, ys) in lines.items():
        axis.loglog(xs, ys, "o-", label=stepper)
    axis.loglog(xs, [ys[0] * (xs[0] / x) ** 2 for x in xs], "--", color="0.6", label="second order")
    axis.set_xlabel("steps n")
    axis.set_ylabel("rms |x(n) - x(2n)|  [Mpc/h]")
    axis.legend()
    save(figure, target, "order")


def steps(source, target):
    figure, axis = plt.subplots(figsize=(6, 3.6))
    for label, (xs, ys) in curves(rows(source, "bullfrog")).items():
        if label in ("fastpm_5", "fastpm_10", "bullfrog_5", "bullfrog_10", "plain_10", "fastpm_80"):
            axis.plot(xs, ys, label=label.replace("_", ", ") + " steps")
    axis.axhspan(0.99, 1.01, color="0.9")
    axis.set_ylim(0.9, 1.1)
    axis.set_xlabel("k / k_Nyquist of the particles")
    axis.set_ylabel("P / P(fastpm, 40 steps)")
    axis.legend(fontsize=8)
    save(figure, target, "steps")


def kernels(source, target):
    figure, axis = plt.subplots(figsize=(6, 3.6))
    for label, (xs, ys) in curves(rows(source, "kernels")).items():
        if label in ("gadget_ratio_2", "naive", "5_4", "1_4_tsc", "gadget_tsc"):
            continue  # off the plot, on other lines, or below them
        axis.plot(xs, ys, "--" if "ratio" in label else "-", label=label.replace("_ratio_", ", mesh ratio "))
    axis.set_xlabel("k / k_Nyquist of the particles")
    axis.set_ylabel("P / P(128^3 particles, mesh 256^3)")
    axis.legend(fontsize=7, ncol=2)
    save(figure, target, "kernels")


def seeds(source, target):
    figure, axis = plt.subplots(figsize=(5, 3.6))
    k, ratio, error = zip(*rows(source, "seeds"))
    axis.errorbar(k, ratio, error, fmt="o", capsize=3)
    axis.axhline(0, color="0.6")
    axis.set_xlabel("k  [h/Mpc]")
    axis.set_ylabel("mean P / P_linear - 1")
    save(figure, target, "seeds")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, target = (pathlib.Path(name) for name in sys.argv[1:])
    for draw in (plane_wave, order, steps, kernels, seeds):
        draw(source, target)


if __name__ == "__main__":
    main()
