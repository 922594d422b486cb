#!/usr/bin/env python3
"""scripts/check_includes.py on small trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "check_includes.py"

HEADERS = {
    "include/coir/core/shape.hpp": "#pragma once\n",
    "include/coir/core/detail/rows.hpp": "#pragma once\n",
    "include/coir/mesh/paint.hpp": "#pragma once\n#include <coir/core/shape.hpp>\n",
    "src/mesh/paint_host.hpp": "#pragma once\n",
    "src/nbody/bins.hpp": "#pragma once\n",
}


def check(files):
    """The lines that it prints about a tree of HEADERS and these."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (HEADERS | files).items():
            file = pathlib.Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        run = subprocess.run([sys.executable, SCRIPT], cwd=folder, capture_output=True, text=True)
        faults = run.stdout.splitlines()[:-1]
        assert run.returncode == (1 if faults else 0) and not run.stderr, run
        return faults


class CheckIncludes(unittest.TestCase):
    def test_what_follows_the_rules_passes(self):
        self.assertEqual(check({
            "src/nbody/moves.hpp": '#include "bins.hpp"\n',
            "src/nbody/moves.cpp": '#include "bins.hpp"\n#include "moves.hpp"\n#include <mesh/paint_host.hpp>\n',
            "apps/x/main.cpp": '#include "main.hpp"\n#include <coir/mesh/paint.hpp>\n#include <vector>\n',
            "apps/x/comments.cpp": "// #include <coir/core/detail/rows.hpp>\n/*\n#include <coir/core/detail/rows.hpp>\n*/\n",
            "apps/mesh/main.cpp": "coir::apps::mesh::detail::draw(x);\n",  # the application's own
            "apps/support/x.cpp": "#include <CLI/CLI.hpp>\n",
            "src/core/y.cpp": "#if defined(KOKKOS_ENABLE_CUDA)\n",
            "src/fft/y.hpp": "#if defined(KOKKOS_ENABLE_CUDA)\n",
            "src/mesh/y.cpp": 'char const* name = "coir::detail::rows";  // coir::detail::rows\ndetail::rows(x);\n',
            "tests/mesh/y.cpp": "coir::mesh::detail::paint(x);\n",
        }), [])

    def test_what_breaks_a_rule_is_named(self):
        cases = [
            ("apps/x/main.cpp", '  #  include  "coir/core/detail/rows.hpp"', "detail/ is core's own"),
            ("apps/x/a b.cpp", "#include \\\n  <coir/core/detail/rows.hpp>", "detail/ is core's own"),
            ("apps/x/cli.cpp", "#include <CLI/CLI.hpp>", "use support/command_line.hpp"),
            ("apps/support/x.hpp", "#include <CLI11.hpp>", "use support/command_line.hpp"),
            ("include/coir/mesh/y.hpp", "#include <coir/mesh/../core/detail/rows.hpp>", "name the file from the include folder"),
            ("src/mesh/y.cpp", '#include "nbody/bins.hpp"', "mesh is below nbody"),
            ("tests/mesh/y.cpp", '#include "mesh/paint_host.hpp"', "src/ is for the library's own"),
            ("src/graph/y.cpp", "#include <coir/core/shape.hpp>", "graph isn't among the MODULES"),
            ("src/core/y.cpp", "#if defined(A) && \\\n  KOKKOS_VERSION < 40000", "Kokkos' versions differ"),
            ("src/linalg/y.hpp", "#if KOKKOSKERNELS_VERSION >= 40200", "Kokkos Kernels' versions differ"),
            ("src/mesh/z.cpp", "#if defined(KOKKOS_ENABLE_CUDA)", "only core, src/fft and src/linalg ask"),
            ("src/nbody/y.cpp", "  auto y = ::coir::mesh::detail::paint(x);", "mesh::detail is mesh's own"),
            ("apps/x/y.cpp", "namespace coir::mesh::detail {", "mesh::detail is mesh's own"),
            ("src/mesh/w.cpp", "coir::detail::rows(x);", "coir::detail is of core, array, linalg, autodiff alone"),
        ]
        faults = check({name: text + "\n" for name, text, _ in cases})
        for name, text, words in cases:
            self.assertTrue(any(fault.startswith(f"{name}:1: ") and words in fault for fault in faults), (name, text, faults))

    def test_cycles_are_found(self):
        self.assertEqual(check({
            "include/coir/mesh/a.hpp": "#pragma once\n#include <coir/mesh/b.hpp>\n",
            "include/coir/mesh/b.hpp": "#pragma once\n#include <coir/mesh/c.hpp>\n",
            "include/coir/mesh/c.hpp": "#pragma once\n\n#include <coir/mesh/a.hpp>\n",
        }), ["include/coir/mesh/c.hpp:3: includes itself: include/coir/mesh/a.hpp -> include/coir/mesh/b.hpp"
             " -> include/coir/mesh/c.hpp -> include/coir/mesh/a.hpp"])


unittest.main()
