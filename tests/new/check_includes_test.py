#!/usr/bin/env python3
"""scripts/check_includes.py on small trees, with includes spelled in ways that the preprocessor takes as well."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/check_includes.py"

HEADERS = {
    "include/coir/core/shape.hpp": "#pragma once\n",
    "include/coir/core/detail/rows.hpp": "#pragma once\n",
    "include/coir/mesh/paint.hpp": "#pragma once\n#include <coir/core/shape.hpp>\n",
    "src/mesh/paint_host.hpp": "#pragma once\n",
    "src/nbody/bins.hpp": "#pragma once\n",
}


def check(files):
    """The lines that it prints about a tree of HEADERS and these, and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (HEADERS | files).items():
            file = pathlib.Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        run = subprocess.run([sys.executable, SCRIPT], cwd=folder, capture_output=True, text=True)
        return run.stdout.splitlines()[:-1], run.returncode, run.stderr


class CheckIncludes(unittest.TestCase):
    def expect_fault(self, name, text, words, line=1):
        faults, code, errors = check({name: text})
        self.assertEqual((code, errors), (1, ""), text)
        self.assertTrue(any(fault.startswith(f"{name}:{line}: ") and words in fault for fault in faults), (text, faults))

    def test_what_follows_the_rules_passes(self):
        faults, code, _ = check({
            "src/nbody/moves.cpp": '#include "bins.hpp"\n#include <coir/mesh/paint.hpp>\n#include <mesh/paint_host.hpp>\n',
            "apps/x/main.cpp": '#include "main.hpp"\n#include <coir/mesh/paint.hpp>\n#include <vector>\n',
            "apps/x/comments.cpp": "// #include <coir/core/detail/rows.hpp>\n/*\n#include <coir/core/detail/rows.hpp>\n*/\n",
        })
        self.assertEqual((faults, code), ([], 0))

    def test_detail_is_found_in_every_spelling(self):
        for spelling in ("#include <coir/core/detail/rows.hpp>", '#include "coir/core/detail/rows.hpp"',
                         "#include<coir/core/detail/rows.hpp>", "  #  include  <coir/core/detail/rows.hpp>",
                         "/* so */ #include <coir/core/detail/rows.hpp>", "#/**/include <coir/core/detail/rows.hpp>",
                         "%:include <coir/core/detail/rows.hpp>", "#import <coir/core/detail/rows.hpp>",
                         "#include \\\n  <coir/core/detail/rows.hpp>"):
            self.expect_fault("apps/x/main.cpp", spelling + "\n", "detail/ is core's own")

    def test_cli11_is_for_sources_of_the_applications_support(self):
        for name in ("apps/x/main.cpp", "apps/support/x.hpp", "tests/apps/x_test.cpp"):
            self.expect_fault(name, "#include <CLI/CLI.hpp>\n", "use support/command_line.hpp")
            self.expect_fault(name, "#include <CLI11.hpp>\n", "use support/command_line.hpp")
        self.assertEqual(check({"apps/support/x.cpp": "#include <CLI/CLI.hpp>\n"})[:2], ([], 0))

    def test_paths_that_go_round_are_named(self):
        for path in ("<coir/mesh/../core/detail/rows.hpp>", "<./coir/core/detail/rows.hpp>",
                     "<coir//core/detail/rows.hpp>", '"../core/detail/rows.hpp"'):
            self.expect_fault("include/coir/mesh/y.hpp", f"\n#include {path}\n", "name the file from the include folder", 2)
            self.expect_fault("include/coir/mesh/y.hpp", f"\n#include {path}\n", "detail/ is core's own", 2)

    def test_sources_are_found_in_quotes(self):
        self.expect_fault("src/mesh/y.cpp", '#include "nbody/bins.hpp"\n', "mesh is below nbody")
        self.expect_fault("tests/mesh/y.cpp", '#include "mesh/paint_host.hpp"\n', "src/ is for the library's own")
        self.expect_fault("src/mesh/y.cpp", '#include "../nbody/bins.hpp"\n', "mesh is below nbody")

    def test_other_endings_and_blanks_in_names_are_looked_at(self):
        for name in ("apps/x/a b.cpp", "apps/x/y.h", "apps/x/y.cu", "apps/x/y.inc"):
            self.expect_fault(name, "#include <coir/core/detail/rows.hpp>\n", "detail/ is core's own")

    def test_a_module_that_is_not_listed_is_named(self):
        self.expect_fault("include/coir/graph/y.hpp", "#include <coir/core/shape.hpp>\n", "graph isn't among the MODULES")
        self.expect_fault("src/graph/y.cpp", "#include <coir/core/shape.hpp>\n", "graph isn't among the MODULES")

    def test_versions_of_kokkos_are_found_in_every_spelling(self):
        for spelling in ("#if KOKKOS_VERSION < 40000", "#if defined(A) && \\\n  KOKKOS_VERSION < 40000",
                         "#/**/if KOKKOS_VERSION_GREATER(4, 0, 0)", "%:elif KOKKOS_VERSION"):
            self.expect_fault("src/core/y.cpp", spelling + "\n", "Kokkos' versions differ")
        for name in ("src/linalg/y.hpp", "bench/linalg/y.cpp", "include/coir/core/y.hpp"):
            self.expect_fault(name, "#if KOKKOSKERNELS_VERSION >= 40200\n", "Kokkos Kernels' versions differ")

    def test_backends_are_asked_for_in_core_and_fft_alone(self):
        for name in ("src/mesh/y.cpp", "include/coir/fft/y.hpp", "tests/core/y.cpp", "bench/core/y.hpp", "apps/x/main.cpp"):
            self.expect_fault(name, "#if defined(KOKKOS_ENABLE_CUDA)\n", "only core and src/fft ask")
            self.expect_fault(name, "#ifdef KOKKOS_ARCH_HOPPER90\n", "only core and src/fft ask")
        for name in ("src/core/y.cpp", "include/coir/core/y.hpp", "src/fft/y.hpp"):
            self.assertEqual(check({name: "#if defined(KOKKOS_ENABLE_CUDA)\n"})[:2], ([], 0))

    def test_cycles_are_found(self):
        faults, code, _ = check({
            "include/coir/mesh/a.hpp": "#pragma once\n#include <coir/mesh/b.hpp>\n",
            "include/coir/mesh/b.hpp": "#pragma once\n#include <coir/mesh/c.hpp>\n",
            "include/coir/mesh/c.hpp": "#pragma once\n\n#include <coir/mesh/a.hpp>\n",
        })
        self.assertEqual(code, 1)
        self.assertEqual(faults, ["include/coir/mesh/c.hpp:3: includes itself: include/coir/mesh/a.hpp -> include/coir/mesh/b.hpp"
                                  " -> include/coir/mesh/c.hpp -> include/coir/mesh/a.hpp"])
        self.expect_fault("src/nbody/bins.hpp", '#pragma once\n#include "bins.hpp"\n', "includes itself", 2)

    def test_a_header_that_two_include_is_no_cycle(self):
        self.assertEqual(check({"src/nbody/moves.hpp": '#include "bins.hpp"\n',
                                "src/nbody/moves.cpp": '#include "bins.hpp"\n#include "moves.hpp"\n'})[:2], ([], 0))

    def test_inner_names_of_other_modules_are_found(self):
        for line in ("coir::mesh::detail::paint(x);", "mesh::detail::paint(x);", "  auto y = ::coir::mesh::detail::paint(x);",
                     "namespace coir::mesh::detail {", "using namespace coir::mesh::detail;"):
            for name in ("src/nbody/y.cpp", "tests/nbody/y.cpp", "apps/x/main.cpp"):
                self.expect_fault(name, line + "\n", "mesh::detail is mesh's own")
            self.assertEqual(check({"tests/mesh/y.cpp": line + "\n"})[:2], ([], 0))
        for name in ("src/mesh/y.cpp", "include/coir/fft/y.hpp", "apps/x/main.cpp", "tests/io/y.cpp"):
            self.expect_fault(name, "coir::detail::rows(x);\n", "coir::detail is of core, array, linalg, autodiff alone")
        self.assertEqual(check({"apps/mesh/main.cpp": "coir::apps::mesh::detail::draw(x);\n"})[:2], ([], 0))  # the application's own
        for text in ('char const* name = "coir::detail::rows";\n', "// coir::detail::rows\n", "detail::rows(x);\n"):
            self.assertEqual(check({"src/mesh/y.cpp": text})[:2], ([], 0))

    def test_names_of_detail_headers_are_their_modules(self):
        declared = {"include/coir/array/detail/fill.hpp": "#pragma once\ntemplate <class T>\nvoid fill_rows(T& x) {}\nstruct Filler {\n};\n"}
        for name in ("fill_rows", "Filler"):
            for text in (f"auto y = detail::{name}(x);\n", f"coir::detail::{name} y;\n"):
                faults, code, _ = check(declared | {"include/coir/autodiff/y.hpp": text})
                self.assertEqual((code, len(faults)), (1, 1), (text, faults))
                self.assertIn(f"detail::{name} is in detail/ of array", faults[0])
                self.assertEqual(check(declared | {"include/coir/array/y.hpp": text})[:2], ([], 0))
        # One that a public header declares, too, is nobody's own.
        public = {"include/coir/array/filling.hpp": "#pragma once\ntemplate <class T>\nvoid fill_rows(T& x);\n"}
        self.assertEqual(check(declared | public | {"include/coir/autodiff/y.hpp": "detail::fill_rows(x);\n"})[:2], ([], 0))


unittest.main()
