"""The rows of the table of the GPU courses, and how a peer times them.

A peer's script has one function per row, marked @row(NAME). It gets the sizes, makes what the row works
on, and returns a function without arguments that does the statement once and returns what it computed.
The script ends with main(), which times the rows and prints {row: seconds} as JSON.

    python table_PACKAGE.py [--rows REGEX] [--small]
    python table_PACKAGE.py --measure ROW/SIZES...

Rows carry the names of our benchmarks, such as x+=3/256. Inputs are equal in all packages. coir-compare calls the second
form, which prints its results as Google Benchmark does, each when it is there.
"""

import argparse
import json
import math
import re
import statistics
import sys
import time

ROWS = {  # name: sizes of the table, sizes for --small
    "x+=3": ([(256,), (1_000_000,), (100_000_000,)], [(256,)]),
    "cos2+sin2,0..100": ([(10_000_000,)], [(256,)]),  # x evenly from 0 to 100
    "cos2+sin2,arange": ([(10_000_000,)], [(256,)]),  # x = 0, 1, 2, ..., as the courses have it
    "a+b": ([(4096,), (100_000_000,)], [(4096,)]),
    "a+b,preallocated": ([(4096,), (100_000_000,)], [(4096,)]),
    "selu": ([(1_000_000,)], [(256,)]),
    "chain": ([(10_000_000,)], [(256,)]),
    "sum": ([(100_000_000,)], [(256,)]),  # to a number that the host has
    "max": ([(100_000_000,)], [(256,)]),
    "any": ([(100_000_000,)], [(256,)]),
    "sum,array": ([(100_000_000,)], [(256,)]),  # to an array of rank 0, which may be under way
    "max,array": ([(100_000_000,)], [(256,)]),
    "any,array": ([(100_000_000,)], [(256,)]),
    "normal": ([(10_000_000,)], [(256,)]),
    "matmul,double": ([(1000,)], [(32,)]),  # into an array that is there
    "matmul,double,new": ([(1000,)], [(32,)]),
    "x xT,float": ([(3000,)], [(32,)]),
    "matvec,float": ([(10,), (100_000,)], [(10,)]),
    "mandelbrot": ([(2048,)], [(64,)]),  # in the best way that a package has
    "mandelbrot,arrays": ([(2048,)], [(64,)]),  # by operations on whole arrays, with a mask
    "jacobi,statement": ([(400, 266), (8192, 8192)], [(16, 16)]),
    "jacobi,recorded": ([(400, 266), (8192, 8192)], [(16, 16)]),  # ours alone: record()
    "jacobi,kernel": ([(400, 266), (8192, 8192)], [(16, 16)]),  # ours alone: the solver's plain sweep
    # Not in the table; coir-compare gives their sizes.
    "sort,float": ([], [(1024,)]),
    "argsort,float": ([], [(1024,)]),
    "sort,rows,float": ([], [(4096,)]),  # n numbers in rows of 1024
    "cumsum,float": ([], [(1024,)]),
    "uniform,float": ([], [(1024,)]),
    "matmul,float": ([], [(32,)]),
    "r2c,float": ([], [(16,)]),  # a cube
    "c2r,float": ([], [(16,)]),  # without the factor 1 / n^3
    "r2c,double": ([], [(16,)]),
}

SAME_AS = {  # other benchmarks of ours that do the same: the row that a peer has
    "bench_escape_kernel<float>": "mandelbrot",
    "bench_escape_arrays<float>": "mandelbrot,arrays",
    "normal,float": "normal",
}

ITERATIONS = 256  # of a pixel of the Mandelbrot set, at most


def row_name(name, sizes):
    return "/".join([name, *map(str, sizes)])


def row_names(small):
    return [row_name(name, sizes) for name, choice in ROWS.items() for sizes in choice[small]]


# What the rows work on. xp is numpy or a module with the same functions.


def line(xp, first, last, n, dtype="float32"):
    return xp.linspace(first, last, n, dtype=dtype)


def matrix(xp, rows, columns, dtype):
    """Elements between -1 and 1."""
    import numpy as np

    elements = np.sin(np.linspace(0, 1000, rows * columns)).astype(dtype)
    return xp.asarray(elements.reshape(rows, columns))


