"""What a peer's script prints for coir-compare (bench/peers/rows.py), by a peer without a package."""

import contextlib
import io
import json
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "peers"))
sys.dont_write_bytecode = True
import rows

for name in ("x+=3", "mandelbrot"):  # arrays need NumPy
    rows.ROWS[name].arrays = lambda n: [n]


@rows.row("x+=3")
def add_number(n):
    if n == 3:
        raise MemoryError
    if n == 4:
        raise ValueError("4 is odd")
    return lambda: None


@rows.row("mandelbrot")
def mandelbrot(n):
    return lambda: time.sleep(n / 1000)


def printed(*arguments):
    sys.argv = ["table_none.py", *arguments]
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        rows.main("none", "1.0", "a CPU")
    return json.loads(text.getvalue())


class Rows(unittest.TestCase):
    def test_about_names_rows_as_benchmarks_are_called(self):
        about = printed("--about")
        self.assertEqual((about["package"], about["version"], about["device"]), ("none", "1.0", "a CPU"))
        self.assertEqual(about["rows"], ["x+=3", "mandelbrot", "bench_escape_kernel<float>"])

    def test_results_are_those_of_google_benchmark(self):
        result = printed("--measure", "x+=3/256", "bench_escape_kernel<float>/20")["benchmarks"]
        self.assertEqual([row["name"] for row in result], ["x+=3/256", "bench_escape_kernel<float>/20"])
        self.assertLess(result[0]["seconds"], 1e-3)
        self.assertGreaterEqual(result[1]["seconds"], 0.02)

    def test_a_row_that_fails_leaves_the_others(self):
        short, wrong, right, unknown = printed("--measure", "x+=3/3", "x+=3/4", "x+=3/5", "sum/1")["benchmarks"]
        self.assertEqual(short["error_message"], "it needs more memory than there is")
        self.assertEqual(wrong["error_message"], "ValueError: 4 is odd")
        self.assertIn("seconds", right)
        self.assertTrue(unknown["error_occurred"])

    def test_sizes_above_a_slow_one_are_left_out(self):
        rows.LONGEST = 0.01
        names = [f"mandelbrot/{n}" for n in (1, 20, 21, 2)]
        result = printed("--measure", *names)["benchmarks"]
        self.assertEqual(["seconds" in row for row in result], [True, True, False, True])
        self.assertIn("it needs more time than a peer gets: 0.0 s a call at 20", result[2]["error_message"])


if __name__ == "__main__":
    unittest.main()
