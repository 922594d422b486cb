#!/usr/bin/env python3
"""scripts/new.py on a copy of the tree's CMake files.

usage: new_test.py               tests what it changes in every module, and what it refuses
       new_test.py --make FOLDER  makes FOLDER with a module of two kernels and an application, for CMakeLists.txt to build
"""

import filecmp
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def copy_tree(folder):
    """The files that new.py reads."""
    for file in ["CMakeLists.txt", "scripts/check_includes.py", *ROOT.glob("*/CMakeLists.txt"), *ROOT.glob("*/*/CMakeLists.txt")]:
        file = ROOT / file
        if file.relative_to(ROOT).parts[0] in ("CMakeLists.txt", "apps", "bench", "scripts", "src", "tests"):
            target = folder / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    (folder / "include/coir").mkdir(parents=True)
    return folder


def new(folder, *arguments):
    return subprocess.run([sys.executable, ROOT / "scripts/new.py", "--root", folder, *arguments],
                          capture_output=True, text=True)


def added_lines(folder, path):
    """The lines of a file that the tree's own doesn't have, and the number of those that are gone."""
    before, after = (ROOT / path).read_text().splitlines(), (folder / path).read_text().splitlines()
    return [line.strip() for line in after if line not in before], len([line for line in before if line not in after])


class New(unittest.TestCase):
    def setUp(self):
        self.folder = copy_tree(pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())))

    def enterContext(self, context):  # unittest has it from Python 3.11 on
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def test_module_and_application_are_added(self):
        self.assertEqual(new(self.folder, "module", "graph", "doubled").returncode, 0)
        self.assertEqual(new(self.folder, "app", "tides").returncode, 0)
        for path, line in {
            "CMakeLists.txt": "add_subdirectory(src/graph)",
            "scripts/check_includes.py": '"graph",',
            "tests/CMakeLists.txt": "add_subdirectory(graph)",
            "bench/CMakeLists.txt": "add_subdirectory(graph)",
            "apps/CMakeLists.txt": "add_subdirectory(tides)",
            "tests/apps/CMakeLists.txt": "coir_add_app_test(tides coir_app_tides)",
        }.items():
            self.assertEqual(added_lines(self.folder, path), ([line], 0), path)

    def test_what_cannot_be_made_changes_nothing(self):
        self.assertEqual(new(self.folder, "module", "graph", "doubled").returncode, 0)
        before = {file: file.read_bytes() for file in self.folder.rglob("*") if file.is_file()}
        for arguments, words in {
            ("kernel", "graph", "doubled"): "choose another name",
            ("kernel", "nowhere", "doubled"): "there is no module nowhere",
            ("module", "mesh", "doubled"): "the module mesh is there already",
            ("app", "info"): "the application info is there already",
            ("kernel", "mesh", "BadName"): "not 'BadName'",
            ("module", "../x", "doubled"): "not '../x'",
            ("kernel", "mesh", "double"): "can't be 'double'",
            ("module", "new", "doubled"): "can't be 'new'",
            ("app", "a__b"): "can't be 'a__b'",
            ("module", "apps", "doubled"): "tests/apps is there already",
        }.items():
            run = new(self.folder, *arguments)
            self.assertEqual(run.returncode, 2, arguments)
            self.assertIn(words, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertEqual(before, {file: file.read_bytes() for file in self.folder.rglob("*") if file.is_file()})


def make(folder):
    with tempfile.TemporaryDirectory() as temporary:
        fresh = copy_tree(pathlib.Path(temporary) / "tree")
        for arguments in (("module", "graph", "doubled"), ("kernel", "graph", "twice"), ("app", "tides")):
            run = new(fresh, *arguments)
            if run.returncode != 0:
                sys.exit(run.stderr)
        # The application's test goes to a folder of its own, without the others'.
        lines, _ = added_lines(fresh, "tests/apps/CMakeLists.txt")
        (fresh / "tests/tides").mkdir()
        (fresh / "tests/apps/tides_test.cpp").rename(fresh / "tests/tides/tides_test.cpp")
        (fresh / "tests/tides/CMakeLists.txt").write_text("\n".join(lines) + "\n")
        # What is the same keeps its time, so that nothing is built again.
        for file in fresh.rglob("*"):
            target = folder / file.relative_to(fresh)
            if file.is_file() and not (target.exists() and filecmp.cmp(file, target, shallow=False)):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)


if sys.argv[1:2] == ["--make"]:
    make(pathlib.Path(sys.argv[2]))
else:
    unittest.main()
