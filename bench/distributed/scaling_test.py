"""scaling.py: its commands for eight GPUs, its table of small sizes on ranks of cores, and what it does with programs that fail.

python3 scaling_test.py --build build/openmp-mpi --ranks 1,2 [--launch "mpirun -n {ranks}"]
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().with_name("scaling.py")
OPTIONS = argparse.Namespace(build=None, ranks="1", launch=None)

sys.path.insert(0, str(SCRIPT.parent))
sys.dont_write_bytecode = True
import scaling
import scaling_table


def run(*arguments):
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=200)


class DryRun(unittest.TestCase):
    def setUp(self):
        done = run("--build", "somewhere/build", "--gpus", 8, "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--target scaling_programs", done.stdout)
        self.commands = [line for line in done.stdout.splitlines() if "_table " in line]

    def test_every_program_runs_on_every_number_of_ranks(self):
        for program in ("slab_table", "ranks_table", "shallow_table"):
            commands = [line for line in self.commands if program in line]
            for begin in ("/", *(f"mpirun --oversubscribe --bind-to none -n {n} " for n in (2, 4, 8))):
                self.assertTrue(any(line.startswith(begin) for line in commands), (program, begin))
        exchanges = [line for line in self.commands if "exchange_table --sizes 8,268435456 " in line]
        self.assertEqual([re.search(r"-n (\d+)", line)[1] for line in exchanges], ["8", "4", "2"])

    def test_important_cases_come_first_and_each_once(self):
        programs = ["exchange_table --sizes 8", "slab_table --sizes 1024 ", "ranks_table --sizes 1024 "]
        programs += ["ranks_table --sizes 640 ", "shallow_table --columns 14400 "]
        programs += ["slab_table --sizes 512 ", "slab_table --sizes 2048 "]
        places = [min(n for n, line in enumerate(self.commands) if words in line) for words in programs]
        self.assertEqual(places, sorted(places))
        self.assertEqual(len(set(self.commands)), len(self.commands))
        self.assertFalse(any("--host" in line for line in self.commands))


class Model(unittest.TestCase):
    def table(self, times, per_particle_ps=None, fixed_ms=None):
        options = argparse.Namespace(
            ranks=[1, 2, 8], rate_gbs=300, per_particle_ps=per_particle_ps, fixed_ms=fixed_ms
        )
        results = scaling_table.Results()
        for (n, ranks), seconds in times.items():
            row = {"what": "step", "n": n, "seconds": seconds, "rounds": 9}
            results.add(ranks, [row | {"bytes_sent": 1, "bytes_predicted": 1, "bytes_held": 1}])
        return scaling_table.Table(options, results, scaling.SIZES["gpus"], {})

    def test_it_has_the_figures_of_the_documentation(self):
        table = self.table({(512, 1): 10.2e-3, (512, 2): 7.75e-3, (1024, 1): 93.8e-3, (1024, 2): 59.8e-3}, 8.6, 1.1)
        # The documentation has them with a lower rate for the smaller messages of 512^3.
        self.assertAlmostEqual(table.model("step", 1024, 2), 59.8e-3, delta=0.2e-3)
        self.assertAlmostEqual(table.model("step", 1024, 8), 17e-3, delta=0.5e-3)
        row = next(row for row in table.strong if (row["n"], row["ranks"]) == (1024, 2))
        self.assertAlmostEqual(row["speed_up"], 93.8 / 59.8)
        self.assertAlmostEqual(row["efficiency"], 93.8 / 59.8 / 2)

    def test_its_parameters_come_back_from_two_ranks(self):
        one = {512: 0.01, 1024: 0.08}
        there = {(n, 2): one[n] / 2 + 2 * n**3 / 300e9 + 7e-12 * n**3 / 2 + 2e-3 for n in one}
        per_particle, fixed = self.table({(n, 1): seconds for n, seconds in one.items()} | there).fit()
        self.assertAlmostEqual(per_particle / 7e-12, 1)
        self.assertAlmostEqual(fixed / 2e-3, 1)

    def test_sizes_that_one_rank_lacks_the_memory_for_are_compared_with_the_fewest_ranks(self):
        table = self.table({(1024, 1): 0.08, (2048, 2): 0.5, (2048, 8): 0.125})
        row = next(row for row in table.strong if (row["n"], row["ranks"]) == (2048, 8))
        self.assertEqual((row["against_ranks"], row["speed_up"], row["efficiency"]), (2, 4, 1))
        self.assertEqual(table.on_one("step", 2048), (0.64, True))

    def test_ranks_have_about_as_many_particles(self):
        self.assertEqual([scaling.weak_side(512, ranks) for ranks in (1, 2, 4, 8)], [512, 640, 800, 1024])


class FailingPrograms(unittest.TestCase):
    """A build whose programs are scripts."""

    def measure(self, script, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            build, out = Path(folder, "build"), Path(folder, "out")
            for name in scaling.PROGRAMS.values():
                (build / name).parent.mkdir(parents=True, exist_ok=True)
                (build / name).write_text(f"#!/bin/sh\n{script}\n")
                (build / name).chmod(0o755)
            words = ["--gpus", 0, "--sizes", "small", "--ranks", "1,2", "--launch", "env"]
            done = run("--build", build, *words, "--output", out, *arguments)
            table = json.loads((out / "scaling.json").read_text())
            return done.returncode, table, [row["why"] for row in table["left_out"]]

    def test_what_they_say_is_kept_and_others_of_so_many_ranks_are_left_out(self):
        code, _, whys = self.measure("echo slab_table: error: no GPU >&2; exit 3")
        self.assertEqual(code, 1)
        self.assertIn("ended with code 3: slab_table: error: no GPU", whys)
        self.assertIn("two cases on 2 ranks failed one after the other", whys)

    def test_those_that_hang_are_ended_and_the_rows_before_that_are_kept(self):
        row = {"what": "real forward", "n": 16, "seconds": 1, "rounds": 5}
        row |= {"bytes_sent": 0, "bytes_predicted": 1, "bytes_held": 1}
        begin, script = time.monotonic(), f"echo '{json.dumps(row)}'; sleep 100"
        _, table, whys = self.measure(script, "--minutes", "0.05", "--case-seconds", "1")
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(table["transforms"][0]["n"], 16)
        self.assertTrue(any("ended after 1 s" in why for why in whys), whys)
        self.assertTrue(any("were over (--minutes)" in why for why in whys), whys)

    def test_cases_without_memory_say_why(self):
        row = {"what": "step", "n": 16, "bytes_predicted": 10**12, "skipped": "it needs 1 TB"}
        code, table, _ = self.measure(f"echo '{json.dumps(row)}'")
        self.assertEqual(code, 0)
        self.assertIn({"case": "step 16^3 on 1 rank", "why": "it needs 1 TB"}, table["left_out"])

    def test_a_build_without_them_is_named(self):
        done = run("--build", "/nowhere", "--gpus", 0)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cmake --build /nowhere --target scaling_programs", done.stderr)


class Small(unittest.TestCase):
    def test_the_table_has_its_rows(self):
        if OPTIONS.build is None:
            self.skipTest("needs --build")
        ranks = [int(word) for word in OPTIONS.ranks.split(",")]
        launch = ["--launch", OPTIONS.launch] if OPTIONS.launch else []
        words = ["--gpus", 0, "--sizes", "small", "--ranks", OPTIONS.ranks, "--runs", 2, *launch]
        with tempfile.TemporaryDirectory() as folder:
            done = run("--build", OPTIONS.build, "--output", folder, *words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            table = json.loads(Path(folder, "scaling.json").read_text())
            text = Path(folder, "scaling.md").read_text()
        exchanges = [(row["bytes"], row["ranks"]) for row in table["exchanges"]]
        self.assertEqual(exchanges, [(size, n) for size in (8, 65536) for n in ranks if n > 1])
        for what, (_, numbers, exchanges) in scaling_table.TRANSFORMS.items():
            rows = [row for row in table["transforms"] if row["what"] == what]
            self.assertEqual([row["ranks"] for row in rows], ranks, what)
            for row in rows:
                # A transform sends V (P - 1) / P^2 bytes from each rank, V those of the spectrum.
                n = row["ranks"]
                self.assertEqual(row["bytes_sent"] * n**2, exchanges * 8 * numbers(16) * (n - 1))
                self.assertGreaterEqual(row["bytes_predicted"], row["bytes_held"])
                self.assertEqual(row["model_error"] is None, n == 1)
        weak = [(scaling.weak_side(16, n), n) for n in ranks]
        self.assertEqual([(row["n"], row["ranks"]) for row in table["strong"]], [(16, n) for n in ranks])
        self.assertEqual([(row["n"], row["ranks"]) for row in table["weak"]], weak)
        water = [(row["columns"], row["rows"], row["ranks"]) for row in table["water"]]
        self.assertEqual(water, [(32, 16 * n, n) for n in ranks])
        self.assertEqual(table["water"][0]["efficiency"], 1)
        for row in table["transforms"] + table["strong"] + table["weak"] + table["water"]:
            self.assertEqual(row["runs"], 2)
            self.assertGreater(row["seconds"], 0)
        self.assertEqual([(row["n"], row["ranks"]) for row in table["gradients"]], [(16, n) for n in ranks])
        self.assertTrue(all(row["over_value"] > 1 for row in table["gradients"]))
        for title in ("Transforms, float", "strong scaling", "weak scaling", "Gradients", "shallow water", "Model"):
            self.assertIn(title, text)
        self.assertEqual(table["left_out"], [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("build", "ranks", "launch"):
        parser.add_argument(f"--{name}", default=getattr(OPTIONS, name))
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
