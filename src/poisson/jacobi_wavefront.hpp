#pragma once

/// Blocked Jacobi sweeps on hosts: the wavefront between Views, on Kokkos' threads.

#include "second_field.hpp"
#include "wavefront.hpp"

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/poisson/detail/callers_grid.hpp>
#include <coir/poisson/detail/side_by_side.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace coir::poisson::detail {

/// Copies of u and b whose rows begin at vector boundaries, with a vector to spare on either side.
template <class Exec, class T>
class PaddedFields {
 public:
  /// Whether to copy a grid of this size: only if the copies fit into a cache.
  static bool worthwhile(std::int64_t rows, std::int64_t columns) {
    return 3 * size_of(rows, columns) * static_cast<std::int64_t>(sizeof(T)) <=
           (std::int64_t(32) << 20);
  }

  PaddedFields(Exec const& exec, RowMajorView<Exec, T const, 2> const& b,
               RowMajorView<Exec, T, 2> const& u)
      : exec_(exec), b_(b), u_(u), stride_(stride(b.extent(1))) {
    std::int64_t const rows = b.extent(0), columns = b.extent(1);
    std::int64_t const size = size_of(rows, columns);
    Buffers all;
    all.add(memory_, "coir::poisson::jacobi_wavefront/padded", 3 * size + width());
    all.make<typename Exec::memory_space>("the blocked Jacobi method");
    set_to_zero(exec_, memory_);
    auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    std::uintptr_t const alignment = width() * sizeof(T);
    T* const aligned = memory_.data() + (alignment - address % alignment) % alignment / sizeof(T);
    field_[0] = aligned + stride_ + width();
    field_[1] = field_[0] + size;
    source_ = field_[1] + size;
    T* const inside = source_;
    for_each("coir::poisson::jacobi_wavefront/pad_source", exec_, box({int(rows), int(columns)}),
             [=, stride = stride_](int i, int j) { inside[i * stride + j] = b(i, j); });
    for (T* const field : field_)
      for_each(
          "coir::poisson::jacobi_wavefront/pad", exec_, box({int(rows) + 2, int(columns) + 2}),
          [=, stride = stride_](int i, int j) { field[(i - 1) * stride + (j - 1)] = u(i, j); });
  }

  WavefrontGrid<T> grid(int parity) const {
    return {{field_[parity], field_[1 - parity]},
            source_,
            stride_,
            stride_,
            static_cast<int>(b_.extent(0)),
            static_cast<int>(b_.extent(1)),
            true};
  }

  void copy_back(int parity) const {
    T const* const field = field_[parity];
    for_each("coir::poisson::jacobi_wavefront/unpad", exec_, interior(b_),
             [=, u = u_, stride = stride_](int i, int j) {
               u(i, j) = field[(i - 1) * stride + (j - 1)];
             });
  }

 private:
  static std::int64_t width() { return wavefront_vector_width<T>(); }
  /// Numbers of a copy.
  static std::int64_t size_of(std::int64_t rows, std::int64_t columns) {
    return (rows + 2) * stride(columns);
  }
  static std::int64_t stride(std::int64_t columns) {
    // An odd number of vectors, so that rows don't share the same lines of the cache.
    return (((columns + width() - 1) / width() + 2) | 1) * width();
  }

  Exec exec_;
  RowMajorView<Exec, T const, 2> b_;
  RowMajorView<Exec, T, 2> u_;
  std::int64_t stride_;
  Kokkos::View<T*, typename Exec::memory_space> memory_;
  T* field_[2];
  T* source_;
};

/// Blocked sweeps on a host.
template <class Exec, class T>
class WavefrontJacobi {
  // Sweeps in a pass over memory. More sweeps make fewer passes, but a larger working set: any
  // number between 8 and 32 is about as fast.
  static constexpr int depth = 16;

 public:
  /// \param shared  fields of which other ranks write rows between sweeps: no copies
  WavefrontJacobi(Exec const& exec, RowMajorView<Exec, T const, 2> const& b,
                  RowMajorView<Exec, T, 2> const& u, bool shared = false)
      : exec_(exec), b_(b), u_(u) {
    if (!shared && PaddedFields<Exec, T>::worthwhile(b.extent(0), b.extent(1)))
      padded_.emplace(exec, b, u);
    else
      fields_.emplace(exec, u, "Jacobi's method");
  }

  void advance(std::int64_t sweeps) {
    if (b_.extent(0) == 0 || b_.extent(1) == 0) return;
    Wavefront<T> wavefront(padded_ ? padded_->grid(parity_) : grid_in_place(),
                           threads_side_by_side(exec_), depth, sweeps);
    run_side_by_side("coir::poisson::jacobi_wavefront/wavefront", exec_, wavefront.threads(),
                     [&wavefront](int thread) { wavefront.run(thread); });
    if (sweeps % 2 == 1) {
      parity_ = 1 - parity_;
      if (fields_) fields_->swap();
    }
  }

  RowMajorView<Exec, T, 2> current() {
    if (fields_) return fields_->current();
    padded_->copy_back(parity_);
    return u_;
  }

  void finish() {
    if (fields_)
      fields_->finish();
    else
      padded_->copy_back(parity_);
  }

 private:
  WavefrontGrid<T> grid_in_place() const {
    auto const from = fields_->current();
    auto const to = fields_->other();
    return {{&from(1, 1), &to(1, 1)},
            b_.data(),
            static_cast<std::ptrdiff_t>(from.stride(0)),
            static_cast<std::ptrdiff_t>(b_.stride(0)),
            static_cast<int>(b_.extent(0)),
            static_cast<int>(b_.extent(1)),
            false};
  }

  Exec exec_;
  RowMajorView<Exec, T const, 2> b_;
  RowMajorView<Exec, T, 2> u_;
  std::optional<PaddedFields<Exec, T>> padded_;
  std::optional<TwoFields<Exec, T, 2>> fields_;
  int parity_ = 0;
};

}  // namespace coir::poisson::detail
