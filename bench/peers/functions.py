#!/usr/bin/env python3
"""Times every function of arrays, of linear algebra and of Fourier transforms beside the packages that are installed.

    python3 functions.py --build build/openmp --python venv/bin/python --sizes 1000 100000 10000000

Runs our benchmarks *functions_bench and the peers in turns, and prints a table of milliseconds as Markdown, the rows in which the best
peer is fastest first. Marked are rows in which a peer is faster, and those of arrays that no cache holds that move less than 40 % of
the bytes that memory allows. A row's name is a C++ expression of the arrays of bench/support/functions.hpp. Peers evaluate the same text
as Python among the functions of their package, or the one that stands here.
"""

import json
import re
import statistics
import sys
from pathlib import Path
from types import SimpleNamespace

from turns import Failed, in_turns, main_of, parser_of, print_table, run, run_bench, run_json, write_json

FASTER, MEMORY, LARGE = 0.95, 0.4, 10_000_000
PACKAGES = ["numpy", "scipy", "cupy", "jax", "torch"]

# Our text: Python's, where that is another one.
PYTHON = {
    "mask && x < 1": "mask & (x < 1)",
    "!mask": "~mask",
    "out += y": "add(out, y, out=out)",
    "tall * tall(range(), range(0, 1))": "tall * tall[:, :1]",
    "tall * x(range(0, 3))": "tall * x[:3]",
    "m + x(range(0, side))": "m + x[:side]",
    "cast<double>(x)": "x.astype('f8')",
    "cast<double>(k)": "k.astype('f8')",
    "tgamma(u)": "gamma(u)",
    "lgamma(u)": "gammaln(u)",
    # reductions
    "sum(m(range(), range(end, end, 2)))": "m[:, ::2].sum()",
    "std_dev(x)": "std(x)",
    "std_dev(tall, 0)": "std(tall, 0)",
    "norm(x)": "linalg.norm(x)",
    "norm(z)": "linalg.norm(z)",
    "norm(tall, 1)": "linalg.norm(tall, axis=1)",
    "m - with_axis(mean(m, 1), 1)": "m - mean(m, 1)[:, None]",
    "vmap(Norm{})(tall)": "linalg.norm(tall, axis=1)",
    "vmap(Norm{})(rows)": "linalg.norm(rows, axis=1)",
    "vmap(Norm{}, in_axes(1))(wide)": "linalg.norm(wide, axis=0)",
    "vmap(Dot{}, in_axes(0, 0))(rows, rows)": "einsum('ij,ij->i', rows, rows)",
    "vmap(NormOfRows{})(rows)": "linalg.norm(rows, axis=1)",
    "vmap(DotOfRows{})(rows, rows)": "einsum('ij,ij->i', rows, rows)",
    "vmap(vmap(DotOfRows{}, in_axes(unmapped, 0)), in_axes(0, unmapped))(m, product)": "m @ product.T",
    "scaled(rows)": "multiply(rows, 2, out=rows)",
    # making, moving, joining, selecting
    "zeros<float, Memory>(n)": "full(n, 0, 'f4')",  # zeros() of NumPy has pages that nobody has written yet
    "ones<float, Memory>(n)": "ones(n, 'f4')",
    "full<float, Memory>({n}, 7)": "full(n, 7, 'f4')",
    "arange<std::int64_t, Memory>(n)": "arange(n)",
    "arange<double, Memory>(0., double(n), 1.)": "arange(0.0, n, 1.0)",
    "linspace<double, Memory>(0, 1, n)": "linspace(0, 1, n)",
    "linspace<float, Memory>(0, 1, n)": "linspace(0, 1, n, dtype='f4')",
    "logspace<double, Memory>(0, 1, n)": "logspace(0, 1, n)",
    "eye<double, Memory>(side)": "eye(side)",
    "indices<0>({side, side})": "copy(broadcast_to(arange(side)[:, None], (side, side)))",
    "from_function<Memory>({side, side}, Distance{})": "fromfunction(lambda i, j: i + 0.5 * j, (side, side))",
    "map(Blend{}, x, y)": "where(x < 0, x, y)",
    "x(range(end, end, -1))": "copy(x[::-1])",
    "x(range(end, end, 2))": "copy(x[::2])",
    "m(range(end, end, -1), range(end, end, -1))": "ascontiguousarray(m[::-1, ::-1])",
    # copies where NumPy has views
    "real(z)": "copy(real(z))",
    "imag(z)": "copy(imag(z))",
    "diagonal(m)": "copy(diagonal(m))",
    "expand_dims(squeeze(expand_dims(x, 0), 0), 1)": "copy(expand_dims(squeeze(expand_dims(x, 0), 0), 1))",
    "flip(m, 1)": "ascontiguousarray(m[:, ::-1])",
    "transpose(m)": "ascontiguousarray(m.T)",
    "transpose(tall)": "ascontiguousarray(tall.T)",
    "transpose(wide)": "ascontiguousarray(wide.T)",
    "transpose(cube)": "ascontiguousarray(cube.T)",
    "transpose(cube, {0, 2, 1})": "ascontiguousarray(cube.transpose(0, 2, 1))",
    "transpose(cube, {1, 0, 2})": "ascontiguousarray(cube.transpose(1, 0, 2))",
    "transpose(four, {0, 2, 1, 3})": "ascontiguousarray(four.transpose(0, 2, 1, 3))",
    "swap_axes(cube, 0, 2)": "ascontiguousarray(swapaxes(cube, 0, 2))",
    "moveaxis(cube, 0, -1)": "ascontiguousarray(moveaxis(cube, 0, -1))",
    "transpose(four, {3, 2, 1, 0})": "ascontiguousarray(four.T)",
    "cube + swap_axes(cube, 1, 2)": "cube + swapaxes(cube, 1, 2)",
    "broadcast_to(x(range(0, side)), {side, side})": "copy(broadcast_to(x[:side], (side, side)))",
    "reshape(transpose(m), {1, -1})": "copy(reshape(m.T, (1, -1)))",
    "assign_where(out, out < 0, 0)": "copyto(out, 0, where=out < 0)",
    "assign_where(out, mask, y)": "copyto(out, y, where=mask)",
    "concatenate(0, x, y)": "concatenate((x, y))",
    "concatenate(1, tall, tall)": "concatenate((tall, tall), 1)",
    "stack(0, x, y)": "stack((x, y))",
    "stack(1, x, y)": "stack((x, y), 1)",
    "roll(cube, {1, 2}, {0, 2})": "roll(cube, (1, 2), (0, 2))",
    "tile(m, {2, 3})": "tile(m, (2, 3))",
    "pad(m, {{1, 2}, {0, 3}}, 7)": "pad(m, ((1, 2), (0, 3)), constant_values=7)",
    "pad(m, 3, Pad::reflect)": "pad(m, 3, 'reflect')",
    "pad(m, 3, Pad::wrap)": "pad(m, 3, 'wrap')",
    "compress(x, mask)": "x[mask]",
    "compress(x, x > 0)": "x[x > 0]",
    # sorting, samples
    "argsort(x)": "argsort(x, stable=True)",
    "argsort(k)": "argsort(k, stable=True)",
    "argsort(m, 0)": "argsort(m, 0, stable=True)",
    "unique_counts(k)": "unique(k, return_counts=True)",
    "searchsorted(sorted(range(0, 1000)), x)": "searchsorted(sorted[:1000], x)",
    "histogram(x, 100, -5, 5)": "histogram(x, 100, (-5, 5))",
    "histogram(x, 100, -5, 5, weights(u))": "histogram(x, 100, (-5, 5), weights=u)",
    "bincount(k, weights(u))": "bincount(k, u)",
    "digitize(x, linspace<float, Memory>(-3, 3, 100))": "digitize(x, linspace(-3, 3, 100, dtype='f4'))",
    "quantile(x, {0.25, 0.75})": "quantile(x, (0.25, 0.75))",
    "gradient(m, 0.1, 0)": "gradient(m, 0.1, axis=0)",
    "trapezoid(m, 0.1, 0)": "trapezoid(m, dx=0.1, axis=0)",
    "interp(x, linspace<float, Memory>(-3, 3, 1000), linspace<float, Memory>(0, 1, 1000))": (
        "interp(x, linspace(-3, 3, 1000, dtype='f4'), linspace(0, 1, 1000, dtype='f4'))"
    ),
    "random::uniform<float, Memory>(a_key, {n})": "generator.random(n, 'f4')",
    "random::uniform<double, Memory>(a_key, {n})": "generator.random(n)",
    "random::normal<float, Memory>(a_key, {n})": "generator.standard_normal(n, 'f4')",
    "random::normal<double, Memory>(a_key, {n})": "generator.standard_normal(n)",
    "random::integers<std::int64_t, Memory>(a_key, {n}, 0, 1000)": "generator.integers(0, 1000, n)",
    "random::permutation<Memory>(a_key, n)": "generator.permutation(n)",
    "filled(out)": "generator.random(dtype='f4', out=out)",
    # linear algebra
    "matmul(m, transpose(m))": "m @ m.T",
    "matmul(m, x(range(0, side)))": "m @ x[:side]",
    "matmul(x(range(0, side)), m)": "x[:side] @ m",
    "matmul(transpose(tall), tall)": "tall.T @ tall",
    "matmul(tall, m(range(0, 3), range(0, 3)))": "tall @ m[:3, :3]",
    "product_into(product, m, m)": "matmul(m, m, out=product)",
    "matvec(m, x(range(0, side)))": "matvec(m, x[:side])",
    "outer(x(range(0, side)), y(range(0, side)))": "outer(x[:side], y[:side])",
    "matrix_norm(m, MatrixNorm::one)": "linalg.norm(m, 1)",
    'einsum<"ij,kj->ik">(m, m)': "einsum('ij,kj->ik', m, m)",
    'einsum<"ij,ij->i">(tall, tall)': "einsum('ij,ij->i', tall, tall)",
    'einsum<"ij->j">(m)': "einsum('ij->j', m)",
    'einsum<"bij,bj->bi">(stack_of(x, 16, 16), vectors_of(y, 16))': "einsum('bij,bj->bi', stack_of(x, 16, 16), vectors_of(y, 16))",
    "cov(transpose(tall))": "cov(tall.T)",
    "corrcoef(transpose(tall))": "corrcoef(tall.T)",
    "solve(spd, d(range(0, side)))": "linalg.solve(spd, d[:side])",
    "solve(stack_of(d, 32, 32), expand_dims(vectors_of(d, 32), 2))": "linalg.solve(stack_of(d, 32, 32), expand_dims(vectors_of(d, 32), 2))",
    "lstsq(spd, d(range(0, side)))": "linalg.lstsq(spd, d[:side])",
    "svd(spd, false)": "linalg.svd(spd, full_matrices=False)",
    **{f"{name}(spd)": f"linalg.{name}(spd)" for name in ("inv", "det", "cholesky", "qr", "eigh", "eigvalsh", "svdvals")},
    # Fourier transforms
    "fft::irfft2(fft::rfft2(m), side)": "fft.irfft2(fft.rfft2(m), m.shape)",
    "fft::irfftn(fft::rfftn(cube), edge)": "fft.irfftn(fft.rfftn(cube), cube.shape)",
    "fft::dct(x, {.type = 4})": "fft.dct(x, 4)",
    "fft::dst(d, {.type = 1})": "fft.dst(d, 1)",
    "fft::dct(m, {.norm = fft::Norm::ortho, .axis = 0})": "fft.dct(m, axis=0, norm='ortho')",
}


