"""The rows of the table of the GPU courses, and how a peer times them.

A peer's script has one function per row, marked @row(NAME). It gets the row's arrays, and returns a function without
arguments that does the statement once and returns what it computed. The script ends with main(), which times the rows and
prints each result as Google Benchmark does as soon as it is known.

    python table_PACKAGE.py [--measure ROW/SIZES...] [--small]
    python table_PACKAGE.py --photo PHOTO.npy --sweeps N --output PICTURE.npy

Rows carry the names of our benchmarks, such as x+=3/256. Inputs are equal in all packages. coir-compare and table.py call the
first form, compare.py the second one: see job.py.
"""

import argparse
import json
import math
import re
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Callable

try:
    import numpy as np
except ImportError:  # table.py needs the names alone
    np = None

ITERATIONS = 256  # of a pixel of the Mandelbrot set, at most


@dataclass
class Row:
    """A row of the table: its sizes there, its arrays for a size, and what it computes from them."""

    sizes: list
    arrays: Callable
    right: Callable = None  # of the arrays in double precision
    small: tuple = (256,)  # the size for --small
    wrong: float = 0  # the share of numbers that may differ
    moments: tuple = None  # mean and standard deviation of random numbers


def matrix(rows, columns, dtype="float32"):
    """Elements between -1 and 1."""
    return np.sin(np.linspace(0, 1000, rows * columns)).astype(dtype).reshape(rows, columns)


def line(last, dtype="float32", first=0):
    return lambda n: [np.linspace(first, last, n, dtype=dtype)]


def lines(count, dtype="float32"):
    """Of n numbers each, array i evenly from i to i + 1."""
    return lambda n: [np.linspace(i, i + 1, n, dtype=dtype) for i in range(count)]


def zeros(n):
    return [np.zeros(n, np.float32)]


def unsorted(n):
    return [np.random.default_rng(1).random(n, np.float32)]


def rows_of_1024(n):
    return [unsorted(n)[0].reshape(-1, 1024)]


def squares(dtype):
    return lambda n: [matrix(n, n, dtype), matrix(n, n, dtype)]


def cube(dtype="float32"):
    return lambda n: [matrix(n * n, n, dtype).reshape(n, n, n)]


def points(n):
    """The centres of n x n pixels of [-2, 1] x [-1.5, 1.5] as complex numbers, row 0 at the top."""
    steps = (np.arange(n, dtype="float32") + np.float32(0.5)) * np.float32(3 / n)
    return [((steps - 2)[None, :] + 1j * (1.5 - steps)[:, None]).astype(np.complex64)]


def grid(m, n):
    """The source b and two fields with a ring of zeros around them."""
    return [np.ones((m, n), np.float32), *(np.zeros((m + 2, n + 2), np.float32) for _ in range(2))]


def escape_times(c):
    z, counts = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(ITERATIONS):
        small = np.abs(z) <= 2
        z[small] = z[small] ** 2 + c[small]
        counts += small
    return counts


def swept(b, u, v):
    return np.pad(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - b), 1)


THOUSAND, MILLION = (1000,), (1_000_000,)
TEN_MILLIONS, HUNDRED_MILLIONS = (10_000_000,), (100_000_000,)
PICTURES = [(400, 266), (8192, 8192)]

