#pragma once

/// \file
/// The cases that typed tests run over: every execution space with each precision.

#include <coir/core/kokkos.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace coir::testing {

using Host = Kokkos::DefaultHostExecutionSpace;
using Device = Kokkos::DefaultExecutionSpace;

template <class Space, class Number>
struct Case {
  using Exec = Space;
  using Real = Number;
};

/// Host and device where they differ, float and double.
using Cases = std::conditional_t<std::is_same_v<Host, Device>,
                                 ::testing::Types<Case<Host, float>, Case<Host, double>>,
                                 ::testing::Types<Case<Host, float>, Case<Host, double>,
                                                  Case<Device, float>, Case<Device, double>>>;

/// The same in double alone.
using DoubleCases =
    std::conditional_t<std::is_same_v<Host, Device>, ::testing::Types<Case<Host, double>>,
                       ::testing::Types<Case<Host, double>, Case<Device, double>>>;

using Spaces = std::conditional_t<std::is_same_v<Host, Device>, ::testing::Types<Host>,
                                  ::testing::Types<Host, Device>>;

/// "OpenMP_float" in place of a number in test names.
struct CaseName {
  template <class C>
  static std::string GetName(int) {
    return std::string(C::Exec::name()) +
           (std::is_same_v<typename C::Real, float> ? "_float" : "_double");
  }
};

struct SpaceName {
  template <class Space>
  static std::string GetName(int) {
    return Space::name();
  }
};

}  // namespace coir::testing