def unsorted(xp, n):
    """Uniform random numbers, float32."""
    import numpy as np

    return xp.asarray(np.random.default_rng(1).random(n, np.float32))


def cube(xp, n, dtype):
    return matrix(xp, n * n, n, dtype).reshape(n, n, n)


def pixels(xp, n):
    """The centres of n x n pixels of [-2, 1] x [-1.5, 1.5], row 0 at the top: x (1 x n) and y (n x 1)."""
    steps = (xp.arange(n, dtype="float32") + 0.5) * (3 / n)
    return (steps - 2)[None, :], (1.5 - steps)[:, None]


# What they must give, for --small.


def expected(name, sizes):
    import numpy as np

    n = sizes[0]
    t = np.linspace(0, 1, n)
    if name == "x+=3":
        return np.full(n, 3.0)
    if name.startswith("cos2+sin2"):
        return np.ones(n)
    if name.startswith("a+b"):
        return 2 * t + 1
    if name == "selu":
        x = 6 * t - 3
        return 1.05 * np.where(x > 0, x, 1.67 * np.exp(x) - 1.67)
    if name == "chain":
        return ((t * (t + 1) + t + 2) * 0.5 - (t + 3)) * t
    if name.startswith("sum"):
        return n / 2
    if name.startswith("max"):
        return 1
    if name.startswith("any"):
        return 0
    if name.startswith("matmul"):
        a = matrix(np, n, n, "float64")
        return a @ a
    if name == "sort,float":
        return np.sort(unsorted(np, n))
    if name == "argsort,float":
        return np.argsort(unsorted(np, n))
    if name == "sort,rows,float":
        return np.sort(unsorted(np, n).reshape(-1, 1024))
    if name == "cumsum,float":
        return np.cumsum(t)
    if name.startswith("r2c"):
        return np.fft.rfftn(cube(np, n, "float64"))
    if name.startswith("c2r"):
        return cube(np, n, "float64") * n**3
    if name.startswith("x xT"):
        x = matrix(np, n, n, "float32").astype("float64")
        return x @ x.T
    if name.startswith("matvec"):
        x, w = matrix(np, n, 100, "float32"), matrix(np, 150, 100, "float32")
        return x.astype("float64") @ w.T
    if name.startswith("jacobi"):
        return np.pad(np.full(sizes, -0.25), 1)
    if name.startswith("mandelbrot"):
        x, y = pixels(np, n)
        c = (x + 1j * y).astype("complex64")
        z, counts = np.zeros_like(c), np.zeros(c.shape, int)
        for _ in range(ITERATIONS):
            small = np.abs(z) <= 2
            z[small] = z[small] ** 2 + c[small]
            counts += small
        return counts
    raise ValueError(f"no expectation for {name}")


def check(name, sizes, result):
    """Raises an error where the result of the first call is wrong."""
    import numpy as np

    if name == "normal":  # bounds of five standard deviations
        n = sizes[0]
        right = abs(result.mean()) < 5 / n**0.5 and abs(result.std() - 1) < 5 / (2 * n) ** 0.5
    elif name == "uniform,float":
        n = result.size
        right = np.all((result >= 0) & (result < 1)) and abs(result.mean() - 0.5) < 5 / (12 * n) ** 0.5
    elif name.startswith("mandelbrot"):  # rounding decides near the edge
        right = np.mean(result != expected(name, sizes)) < 0.02
    else:
        right_one = expected(name, sizes)
        # Transforms round by the largest of their numbers.
        error = 2e-5 * (np.abs(right_one).max() if name.startswith(("r2c", "c2r")) else 1)
        right = np.shape(result) == np.shape(right_one) and np.allclose(
            np.asarray(result, dtype=np.result_type(right_one, "float64")), right_one, rtol=2e-5, atol=error
        )
    if not right:
        raise ValueError("the result is wrong")


functions = {}  # row: the function that prepares it


def row(*names):
    def note(function):
        for name in names:
            assert name in ROWS, name
            functions[name] = function
        return function

    return note


def rows_of_angles(xp, note=row):
    """Marks a function of x, n float32 numbers, for the rows of cosines and sines."""

    def mark(function):
        note("cos2+sin2,0..100")(lambda n: function(line(xp, 0, 100, n)))
        note("cos2+sin2,arange")(lambda n: function(xp.arange(n, dtype="float32")))
        return function

    return mark


