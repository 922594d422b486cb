#include "work_set.hpp"

#include <support/text.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace coir::apps::compare {

namespace {

constexpr auto first = SizeFrom::first, square = SizeFrom::square, cube = SizeFrom::cube,
               product = SizeFrom::product;
constexpr char none[] = "none", copy[] = "copy", update[] = "update", read[] = "read",
               triad[] = "triad";

/// Sizes four times apart: from one to another, which is no more than 4^14 times as large.
std::vector<std::string> by_fours(std::int64_t from, std::int64_t to) {
  std::vector<std::string> sizes;
  for (std::int64_t size = from; size <= to; size *= 4) sizes.push_back(std::to_string(size));
  return sizes;
}

/// Squares, whose numbers of cells are four times apart.
std::vector<std::string> squares(int from, int to) {
  std::vector<std::string> sizes;
  for (int side = from; side <= to; side *= 2)
    sizes.push_back(std::to_string(side) + "/" + std::to_string(side));
  return sizes;
}

/// Squares or cubes of these sides: "63/63" or "63/63/63".
std::vector<std::string> of_sides(std::vector<int> const& sides, int axes) {
  std::vector<std::string> sizes;
  for (int const side : sides)
    sizes.push_back(joined(std::vector(static_cast<std::size_t>(axes), std::to_string(side)), "/"));
  return sizes;
}

// To add a row: give it a name that stays, and say where its benchmark is, which is then COMPARED
// in its CMakeLists.txt. Sizes are at most a factor of four apart, or else crossings can't be told.
// Those of the quick set must take seconds on two cores.
// clang-format off
std::vector<ComparedWork> all_works() {
  std::int64_t const k = 1024, M = k * k;
  auto const boxes = of_sides({64, 96, 127, 192, 255, 384, 512}, 3);
  // These plus 1 have small prime factors, so that sine transforms are fast.
  auto const fast_squares = of_sides({63, 124, 242, 479, 899, 1023, 2024, 3999, 4095}, 2);
  auto const more_fast_squares = of_sides({6749, 8191}, 2);
  auto const fast_boxes = of_sides({63, 95, 127, 191, 255, 383, 511}, 3);
  auto const transfer_sizes = by_fours(4 * k, 1024 * M);
  return {
      {"x+=3", "x += 3", "Array statements", "array/table", "x+=3", first, "cells", update, "",
       by_fours(256, 64 * M), {}},
      {"cos2+sin2", "y = cos(x)^2 + sin(x)^2, x to 100", "Array statements", "array/table", "cos2+sin2,0..100|cos2+sin2", first, "cells", copy, "",
       by_fours(256, 16 * M), {"67108864"}},
      {"a+b", "c = a + b", "Array statements", "array/table", "a+b,preallocated", first, "cells", triad, "",
       by_fours(k, 64 * M), {}},
      {"a+b,new", "a + b into a new array", "Array statements", "array/table", "a+b", first, "cells", triad, "",
       {}, by_fours(k, 64 * M)},
      {"selu", "selu(x)", "Array statements", "array/table", "selu", first, "cells", copy, "",
       by_fours(256, 16 * M), {"67108864"}},
      {"chain", "((a b + c) / 2 - d) a, double", "Array statements", "array/table", "chain", first, "cells", triad, "",
       by_fours(256, 16 * M), {}},
      {"sum", "sum(x)", "Array statements", "array/table", "sum", first, "cells", read, "",
       by_fours(256, 64 * M), {}},
      {"max", "max(x)", "Array statements", "array/table", "max", first, "cells", read, "",
       {}, by_fours(256, 64 * M)},
      {"any", "any(x > 2)", "Array statements", "array/table", "any", first, "cells", read, "",
       {}, by_fours(256, 64 * M)},
      {"vmap", "Norms of rows of 32, by vmap", "Array statements", "array/vmap", "vmap,norm", first, "numbers", none, "",
       by_fours(k, 4 * M), {"16777216", "67108864"}},

      {"sort", "Sorted copy of random numbers", "Sorting and scans", "array/sort", "sort,float", first, "elements", copy, "",
       by_fours(k, 4 * M), {"16777216", "67108864"}},
      {"argsort", "Indices that sort", "Sorting and scans", "array/sort", "argsort,float", first, "elements", copy, "",
       {}, by_fours(k, 64 * M)},
      {"sort,rows", "Sorted rows of 1024", "Sorting and scans", "array/sort", "sort,rows,float", first, "elements", copy, "",
       {}, by_fours(k, 64 * M)},
      {"cumsum", "Cumulative sum", "Sorting and scans", "array/scan", "cumsum,float", first, "elements", copy, "",
       by_fours(k, 64 * M), {}},

      {"uniform", "Uniform random numbers", "Random numbers", "array/random", "uniform,float", first, "numbers", copy, "",
       {}, by_fours(k, 64 * M)},
      {"normal", "Normal random numbers", "Random numbers", "array/random", "normal,float", first, "numbers", copy, "",
       by_fours(k, 64 * M), {}},

      {"grad,sum", "Value and gradient of sum(cos(x)^2 exp(-x)), double", "Gradients", "autodiff/gradients", "grad,sum", first,
       "numbers", copy, "", by_fours(k, 4 * M), {"16777216", "67108864"}},
      {"grad,norm", "Value and gradient of norm(cos(x)^2 exp(-x)), double", "Gradients", "autodiff/gradients", "grad,norm", first,
       "numbers", copy, "", {}, by_fours(k, 64 * M)},
      {"grad,points", "Slopes of Rosenbrock's function at n points, double", "Gradients", "autodiff/gradients", "grad,rosenbrock",
       first, "points", copy, "", by_fours(k, 4 * M), {"16777216", "67108864"}},

      {"mandelbrot", "Mandelbrot set, 256 steps, one kernel", "Mandelbrot set", "array/escape", "bench_escape_kernel<float>",
       square, "pixels", none, "", {"256", "512", "1024", "2048", "4096", "8192"}, {}},
      {"mandelbrot,arrays", "Mandelbrot set, statements over whole arrays", "Mandelbrot set", "array/escape",
       "bench_escape_arrays<float>", square, "pixels", none, "", {"256", "512"}, {"1024", "2048"}},
      {"mandelbrot,double", "Mandelbrot set in double", "Mandelbrot set", "array/escape", "bench_escape_kernel<double>",
       square, "pixels", none, "", {}, {"256", "512", "1024", "2048", "4096", "8192"}},

      {"jacobi,statement", "Jacobi sweep, an array statement", "Poisson's equation", "array/table", "jacobi,statement", product,
       "cells", triad, "", squares(16, 8192), {}},
      {"jacobi,recorded", "Jacobi sweep, recorded statements", "Poisson's equation", "array/table", "jacobi,recorded", product,
       "cells", triad, "", squares(16, 2048), {"4096/4096", "8192/8192"}},
      {"jacobi,plain", "Jacobi sweep, plain", "Poisson's equation", "poisson/jacobi",
       "bench_jacobi<float, poisson::JacobiScheme::plain>", product, "cells", triad, "sweeps",
       squares(64, 2048), {"4096/4096", "8192/8192"}},
      {"jacobi,blocked", "Jacobi sweep, blocked: many a pass", "Poisson's equation", "poisson/jacobi",
       "bench_jacobi<float, poisson::JacobiScheme::blocked>", product, "cells", triad, "sweeps",
       squares(64, 2048), {"4096/4096", "8192/8192"}, true},
      {"jacobi,plain,double", "Jacobi sweep, plain, double", "Poisson's equation", "poisson/jacobi",
       "bench_jacobi<double, poisson::JacobiScheme::plain>", product, "cells", triad, "sweeps",
       {}, squares(64, 8192)},
      {"red_black", "Red-black sweep", "Poisson's equation", "poisson/red_black", "bench_red_black<float>", product,
       "cells", update, "sweeps", squares(64, 2048), {"4096/4096", "8192/8192"}},
      {"multigrid", "Multigrid from zero to 1e-4", "Poisson's equation", "poisson/multigrid", "bench_multigrid<float>", product,
       "cells", none, "", squares(64, 4096), {"8192/8192"}},
      {"multigrid,double", "Multigrid from zero to 1e-8, double", "Poisson's equation", "poisson/multigrid",
       "bench_multigrid<double>", product, "cells", none, "", {}, squares(64, 8192)},
      {"jacobi,box", "Jacobi sweep of a box, double", "Poisson's equation", "poisson/jacobi",
       "bench_jacobi<double, poisson::JacobiScheme::plain, 3>", product, "cells", triad, "sweeps", {}, boxes},
      {"red_black,box", "Red-black sweep of a box, double", "Poisson's equation", "poisson/red_black",
       "bench_red_black<double, 3>", product, "cells", update, "sweeps", {}, boxes},
      {"multigrid,box", "Multigrid in a box from zero to 1e-8, double", "Poisson's equation", "poisson/multigrid",
       "bench_multigrid<double, 3>", product, "cells", none, "", {}, boxes},
      {"direct", "Exact solution by sine transforms, double", "Poisson's equation", "poisson/direct",
       "bench_direct<double>", product, "cells", none, "", fast_squares, more_fast_squares},
      {"direct,box", "Exact solution in a box, double", "Poisson's equation", "poisson/direct", "bench_direct<double, 3>",
       product, "cells", none, "", {}, fast_boxes},

      // The second kernel of a step finds rows of the first one in a host's cache.
      {"shallow", "Step of shallow water", "Shallow water", "shallow/model", "bench_shallow<float>", product, "cells", triad,
       "steps", squares(64, 2048), {"4096/4096", "8192/8192"}, true},

      {"matmul,float", "Product of two matrices, float", "Linear algebra", "linalg/matmul", "matmul,float", first, "rows", none,
       "", {}, {"64", "128", "256", "512", "1024", "2048", "4096"}},
      {"matmul,double", "Product of two matrices, double", "Linear algebra", "linalg/matmul", "matmul,double", first, "rows",
       none, "", {"64", "256", "1024"}, {"128", "512", "2048", "4096"}},
      {"matmul,stack", "10 000 products of small matrices, double", "Linear algebra", "linalg/matmul", "matmul,stack", first,
       "rows", none, "", {}, {"4", "16", "64"}},

      {"fft", "Real transform of a cube, float", "Fourier transforms", "fft/fft", "r2c,float", cube, "cells", copy, "",
       {"32", "48", "64", "96", "128", "192", "256"}, {"384", "512"}},
      {"fft,back", "Real transform of a cube back, float", "Fourier transforms", "fft/fft", "c2r,float", cube, "cells", copy, "",
       {}, {"32", "48", "64", "96", "128", "192", "256", "384", "512"}},
      {"fft,double", "Real transform of a cube, double", "Fourier transforms", "fft/fft", "r2c,double", cube, "cells", copy, "",
       {}, {"32", "48", "64", "96", "128", "192", "256"}},

      {"paint", "Paint particles, cloud in cell", "Particles and meshes", "mesh/paint", "cic,displaced", cube, "particles", copy,
       "", {"32/1", "48/1", "64/1", "96/1", "128/1"}, {"192/1", "256/1"}},
      {"readout", "Read vectors at particles, cloud in cell", "Particles and meshes", "mesh/readout", "vectors,cic,displaced",
       cube, "particles", copy, "", {"32/1", "48/1", "64/1", "96/1", "128/1"}, {"192/1", "256/1"}},
      {"step", "A step of a particle-mesh simulation", "Particles and meshes", "nbody/step", "fastpm", cube, "particles", none,
       "", {"64/1", "96/1", "128/1"}, {"192/1", "256/1", "384/1", "512/1"}},

      {"copy", "Copy within one memory", "Transfers", "core/transfers", "copy,host_to_host|copy,device_to_device", first,
       "bytes_copied", copy, "", by_fours(4 * k, 256 * M), {"1073741824"}},
      {"to_device", "Host to device, pageable", "Transfers", "core/transfers", "transfer,to_device,pageable", first, "bytes",
       "to_device", "", transfer_sizes, {}},
      {"to_device,pinned", "Host to device, page-locked", "Transfers", "core/transfers", "transfer,to_device,pinned", first,
       "bytes", "to_device", "", transfer_sizes, {}},
      {"from_device", "Device to host, pageable", "Transfers", "core/transfers", "transfer,from_device,pageable", first, "bytes",
       "to_host", "", transfer_sizes, {}},
      {"from_device,pinned", "Device to host, page-locked", "Transfers", "core/transfers", "transfer,from_device,pinned", first,
       "bytes", "to_host", "", transfer_sizes, {}},
  };
}
// clang-format on

/// "jacobi" is all of "jacobi,plain" and so on, "sum" is not "sum_of".
bool is_called(ComparedWork const& work, std::string const& word) {
  return work.name == word || work.name.starts_with(word + ",");
}

}  // namespace

