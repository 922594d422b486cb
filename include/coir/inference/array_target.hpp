#pragma once

/// Array programs as targets.

#include <coir/array/creation.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/inference/target.hpp>

namespace coir::inference {

/// The target that array_target() makes. Its statements use all threads, so that chains take turns.
template <class F>
struct ArrayTarget {
  static constexpr bool one_at_a_time = true;
  F f;

  template <class Space>
  double operator()(Kokkos::View<double const*, Space> const& theta,
                    Kokkos::View<double*, Space> const& slope) const {
    Array<double, 1, Space> const x = slice_of(theta);
    auto const found = value_and_grad(f)(x);
    slice_of(slope) = found.gradient;
    Kokkos::fence();  // the slope is read by another instance
    return static_cast<double>(found.value);
  }
};

/// The target of an array program, which value_and_grad differentiates: a generic function of an
/// array of rank 1 that returns a number, array_target([](auto x) { return -0.5 * dot(x, x); }).
template <class F>
ArrayTarget<F> array_target(F f) {
  return {f};
}

}  // namespace coir::inference
