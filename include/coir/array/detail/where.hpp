#pragma once

#include <coir/array/detail/assign.hpp>
#include <coir/array/element.hpp>
#include <coir/core/math.hpp>

namespace coir::detail {

/// Chooses one of two values: the functor of where().
struct Where {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(bool mask, A const& a, B const& b) const {
    using C = promote_t<A, B>;
    return math::select(mask, stored<C>(a), stored<C>(b));
  }
};

}  // namespace coir::detail