char const* set_name(SetName set) { return set == SetName::quick ? "quick" : "full"; }

std::vector<ComparedWork> works_of(SetName set, std::vector<std::string> const& only) {
  std::vector<std::string> names;
  std::vector<ComparedWork> works;
  for (ComparedWork& work : all_works()) {
    if (set == SetName::full)
      work.quick.insert(work.quick.end(), work.more.begin(), work.more.end());
    if (work.quick.empty()) continue;
    names.push_back(work.name);
    auto const is_named = [&](std::string const& word) { return is_called(work, word); };
    if (only.empty() || std::any_of(only.begin(), only.end(), is_named)) works.push_back(work);
  }
  for (auto const& word : only) {
    auto const is_it = [&](ComparedWork const& work) { return is_called(work, word); };
    expects(std::any_of(works.begin(), works.end(), is_it),
            "--only must be a work of the " + std::string(set_name(set)) + " set, which are " +
                joined(names, " ") + ", or what their names begin with, up to a comma",
            "'" + word + "'");
  }
  return works;
}

int rounds_of(SetName set) { return set == SetName::quick ? 3 : 2; }

std::vector<std::string> row_names(ComparedWork const& work, std::string const& numbers) {
  std::vector<std::string> names;
  for (auto const& row : split(work.row, '|')) names.push_back(row + "/" + numbers);
  return names;
}

double size_of(SizeFrom from, std::string const& numbers) {
  auto const parts = split(numbers, '/');
  double const side = std::strtod(parts.front().c_str(), nullptr);
  double all = 1;
  for (auto const& part : parts) all *= std::strtod(part.c_str(), nullptr);
  switch (from) {
    case SizeFrom::first: return side;
    case SizeFrom::square: return side * side;
    case SizeFrom::cube: return side * side * side;
    case SizeFrom::product: break;
  }
  return all;
}

}  // namespace coir::apps::compare