ROWS = {
    "x+=3": Row([(256,), MILLION, HUNDRED_MILLIONS], zeros, lambda x: x + 3),
    "cos2+sin2,0..100": Row([TEN_MILLIONS], line(100), np and np.ones_like),
    # x = 0, 1, 2, ..., as the courses have it
    "cos2+sin2,arange": Row([TEN_MILLIONS], lambda n: [np.arange(n, dtype="float32")], np and np.ones_like),
    "a+b": Row([(4096,), HUNDRED_MILLIONS], lines(2), lambda a, b: a + b, (4096,)),
    "a+b,preallocated": Row([(4096,), HUNDRED_MILLIONS], lines(2), lambda a, b: a + b, (4096,)),
    "selu": Row([MILLION], line(3, first=-3), lambda x: 1.05 * np.where(x > 0, x, 1.67 * np.exp(x) - 1.67)),
    "chain": Row([TEN_MILLIONS], lines(4, "float64"), lambda a, b, c, d: ((a * b + c) * 0.5 - d) * a),
    "sum": Row([HUNDRED_MILLIONS], lines(1), lambda x: x.sum()),  # to a number that the host has
    "max": Row([HUNDRED_MILLIONS], lines(1), lambda x: x.max()),
    "any": Row([HUNDRED_MILLIONS], lines(1), lambda x: (x > 2).any()),
    # to an array of rank 0, which may be under way
    "sum,array": Row([HUNDRED_MILLIONS], lines(1), lambda x: x.sum()),
    "max,array": Row([HUNDRED_MILLIONS], lines(1), lambda x: x.max()),
    "any,array": Row([HUNDRED_MILLIONS], lines(1), lambda x: (x > 2).any()),
    "normal": Row([TEN_MILLIONS], zeros, moments=(0, 1)),
    "matmul,double": Row([THOUSAND], squares("float64"), lambda a, b: a @ b, (32,)),  # into an array that is there
    "matmul,double,new": Row([THOUSAND], squares("float64"), lambda a, b: a @ b, (32,)),
    "x xT,float": Row([(3000,)], lambda n: [matrix(n, n)], lambda x: x @ x.T, (32,)),
    "matvec,float": Row(
        [(10,), (100_000,)], lambda k: [matrix(k, 100), matrix(150, 100)], lambda x, w: x @ w.T, (10,)
    ),
    # in the best way that a package has; rounding decides near the edge of the set
    "mandelbrot": Row([(2048,)], points, escape_times, (64,), wrong=0.02),
    # by operations on whole arrays, with a mask
    "mandelbrot,arrays": Row([(2048,)], points, escape_times, (64,), wrong=0.02),
    "jacobi,statement": Row(PICTURES, grid, swept, (16, 16)),
    "jacobi,recorded": Row(PICTURES, grid, swept, (16, 16)),  # ours alone: record()
    "jacobi,kernel": Row(PICTURES, grid, swept, (16, 16)),  # ours alone: the solver's plain sweep
    # Not in the table; coir-compare gives their sizes.
    "sort,float": Row([], unsorted, lambda x: np.sort(x), (1024,)),
    "argsort,float": Row([], unsorted, lambda x: np.argsort(x), (1024,)),
    "sort,rows,float": Row([], rows_of_1024, lambda x: np.sort(x), (4096,)),
    "cumsum,float": Row([], lines(1), lambda x: np.cumsum(x), (1024,)),
    "uniform,float": Row([], zeros, small=(1024,), moments=(0.5, 12**-0.5)),
    "matmul,float": Row([], squares("float32"), lambda a, b: a @ b, (32,)),
    "r2c,float": Row([], cube(), lambda x: np.fft.rfftn(x), (16,)),
    "c2r,float": Row([], cube(), lambda x: x * x.size, (16,)),  # of x's spectrum, without the factor 1 / n^3
    "r2c,double": Row([], cube("float64"), lambda x: np.fft.rfftn(x), (16,)),
}

SAME_AS = {  # other benchmarks of ours that do the same: the row that a peer has
    "bench_escape_kernel<float>": "mandelbrot",
    "bench_escape_arrays<float>": "mandelbrot,arrays",
    "normal,float": "normal",
}


def row_name(name, sizes):
    return "/".join([name, *map(str, sizes)])


def row_names(small):
    return [row_name(name, sizes) for name, row in ROWS.items() for sizes in ([row.small] if small else row.sizes)]


def check(row, arrays, result):
    """Raises an error where a result is wrong."""
    if row.moments:  # bounds of five standard deviations
        mean, deviation = row.moments
        near = 5 * deviation / result.size**0.5
        right = abs(result.mean() - mean) < near and abs(result.std() - deviation) < near
    else:
        expected = row.right(*(array.astype(np.result_type(array, np.float64)) for array in arrays))
        error = 2e-5 * max(np.abs(expected).max(), 1e-3)
        right = np.shape(result) == np.shape(expected)
        right = right and np.mean(np.abs(np.subtract(result, expected, dtype=complex)) > error) <= row.wrong
    if not right:
        raise ValueError("the result is wrong")


functions = {}  # row: the function that prepares it


def row(*names):
    def note(function):
        for name in names:
            assert name in ROWS or name == "jacobi,loop", name
            functions[name] = function
        return function

    return note


