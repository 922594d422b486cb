#pragma once

#include <coir/core/kokkos.hpp>

#include <bit>
#include <cstdint>

namespace coir::detail {

/// Divides whole numbers from 0 to 2^31 - 1 by one that is known before a kernel starts, by a
/// multiplication and a shift. Devices have no instruction for division.
///
/// With 2^(s - 1) < d <= 2^s the quotient of n is floor(n (2^32 + m) / 2^(32 + s)) for m =
/// floor(2^32 (2^s - d) / d) + 1.
///
/// \see Granlund & Montgomery, Division by invariant integers using multiplication, PLDI 1994,
///   section 4
class Divisor {
 public:
  /// \param divisor  from 1 to 2^31 - 1
  explicit Divisor(std::int32_t divisor) {
    auto const d = static_cast<std::uint64_t>(divisor);
    shift_ = static_cast<std::uint32_t>(std::bit_width(d - 1));
    factor_ = static_cast<std::uint32_t>(((((std::uint64_t(1) << shift_) - d) << 32) / d) + 1);
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int32_t quotient(std::int32_t number) const {
    auto const n = static_cast<std::uint32_t>(number);
    auto const high = static_cast<std::uint32_t>((std::uint64_t(n) * factor_) >> 32);
    return static_cast<std::int32_t>((high + n) >> shift_);
  }

 private:
  std::uint32_t factor_ = 0;
  std::uint32_t shift_ = 0;
};

}  // namespace coir::detail
