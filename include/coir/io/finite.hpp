#pragma once

/// \file
/// A check for fields that come from files.

#include <coir/core/concepts.hpp>
#include <coir/io/c_order.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace coir::io {

namespace detail {
[[noreturn]] void fail_not_finite(std::string_view name, std::size_t element,
                                  std::span<std::int64_t const> shape, std::int64_t first,
                                  double value);
}

/// Checks that a field from a file has only finite numbers.
///
/// \param view   in; float or double, any layout, memory space and rank
/// \param name   the file's name, for the message
/// \param first  the view's first index along the first axis of the file's field
/// \throws InputError naming the first element, in C order, that is infinite or not a number
template <class V>
  requires(Kokkos::is_view<V>::value && Real<typename V::value_type>)
void expects_finite(V const& view, std::string_view name, std::int64_t first = 0) {
  std::size_t before = 0;
  for_each_run_in_c_order(view, [&](auto run) {
    for (std::size_t n = 0; n < run.size(); ++n)
      if (!std::isfinite(run[n]))
        detail::fail_not_finite(name, before + n, shape_of(view), first, run[n]);
    before += run.size();
  });
}

}  // namespace coir::io
