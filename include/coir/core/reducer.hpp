#pragma once

/// \file
/// Kokkos reducers made of monoids.

#include <coir/core/kokkos.hpp>

namespace coir {

/// A Kokkos reducer for reduce() and Kokkos::parallel_reduce.
///
/// \tparam Monoid  has value_type, a constant neutral() and join(a, b), which folds b into a; both
///   can be called in kernels
/// \tparam Space   the memory of the result: loops don't wait for a result in a device's memory
template <class Monoid, class Space = Kokkos::HostSpace>
class MonoidReducer {
 public:
  using reducer = MonoidReducer;
  using value_type = typename Monoid::value_type;
  /// Whether joining rounds: Monoid::rounds if there is one, otherwise true for all but integers.
  static constexpr bool rounds = [] {
    if constexpr (requires { Monoid::rounds; })
      return Monoid::rounds;
    else
      return !std::is_integral_v<value_type>;
  }();
  using result_view_type = Kokkos::View<value_type, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  KOKKOS_INLINE_FUNCTION MonoidReducer(Monoid const& monoid, value_type& result)
      : monoid_(monoid), result_(&result) {}

  KOKKOS_FORCEINLINE_FUNCTION void join(value_type& into, value_type const& value) const {
    monoid_.join(into, value);
  }
#ifdef COIR_KOKKOS_JOINS_VOLATILE
  // No fences here: Kokkos' loops fence the memory that threads share.
  KOKKOS_FORCEINLINE_FUNCTION void join(value_type volatile& into,
                                        value_type const volatile& value) const {
    monoid_.join(const_cast<value_type&>(into), const_cast<value_type const&>(value));
  }
#endif
  /// Whether no more values change this one, on hosts.
  bool is_final(value_type const& value) const
    requires requires(Monoid const& monoid) { monoid.is_final(value); }
  {
    return monoid_.is_final(value);
  }
  KOKKOS_FORCEINLINE_FUNCTION void init(value_type& value) const { value = monoid_.neutral(); }
  KOKKOS_INLINE_FUNCTION value_type& reference() const { return *result_; }
  KOKKOS_INLINE_FUNCTION result_view_type view() const { return result_view_type(result_); }
  KOKKOS_INLINE_FUNCTION bool references_scalar() const {
    return std::is_same_v<Space, Kokkos::HostSpace>;
  }

 private:
  Monoid monoid_;
  value_type* result_;
};

}  // namespace coir