def seconds_per_call(statement, fence, least=0.5, fewest=3):
    """The median over batches, of which there are some and which take together at least so many seconds. A batch has calls
    enough that the clock and the fences don't show."""

    def batch(calls):
        result = None
        fence(result)
        start = time.perf_counter()
        for _ in range(calls):
            result = None  # an array of the call before is free to be used again
            result = statement()
        fence(result)
        return time.perf_counter() - start

    batch(1)
    calls = 1
    while batch(calls) < 1e-3:
        calls *= 2
    times = []
    while sum(times) < least or (len(times) < fewest and sum(times) < 5):
        times.append(batch(calls))
    return statistics.median(times) / calls


LONGEST = 1  # seconds of a call, above which larger sizes of the row aren't tried


def result_of(full_name, slowest, fence):
    """A result as Google Benchmark prints it.

    slowest: {row: its longest call so far and of which size}, in which the result is noted
    """
    name, *numbers = full_name.split("/")
    sizes = tuple(map(int, numbers))
    entry = {"name": full_name, "run_name": full_name, "run_type": "iteration"}
    seconds, of = slowest.get(name, (0, sizes))
    if seconds > LONGEST and math.prod(sizes) > math.prod(of):
        why = f"it needs more time than a peer gets: {seconds:.1f} s a call at {'/'.join(map(str, of))}"
        return entry | {"error_occurred": True, "error_message": why}
    try:
        seconds = seconds_per_call(functions[SAME_AS.get(name, name)](*sizes), fence, least=0.1, fewest=1)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        is_short = isinstance(error, MemoryError) or re.search("out of ?memory|RESOURCE_EXHAUSTED", text, re.I)
        why = "it needs more memory than there is" if is_short else text
        return entry | {"error_occurred": True, "error_message": why}
    slowest[name] = max(slowest.get(name, (0, sizes)), (seconds, sizes))
    return entry | {"real_time": seconds, "time_unit": "s", "seconds": seconds}


def measure(names, about, fence):
    """Prints results as Google Benchmark does, each when it is there: the next one may end this program."""
    slowest = {}
    print(f'{{"context": {json.dumps(about)}, "benchmarks": [', end="", flush=True)
    for number, full_name in enumerate(names):
        entry = result_of(full_name, slowest, fence)
        print(("," if number else "") + "\n" + json.dumps(entry), end="", flush=True)
    print("\n]}")


def main(package, version, device, fence=lambda result: None, to_host=lambda result: result):
    """Times the rows that the script has.

    fence(result) waits for all work, or for the work that leads to the result (None: nothing yet).
    to_host(result) makes a NumPy array or number of it.
    """
    parser = argparse.ArgumentParser(description=f"{package}: the rows of the table of the GPU courses")
    parser.add_argument("--rows", default="", metavar="REGEX", help="only rows in which this is found")
    parser.add_argument("--small", action="store_true", help="tiny sizes, and a check of each result")
    parser.add_argument("--about", action="store_true", help="say what would run on what, and stop")
    parser.add_argument("--measure", nargs="+", metavar="ROW/SIZES", help="these, as Google Benchmark prints them")
    arguments, _ = parser.parse_known_args()
    about = {"package": package, "version": version, "device": device}
    if arguments.about:
        others = [name for name, same in SAME_AS.items() if same in functions]
        print(json.dumps(about | {"rows": [*functions, *others]}))
        return
    if arguments.measure:
        measure(arguments.measure, about, fence)
        return

    seconds, failed = {}, False
    for name, choice in ROWS.items():
        for sizes in choice[arguments.small]:
            full_name = row_name(name, sizes)
            if name not in functions or not re.search(arguments.rows, full_name):
                continue
            try:
                statement = functions[name](*sizes)
                if arguments.small:
                    check(name, sizes, to_host(statement()))
                seconds[full_name] = seconds_per_call(statement, fence)
            except Exception as error:  # too little memory, say: the other rows still count
                print(f"{package}, {full_name}: {type(error).__name__}: {error}", file=sys.stderr)
                failed = True
            statement = None  # frees its arrays before the next row makes its own
    print(json.dumps(seconds))
    sys.exit(failed and arguments.small)
