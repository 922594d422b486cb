#pragma once

#include <coir/array/detail/assign.hpp>
#include <coir/array/element.hpp>

namespace coir::detail {

/// One of two values.
struct Where {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(bool mask, A const& a, B const& b) const {
    using C = promote_t<A, B>;
    C const yes = stored<C>(a), no = stored<C>(b);
    return mask ? yes : no;
  }
};

}  // namespace coir::detail