def seconds_per_call(statement, fence):
    """The median over batches, which take a tenth of a second together. A batch has calls enough that the clock and the fences
    don't show."""

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
    while sum(times) < 0.1:
        times.append(batch(calls))
    return statistics.median(times) / calls


LONGEST = 1  # seconds of a call, above which larger sizes of the row aren't tried


class Peer:
    """A package on its device; its functions are those of main()."""

    def __init__(self, put, fence, to_host):
        self.put, self.fence, self.to_host = put, fence, to_host

    def statement(self, name, arrays):
        return functions[name](*map(self.put, arrays))

    def result_of(self, full_name, slowest, small):
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
            row = SAME_AS.get(name, name)
            statement = self.statement(row, ROWS[row].arrays(*sizes))
            if small:
                check(ROWS[row], ROWS[row].arrays(*sizes), self.to_host(statement()))
            seconds = seconds_per_call(statement, self.fence)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            is_short = isinstance(error, MemoryError) or re.search("out of ?memory|RESOURCE_EXHAUSTED", text, re.I)
            why = "it needs more memory than there is" if is_short else text
            return entry | {"error_occurred": True, "error_message": why}
        slowest[name] = max(slowest.get(name, (0, sizes)), (seconds, sizes))
        return entry | {"real_time": seconds, "time_unit": "s", "seconds": seconds}

    def measure(self, names, about, small):
        """Prints results as Google Benchmark does, each when it is there: the next one may end this program."""
        slowest, is_well = {}, True
        print(f'{{"context": {json.dumps(about)}, "benchmarks": [', end="", flush=True)
        for number, full_name in enumerate(names):
            entry = self.result_of(full_name, slowest, small)
            print(("," if number else "") + "\n" + json.dumps(entry), end="", flush=True)
            is_well = is_well and "seconds" in entry
        print("\n]}")
        return is_well

    def solve(self, source, sweeps):
        """Sweeps from the source on: the picture, and the seconds that they took."""
        arrays = [source, np.pad(source, 1), np.zeros_like(source, shape=[n + 2 for n in source.shape])]
        if "jacobi,loop" in functions:  # all sweeps in one function
            loop = self.statement("jacobi,loop", arrays)
        else:
            sweep = self.statement("jacobi,statement", arrays)

            def loop(count):
                for _ in range(count):
                    u = sweep()
                return u

        self.fence(None)
        start = time.perf_counter()
        u = loop(sweeps)
        self.fence(u)
        seconds = time.perf_counter() - start
        return self.to_host(u)[1:-1, 1:-1], seconds


def main(
    package,
    version,
    device,
    put=lambda array: array,
    fence=lambda result: None,
    to_host=lambda result: result,
):
    """Times the rows that the script has.

    put(array) makes an array of the package of one of NumPy's
    fence(result) waits for all work, or for the work that leads to the result (None: nothing yet)
    to_host(result) makes a NumPy array or number of it
    """
    parser = argparse.ArgumentParser(description=f"{package}: the rows of the table of the GPU courses")
    parser.add_argument("--small", action="store_true", help="check each result; all rows have tiny sizes then")
    parser.add_argument("--about", action="store_true", help="say what would run on what, and stop")
    parser.add_argument("--measure", nargs="+", metavar="ROW/SIZES", help="default: all rows of the table")
    parser.add_argument("--photo", metavar="NPY", help="rebuild this picture from its Laplacian instead")
    parser.add_argument("--sweeps", type=int, default=150_000, help="with --photo")
    parser.add_argument("--output", metavar="NPY", help="with --photo, the rebuilt picture")
    arguments, _ = parser.parse_known_args()
    about = {"package": package, "version": version, "device": device}
    peer = Peer(put, fence, to_host)
    if arguments.about:
        others = [name for name, same in SAME_AS.items() if same in functions]
        print(json.dumps(about | {"rows": [*(name for name in functions if name in ROWS), *others]}))
    elif arguments.photo:
        from job import rebuild

        print(json.dumps(about | rebuild(arguments.photo, arguments.sweeps, arguments.output, peer.solve)))
    else:
        mine = [name for name in row_names(arguments.small) if name.split("/")[0] in functions]
        is_well = peer.measure(arguments.measure or mine, about, arguments.small)
        if arguments.small and not is_well:
            sys.exit(f"{package}: not all rows are right")
