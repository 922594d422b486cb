#pragma once

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

/// One list where the default space is the host's, another where there is a device beside it.
template <class OnHost, class OnBoth>
using WhereTestsRun = std::conditional_t<std::is_same_v<Host, Device>, OnHost, OnBoth>;

/// Host and device in double alone.
using DoubleCases = WhereTestsRun<::testing::Types<Case<Host, double>>,
                                  ::testing::Types<Case<Host, double>, Case<Device, double>>>;

/// Host and device, float and double. The fast tests take double alone.
#ifdef COIR_TEST_DOUBLE_ALONE
using Cases = DoubleCases;
#else
using Cases = WhereTestsRun<::testing::Types<Case<Host, float>, Case<Host, double>>,
                            ::testing::Types<Case<Host, float>, Case<Host, double>,
                                             Case<Device, float>, Case<Device, double>>>;
#endif

using Spaces = WhereTestsRun<::testing::Types<Host>, ::testing::Types<Host, Device>>;

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
