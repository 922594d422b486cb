#pragma once

/// \file
/// Runs a program's checks with Views of Kokkos' default layout, and with LayoutLeft, which is that of devices.

#include <Kokkos_Core.hpp>

#include <cstdio>

/// Prints what doesn't hold.
inline bool holds(bool condition, char const* what) {
  if (!condition) std::printf("this doesn't hold: %s\n", what);
  return condition;
}

using DefaultLayout = Kokkos::View<double**>::array_layout;

/// \param check  a template call operator: check.operator()<Layout>() says whether all is well
template <class Check>
int run(int argc, char** argv, Check const& check) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::printf("on %s\n", Kokkos::DefaultExecutionSpace::name());
  bool const by_default = check.template operator()<DefaultLayout>();
  bool const left = check.template operator()<Kokkos::LayoutLeft>();
  bool const right = check.template operator()<Kokkos::LayoutRight>();
  return by_default && left && right ? 0 : 1;
}
