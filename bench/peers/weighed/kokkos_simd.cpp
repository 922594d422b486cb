// Rows of bench/array/table_bench.cpp: coir's statement, whose loop the compiler vectorises, and the loop that one writes with
// Kokkos SIMD, a vector in each iteration.

#include "in_turns.hpp"

#include <coir/array/all.hpp>

#include <Kokkos_SIMD.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

using Exec = Kokkos::DefaultHostExecutionSpace;
using Memory = Kokkos::HostSpace;
/// As many bytes as a vector of double has by default. That of float may be shorter: 8 numbers with AVX-512.
template <class T>
using Simd =
    Kokkos::Experimental::simd<T, static_cast<int>(Kokkos::Experimental::simd<double>::size() *
                                                   sizeof(double) / sizeof(T))>;

/// Calls body(i) for the index i of the first number of each vector; n must be a multiple of their length.
template <class T, class Body>
void for_each_vector(std::int64_t n, Body const& body) {
  constexpr auto width = static_cast<std::int64_t>(Simd<T>::size());
  Kokkos::parallel_for("vectors", Kokkos::RangePolicy<Exec>(0, n / width),
                       [=](std::int64_t vector) { body(vector * width); });
}

template <class T>
Simd<T> load(T const* from) {
  Simd<T> x;
  x.copy_from(from, Kokkos::Experimental::simd_flag_default);
  return x;
}

template <class Array>
void expects_equal(Array const& y, Array const& z) {
  if (coir::max(coir::abs(y - z)) <= 1e-5f * coir::max(coir::abs(y))) return;
  std::puts("the results differ");
  std::exit(1);
}

/// So many calls that they take a millisecond or so.
std::int64_t calls_for(std::int64_t n) { return std::max<std::int64_t>(1, (1 << 20) / n); }

template <class Call>
auto repeated(std::int64_t calls, Call const& call) {
  return [=]() mutable {
    for (std::int64_t n = 0; n < calls; ++n) call();
  };
}

template <class T>
void chain(std::int64_t n, char const* type) {
  auto const a = coir::linspace<T, Memory>(0, 1, n), b = coir::linspace<T, Memory>(1, 2, n),
             c = coir::linspace<T, Memory>(2, 3, n), d = coir::linspace<T, Memory>(3, 4, n);
  auto y = coir::zeros<T, Memory>(n), z = coir::zeros<T, Memory>(n);
  auto const ours = [&] { y = ((a * b + c) * T(0.5) - d) * a; };
  auto const theirs = [&, pa = a.data(), pb = b.data(), pc = c.data(), pd = d.data(),
                       pz = z.data()] {
    for_each_vector<T>(n, [=](std::int64_t i) {
      auto const va = load(pa + i);
      auto const result =
          ((va * load(pb + i) + load(pc + i)) * Simd<T>(T(0.5)) - load(pd + i)) * va;
      result.copy_to(pz + i, Kokkos::Experimental::simd_flag_default);
    });
  };
  ours();
  theirs();
  expects_equal(y, z);
  std::int64_t const calls = calls_for(n);
  in_turns("chain, " + std::string(type) + ", " + std::to_string(n) + " x " + std::to_string(calls),
           repeated(calls, [&] { ours(); }), repeated(calls, [&] { theirs(); }));
}

void selu(std::int64_t n) {
  using T = float;
  auto const x = coir::linspace<T, Memory>(-3, 3, n);
  auto y = coir::zeros<T, Memory>(n), z = coir::zeros<T, Memory>(n);
  auto const ours = [&] { y = T(1.05) * coir::where(x > 0, x, T(1.67) * coir::exp(x) - T(1.67)); };
  auto const theirs = [&, px = x.data(), pz = z.data()] {
    for_each_vector<T>(n, [=](std::int64_t i) {
      auto const v = load(px + i);
      auto result = Simd<T>(T(1.67)) * Kokkos::exp(v) - Simd<T>(T(1.67));
      Kokkos::Experimental::where(v > Simd<T>(T(0)), result) = v;
      result = Simd<T>(T(1.05)) * result;
      result.copy_to(pz + i, Kokkos::Experimental::simd_flag_default);
    });
  };
  ours();
  theirs();
  expects_equal(y, z);
  std::int64_t const calls = calls_for(n);
  in_turns("selu, float, " + std::to_string(n) + " x " + std::to_string(calls),
           repeated(calls, [&] { ours(); }), repeated(calls, [&] { theirs(); }));
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::printf("vectors of %zu float and %zu double\n", std::size_t(Simd<float>::size()),
              std::size_t(Simd<double>::size()));
  print_heading();
  for (std::int64_t const n :
       {std::int64_t(4096), std::int64_t(1) << 20, std::int64_t(10'000'000)}) {
    chain<float>(n, "float");
    chain<double>(n, "double");
    selu(n);
  }
}
