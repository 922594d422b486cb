#!/usr/bin/env python3
"""The hooks of .pre-commit-config.yaml that read files: each file that they are given counts, the last one too."""

import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

CONFIG = pathlib.Path(__file__).resolve().parent.parent.parent / ".pre-commit-config.yaml"


class Hooks(unittest.TestCase):
    def entry(self, hook):
        """What pre-commit runs, before the names of files."""
        found = re.search(rf"- id: {hook}\n.*?entry: (.*?)\n", CONFIG.read_text(), re.DOTALL)
        return shlex.split(found[1])

    def test_every_file_is_read(self):
        for hook, ending in (("shell", "sh"), ("python", "py")):
            with self.subTest(hook=hook), tempfile.TemporaryDirectory() as folder:
                good, bad = (pathlib.Path(folder, f"{name}.{ending}") for name in ("good", "bad"))
                good.write_text("true\n" if ending == "sh" else "True\n")
                bad.write_text("if then\n")
                for files, passes in (((good, good), True), ((bad, good), False), ((good, bad), False)):
                    run = subprocess.run([*self.entry(hook), *files], capture_output=True)
                    self.assertEqual(run.returncode == 0, passes, (hook, files))


unittest.main()
