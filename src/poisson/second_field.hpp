#pragma once

/// The caller's field and another like it, read and written in turn.

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
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

/// Copies the ring of a field's row, or that of a slab with its rows.
template <class T, class In, class Out>
struct CopyRing {
  In in;
  Out out;

  std::int64_t cells_per_index() const {
    return In::rank == 2 ? 2 : 2 * std::int64_t(in.extent(1) + in.extent(2));
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    bool const outer = i == 0 || i + 1 == std::int64_t(in.extent(0));
    if constexpr (In::rank == 2) {
      copy_row(&in(i, 0), &out(i, 0), in.extent(1), outer);
    } else {
      auto const rows = std::int64_t(in.extent(1));
      for (std::int64_t j = 0; j < rows; ++j)
        copy_row(&in(i, j, 0), &out(i, j, 0), in.extent(2), outer || j == 0 || j + 1 == rows);
    }
  }

 private:
  KOKKOS_FUNCTION static void copy_row(T const* from, T* to, std::int64_t length, bool whole) {
    std::int64_t const step = whole ? 1 : length - 1;
    for (std::int64_t k = 0; k < length; k += step) to[k] = from[k];
  }
};

/// Copies the ring of a field. Devices copy all of it, which is one launch without strides.
template <class Exec, class T, int Rank>
void copy_ring(Exec const& exec, RowMajorView<Exec, T, Rank> const& in,
               RowMajorView<Exec, T, Rank> const& out) {
  using View = RowMajorView<Exec, T, Rank>;
  if constexpr (runs_on_host<Exec>)
    for_each("coir::poisson::second_field/ring", exec,
             box<1, std::int64_t>({std::int64_t(in.extent(0))}),
             CopyRing<T, RowMajorView<Exec, T const, Rank>, View>{in, out});
  else
    copy_field<Exec, T, Rank>(exec, in, out);
}

template <class Exec, class T, int Rank>
class TwoFields {
 public:
  using Unknown = RowMajorView<Exec, T, Rank>;

  /// \param method  what they are for: "Jacobi's method"
  /// \param shared  whether other ranks write to the fields: devices keep the second one then,
  /// since
  ///   opening new memory takes the other ranks a millisecond
  TwoFields(Exec const& exec, Unknown const& u, std::string const& method, bool shared = false)
      : exec_(exec), field_{u, Unknown()} {
    std::string const label = "coir::poisson::second_field/second";
    Buffers all;
    auto const add = [&](auto... extents) {
      if (shared)
        all.add_kept(exec, owned_, label, extents...);
      else
        all.add(owned_, label, extents...);
    };
    if constexpr (Rank == 2)
      add(u.extent(0), u.extent(1));
    else
      add(u.extent(0), u.extent(1), u.extent(2));
    all.make<typename Exec::memory_space>("the second field of " + method);
    field_[1] = owned_;
    copy_ring<Exec, T, Rank>(exec_, field_[0], field_[1]);
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
