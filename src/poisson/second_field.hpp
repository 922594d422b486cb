#pragma once

/// \file
/// The caller's field and another like it, read and written in turn.

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/strided.hpp>
#include <coir/poisson/detail/callers_grid.hpp>

#include <cstdint>
#include <string>

namespace coir::poisson::detail {

/// Copies a field with its ring.
template <class Exec, class T, int Rank>
void copy_field(Exec const& exec, RowMajorView<Exec, T, Rank> const& in,
                RowMajorView<Exec, T, Rank> const& out) {
  if (in.span_is_contiguous() && out.span_is_contiguous())
    copy_contiguous(exec, out, in);
  else
    copy_strided<Exec, T, Rank>(exec, strided(in), strided(out));
}

template <class Exec, class T, int Rank>
class TwoFields {
 public:
  using Unknown = RowMajorView<Exec, T, Rank>;

  /// \param method  what they are for: "Jacobi's method"
  TwoFields(Exec const& exec, Unknown const& u, std::string const& method)
      : exec_(exec), field_{u, Unknown()} {
    std::string const label = "coir::poisson::second_field/second";
    Buffers all;
    if constexpr (Rank == 2)
      all.add(owned_, label, u.extent(0), u.extent(1));
    else
      all.add(owned_, label, u.extent(0), u.extent(1), u.extent(2));
    all.make<typename Exec::memory_space>("the second field of " + method);
    field_[1] = owned_;
    copy_field<Exec, T, Rank>(exec_, field_[0],
                              field_[1]);  // for the ring; the inside is written over
  }

  int parity() const { return parity_; }
  Unknown current() const { return field_[parity_]; }
  Unknown other() const { return field_[1 - parity_]; }
  void swap() { parity_ = 1 - parity_; }

  /// Puts the current field into the caller's.
  void finish() {
    if (parity_ == 1) copy_field<Exec, T, Rank>(exec_, field_[1], field_[0]);
    parity_ = 0;
  }

 private:
  using Owned =
      Kokkos::View<view_data_t<T, Rank>, Kokkos::LayoutRight, typename Exec::memory_space>;
  Exec exec_;
  Owned owned_;
  Unknown field_[2];
  int parity_ = 0;
};

}  // namespace coir::poisson::detail
