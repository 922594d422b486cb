"""gpu_table.py: what it writes, and what it finds worse, with benchmarks that are scripts."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().with_name("gpu_table.py")
BENCH = """#!/bin/sh
case "$1" in --benchmark_list_tests) echo fastpm/512/2/manual_time; echo short/1/manual_time;; *) cat <<END
{}
END
esac
"""


class Table(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build, self.table = Path(self.folder.name, "build"), Path(self.folder.name, "table.md")

    def run_with(self, step, readout, *words, card="NVIDIA H200"):
        rows = [{"name": "fastpm/512/2/manual_time", "seconds": step, "readout": readout, "paint": 1e-6}]
        rows.append({"name": "short/1/manual_time", "seconds": 14e-6})
        bench = self.build / "bench/nbody/nbody_step_bench"
        bench.parent.mkdir(parents=True, exist_ok=True)
        bench.write_text(BENCH.format(json.dumps({"context": {"device": card}, "benchmarks": rows})))
        bench.chmod(0o755)
        command = [sys.executable, SCRIPT, "--build", self.build, "--table", self.table, *words]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True)

    def test_rows_are_kept_and_compared(self):
        done = self.run_with(42e-3, 9.6e-3, "--write")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("## NVIDIA H200\n", self.table.read_text())
        self.assertIn("| nbody_step: fastpm/512/2, readout | 9600 |\n", self.table.read_text())
        self.assertNotIn("short", self.table.read_text())
        self.assertNotIn("paint", self.table.read_text())
        self.assertEqual(self.run_with(42e-3, 9.8e-3).returncode, 0)
        worse = self.run_with(42e-3, 14.7e-3)
        self.assertEqual(worse.returncode, 1)
        self.assertIn("1.53  nbody_step: fastpm/512/2, readout: 1.47e+04 us, 9600 before\n", worse.stdout)
        self.assertIn("2 rows, median ratio 1.266; 1 worse, 0 gone, 0 new\n", worse.stdout)
        self.assertEqual(self.run_with(42e-3, 14.7e-3, "--rows", "2$").returncode, 0)

    def test_other_cards_have_no_table(self):
        self.run_with(42e-3, 9.6e-3, "--write")
        done = self.run_with(42e-3, 9.6e-3, card="NVIDIA H100")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no table of NVIDIA H100, only of: NVIDIA H200. Write it with --write", done.stderr)


if __name__ == "__main__":
    unittest.main()