def python_of(row):
    """The text that peers evaluate."""
    return PYTHON.get(row, row.replace("fft::", "fft."))


def inputs_of(n):
    """The arrays of bench/support/functions.hpp, by NumPy."""
    import numpy as np

    rng = np.random.default_rng(5)
    side, edge = int(n**0.5), int(n ** (1 / 3) + 1e-6)
    normal = lambda *shape: rng.standard_normal(shape, "f4")
    x, y, d = normal(n), normal(n), rng.standard_normal(n)
    a = d[: side * side].reshape(side, side)
    arrays = {
        "x": x, "y": y, "u": rng.random(n, "f4") * np.float32(0.99) + np.float32(0.01), "out": y.copy(), "sorted": np.sort(x), "d": d,
        "k": rng.integers(0, 1000, n), "i": rng.integers(-1000, 1000, n, "i4"), "order": rng.permutation(n), "mask": x > 0,
        "z": (x + 1j * y).astype("c8"), "m": normal(side, side), "product": normal(side, side), "tall": normal(n // 3, 3),
        "wide": normal(3, n // 3), "rows": normal(n // 1000, 1000), "cube": normal(edge, edge, edge),
        "four": normal(*[int(n**0.25 + 1e-6)] * 4), "spd": a + a.T + 10 * side**0.5 * np.eye(side),
    }  # fmt: skip
    return {"n": n, "side": side, "edge": edge}, arrays


def package_of(name):
    """Its functions, what makes an array of its own of one of NumPy's, and what waits for a result."""
    put, wait = (lambda array: array), lambda result: None
    if name == "numpy":
        import numpy

        return {**vars(numpy), "generator": numpy.random.default_rng(1)}, put, wait
    if name == "scipy":
        import scipy
        import scipy.fft
        import scipy.linalg
        import scipy.special

        scipy.fft.set_global_backend("scipy")
        scipy.fft.set_workers(2).__enter__()
        return {**vars(scipy.special), "fft": scipy.fft, "linalg": scipy.linalg}, put, wait
    if name == "cupy":
        import cupy
        import cupyx.scipy.fft
        import cupyx.scipy.special

        wait = lambda result: cupy.cuda.Device().synchronize()
        special = {key: getattr(cupyx.scipy.special, key) for key in ("erf", "erfc", "gamma", "gammaln")}
        fft = SimpleNamespace(**{**vars(cupyx.scipy.fft), **vars(cupy.fft)})
        return {**vars(cupy), **special, "fft": fft, "generator": cupy.random.default_rng(1)}, cupy.asarray, wait
    if name == "jax":
        import jax
        import jax.scipy.fft

        jax.config.update("jax_enable_x64", True)
        special = {key: getattr(jax.scipy.special, key) for key in ("erf", "erfc", "gamma", "gammaln")}
        fft = SimpleNamespace(**{**vars(jax.scipy.fft), **vars(jax.numpy.fft)})
        return {**vars(jax.numpy), **special, "fft": fft}, jax.numpy.asarray, jax.block_until_ready
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = (lambda result: torch.cuda.synchronize()) if device == "cuda" else wait
    return vars(torch), lambda array: torch.as_tensor(array, device=device), wait


def stack_of(x, m, n):
    """As many matrices as a vector holds."""
    return x[: len(x) // (m * n) * m * n].reshape(-1, m, n)


def vectors_of(x, n):
    """As many vectors as stack_of(x, n, n) has matrices."""
    return x[: len(x) // (n * n) * n].reshape(-1, n)


def rows_of_prime(x):
    return x[: len(x) // 499 * 499].reshape(-1, 499)


def measure(name, rows):
    """Prints the seconds of rows such as "sort(x)/1000"."""
    import warnings

    from rows import seconds_per_call

    warnings.filterwarnings("ignore")
    functions, put, wait = package_of(name)
    seconds, size = {}, None
    for row in sorted(rows, key=lambda row: int(row.rpartition("/")[2])):
        text, _, n = row.rpartition("/")
        if n != size:
            numbers, arrays = inputs_of(int(n))
            arrays, size = {key: put(array) for key, array in arrays.items()}, n
        names = {**functions, **numbers, "stack_of": stack_of, "vectors_of": vectors_of, "rows_of_prime": rows_of_prime}
        code = compile(python_of(text), row, "eval", dont_inherit=True) if is_python(text) else None
        evaluate = lambda arrays: eval(code, {**names, **arrays})
        if name == "jax":
            import jax

            evaluate = jax.jit(evaluate)
        else:
            names.update(arrays)
            evaluate = lambda arrays: eval(code, names)

        def statement():
            result = evaluate(arrays)
            return result.item() if name in ("cupy", "torch") and getattr(result, "ndim", 1) == 0 else result

        try:
            if code:
                seconds[row] = seconds_per_call(statement, wait)
        except Exception as error:  # the package doesn't have it
            if not isinstance(error, (NameError, AttributeError, TypeError)):
                print(f"{name}, {row}: {type(error).__name__}: {str(error)[:80]}", file=sys.stderr)
    print(json.dumps(seconds))


def is_python(text):
    try:
        compile(python_of(text), text, "eval")
    except SyntaxError:
        return False
    return True


class Ours:
    name = "ours"

    def __init__(self, path, options):
        self.path, self.seconds, self.shares = path, options.seconds, {}
        self.regex = f"{options.rows}.*/({'|'.join(map(str, options.sizes))})/manual_time$"

    def run_once(self):
        entries, _ = run_bench(self.path, self.regex, self.seconds)
        entries = {entry["name"].removesuffix("/manual_time"): entry for entry in entries if "seconds" in entry}
        self.shares.update({row: entry["share_of_copy"] for row, entry in entries.items() if entry["bytes/s"]})
        return {row: entry["seconds"] for row, entry in entries.items()}

    def rows(self):
        listed = run(self.path, "--benchmark_list_tests", f"--benchmark_filter={self.regex}")
        return [line.removesuffix("/manual_time") for line in listed.splitlines()]

    def __str__(self):
        return self.path.name


class Peer:
    def __init__(self, name, rows, options):
        self.name, self.command = name, [options.python, __file__, "--measure", name, *rows]

    def run_once(self):
        return run_json(*self.command)

    def __str__(self):
        return self.name


def milliseconds(seconds):
    return "" if seconds is None else f"{1e3 * seconds:.3g}"


def main():
    if sys.argv[1:2] == ["--measure"]:
        return measure(sys.argv[2], sys.argv[3:])
    parser = parser_of(__doc__)
    parser.add_argument("--build", type=Path, help="a build tree with our benchmarks")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000, 10_000_000], help="numbers of elements")
    parser.add_argument("--rows", default="", metavar="REGEX", help="only rows in whose names this is found")
    parser.add_argument("--peers", nargs="*", choices=PACKAGES, default=PACKAGES)
    parser.add_argument("--join", nargs="+", type=Path, metavar="JSON", help="print the medians of what earlier runs wrote, and run nothing")
    parser.add_argument("--seconds", type=float, default=0.1, help="how long each of our rows is timed at least")
    parser.add_argument("--below", type=float, default=float("inf"), help="print only rows whose ratio is below this")
    options = parser.parse_args()
    if options.join:
        runs = [json.loads(path.read_text()) for path in options.join]
    elif options.build:
        runs = runs_in_turns(options)
    else:
        raise Failed("name a build tree by --build, or files by --join")
    table = joined(runs)
    peers = [name for name in PACKAGES if any(name in entry for entry in table)]
    print_table(
        ["row", "ours, ms", "share of copy", *peers, "best peer / ours", ""],
        [
            [
                f"`{entry['row']}`".replace("|", "\\|"),
                milliseconds(entry["ours"]),
                "" if entry["share"] is None else f"{entry['share']:.0%}",
                *(milliseconds(entry.get(name)) for name in peers),
                f"{entry['ratio']:.2f}" if entry["ratio"] else "",
                ", ".join(entry["marks"]),
            ]
            for entry in table
            if options.below == float("inf") or (entry["ratio"] or options.below) < options.below
        ],
    )
    print(f"\n{summary(table)}")
    write_json(options.json, table)


def summary(table):
    """How many rows of each size are slower than the best peer, and how the ratios spread."""
    parts = []
    for size in sorted({int(entry["row"].rpartition("/")[2]) for entry in table}):
        ratios = sorted(entry["ratio"] for entry in table if entry["ratio"] and entry["row"].endswith(f"/{size}"))
        if ratios:
            slower = sum(ratio < FASTER for ratio in ratios)
            parts.append(f"{size} elements: {len(ratios)} rows, {slower} below {FASTER}, median {statistics.median(ratios):.2g}")
    return "; ".join(parts)


def runs_in_turns(options):
    """What each round measured: a list of rows, with the seconds of ours and of the peers."""
    ours = [Ours(path, options) for path in sorted(options.build.glob("bench/*/*functions_bench"))]
    ours = [bench for bench in ours if bench.rows()]
    if not ours:
        raise Failed(f"none of the benchmarks in {options.build}/bench has such rows")
    rows = [row for bench in ours for row in bench.rows()]
    peers = []
    for name in options.peers:
        try:
            run(options.python, __file__, "--measure", name)  # no rows: whether it is there
            peers.append(Peer(name, rows, options))
        except Failed as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    rounds = {}
    for number, contestant in in_turns(options.rounds, ours + peers):
        entries = rounds.setdefault(number, {})
        for row, seconds in contestant.run_once().items():
            entries.setdefault(row, {"row": row})[contestant.name] = seconds
            if contestant.name == "ours":
                entries[row]["share"] = contestant.shares.get(row)
    return [list(entries.values()) for entries in rounds.values()]


def joined(runs):
    """The medians of several runs, the rows in which the best peer is fastest first."""
    found = {}  # row: what was measured: its values
    for entry in (entry for one in runs for entry in one):
        for name in ("ours", "share", *PACKAGES):
            if entry.get(name) is not None:
                found.setdefault(entry["row"], {}).setdefault(name, []).append(entry[name])
    table = []
    for row, values in found.items():
        medians = {name: statistics.median(numbers) for name, numbers in values.items()}
        if "ours" not in medians:
            continue
        best = min((medians[name] for name in PACKAGES if name in medians), default=None)
        ratio, share = best and best / medians["ours"], medians.get("share")
        is_slow = ratio is not None and ratio < FASTER
        is_below = share is not None and share < MEMORY and int(row.rpartition("/")[2]) >= LARGE
        marks = ["slower"] * is_slow + ["below memory"] * is_below
        table.append({"share": None, **medians, "row": row, "ratio": ratio, "marks": marks})
    return sorted(table, key=lambda entry: (entry["ratio"] is None, entry["ratio"], entry["row"]))


main_of(main)
