#pragma once

/// \file
/// Transforms over ranks that share a field by pencils, for one execution space.
///
/// Lines along z are transformed in the field [planes, field_rows, row]. Then z is shared out
/// within a column of the grid of ranks instead of y. Lines along y are transformed in the middle,
/// [n_1, planes, modes]. Then y is shared out within a row of the grid instead of x. Lines along x
/// are transformed in the spectrum [n_0, rows, modes].
///
/// In the middle y comes first, so that each other rank's part is one piece in both exchanges, and
/// all lines along y are one batch. At the other end of an exchange numbers are put side by side in
/// a block for each rank: numbers of the field before the first exchange, and of the spectrum after
/// the second one. Each step goes from one of two memories to the other.

#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/fft/detail/pencil_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace coir::fft::detail {

/// Moves numbers [n_0, n_1, n_2] to blocks or back, one for each share of the first or of the last
/// axis. In a block the second axis comes first: [n_1, share of n_0, n_2], or [n_1, n_0, share of
/// n_2].
template <class T>
struct MoveBlocks {
  static constexpr bool reads_no_neighbours = true;
  using Number = Kokkos::complex<T>;
  Number *whole, *blocks;
  std::int32_t const *first, *count;  ///< of the share in which an index of the cut axis lies
  std::int64_t n0, n1, n2;
  bool cuts_last, back;

  KOKKOS_FORCEINLINE_FUNCTION Number* in_block(std::int64_t i, std::int64_t j,
                                               std::int64_t k) const {
    std::int64_t const at = cuts_last ? k : i, from = first[at], extent = count[at];
    if (cuts_last) return blocks + n0 * n1 * from + (j * n0 + i) * extent + (k - from);
    return blocks + from * n1 * n2 + (j * extent + (i - from)) * n2 + k;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    Number* const here = whole + (i * n1 + j) * n2 + k;
    Number* const there = in_block(i, j, k);
    if (back)
      *here = *there;
    else
      *there = *here;
  }
  void stretch(std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t k = begin; k < end;) {
      std::int64_t const stop = cuts_last ? std::min<std::int64_t>(end, first[k] + count[k]) : end;
      Number* const here = whole + (i * n1 + j) * n2 + k;
      Number* const there = in_block(i, j, k);
      std::memcpy(static_cast<void*>(back ? here : there), back ? there : here,
                  static_cast<std::size_t>(stop - k) * sizeof(Number));
      k = stop;
    }
  }
};

template <CompiledSpace Exec, Real T>
PencilParts<Exec, T>::PencilParts(Exec const& exec, distributed::Group const& group,
                                  RankGrid const& grid, bool real, Shape<3> const& shape,
                                  PlanOptions options)
    : Base(exec, group, real, shape) {
  using distributed::share_of;
  options.in_place = true;
  options.by_planes = true;
  check_request(Request{real, 3, {shape[0], shape[1], shape[2]}, 1, options},
                static_cast<std::int64_t>(sizeof(Number)));
  int const row = group.rank() / grid.columns, column = group.rank() % grid.columns;
  in_row_ = {grid.columns, column, row * grid.columns, 1};
  in_column_ = {grid.rows, row, column, grid.columns};
  shares_ = {share_of(shape[0], column, grid.columns), share_of(shape[1], row, grid.rows),
             share_of(shape[1], column, grid.columns), share_of(row_, row, grid.rows)};
  if (std::int64_t const lines = shares_.planes.count * shares_.field_rows.count; lines > 0)
    along_z_ = transforms<Exec, T>(exec, Request{real, 1, {shape[2], 1, 1}, lines, options});
  if (std::int64_t const lines = shares_.planes.count * shares_.modes.count; lines > 0)
    along_y_ = detail::lines<Exec, T>(exec, shape[1], lines, options.effort);
  this->plan_lines(options.effort);
  planes_table_ = ShareTable<Memory>(shape[0], grid.columns);
  modes_table_ = ShareTable<Memory>(row_, grid.rows);
  make_memory();
}

/// If extents don't divide by the number of ranks, the middle may be larger than this rank's field
/// or spectrum.
template <CompiledSpace Exec, Real T>
void PencilParts<Exec, T>::make_memory() {
  std::int64_t const in_field = std::max(middle_size(), spectrum_size()),
                     in_spectrum = std::max(middle_size(), field_size());
  auto const make = [](Numbers& memory, std::int64_t numbers) {
    expects_memory<Memory>(numbers * static_cast<std::int64_t>(sizeof(Number)),
                           "the work of a transform over ranks");
    memory = Numbers(Kokkos::view_alloc("coir::fft::pencil/pencils", Kokkos::WithoutInitializing),
                     static_cast<std::size_t>(numbers));
  };
  if (in_field > field_size()) make(beside_field_, in_field);
  if (in_spectrum > spectrum_size()) make(beside_spectrum_, in_spectrum);
}

template <CompiledSpace Exec, Real T>
void PencilParts<Exec, T>::move_field(Number* field, Number* blocks, bool back) const {
  std::int64_t const planes = shares_.planes.count, rows = shares_.field_rows.count;
  for_each("coir::fft::pencil/move_field", exec_, coir::box<3, std::int64_t>({planes, rows, row_}),
           MoveBlocks<T>{field, blocks, modes_table_.first.data(), modes_table_.count.data(),
                         planes, rows, row_, true, back});
}

template <CompiledSpace Exec, Real T>
void PencilParts<Exec, T>::move_spectrum(Number* spectrum, Number* blocks, bool back) const {
  std::int64_t const rows = shares_.rows.count, modes = shares_.modes.count;
  for_each("coir::fft::pencil/move_spectrum", exec_,
           coir::box<3, std::int64_t>({shape_[0], rows, modes}),
           MoveBlocks<T>{spectrum, blocks, planes_table_.first.data(), planes_table_.count.data(),
                         shape_[0], rows, modes, false, back});
}

/// The pieces of n indices, shared out among ranks, with so many numbers for each index.
template <CompiledSpace Exec, Real T>
auto PencilParts<Exec, T>::pieces(RanksInLine const& ranks, Number* data, std::int64_t n,
                                  std::int64_t numbers) const -> std::vector<Piece> {
  std::vector<Piece> all;
  for (int place = 0; place < ranks.size; ++place) {
    auto const share = distributed::share_of(n, place, ranks.size);
    all.push_back({ranks.rank_at(place), data + share.first * numbers, share.count * numbers});
  }
  return all;
}

template <CompiledSpace Exec, Real T>
auto PencilParts<Exec, T>::blocks_of_field(Number* data) const -> std::vector<Piece> {
  return pieces(in_column_, data, row_, shares_.planes.count * shares_.field_rows.count);
}
template <CompiledSpace Exec, Real T>
auto PencilParts<Exec, T>::middle_in_column(Number* data) const -> std::vector<Piece> {
  return pieces(in_column_, data, shape_[1], shares_.planes.count * shares_.modes.count);
}
template <CompiledSpace Exec, Real T>
auto PencilParts<Exec, T>::middle_in_row(Number* data) const -> std::vector<Piece> {
  return pieces(in_row_, data, shape_[1], shares_.planes.count * shares_.modes.count);
}
template <CompiledSpace Exec, Real T>
auto PencilParts<Exec, T>::blocks_of_spectrum(Number* data) const -> std::vector<Piece> {
  return pieces(in_row_, data, shape_[0], shares_.rows.count * shares_.modes.count);
}

template <CompiledSpace Exec, Real T>
void PencilParts<Exec, T>::scatter(Number* field, Number* spectrum) const {
  Number *const here = beside_field(field), *const there = beside_spectrum(spectrum);
  if (along_z_) along_z_->forward(exec_, field, field);
  move_field(field, there, false);
  this->exchange(blocks_of_field(there), middle_in_column(here)).finish();
  // In a row of one rank the middle is the spectrum's block.
  bool const is_alone = in_row_.size == 1;
  if (along_y_) along_y_->forward(exec_, here, is_alone ? here : there);
  if (!is_alone) this->exchange(middle_in_row(there), blocks_of_spectrum(here)).finish();
  move_spectrum(spectrum, here, true);
}

template <CompiledSpace Exec, Real T>
void PencilParts<Exec, T>::gather(Number* spectrum, Number* field) const {
  Number *const here = beside_field(field), *const there = beside_spectrum(spectrum);
  move_spectrum(spectrum, here, false);
  bool const is_alone = in_row_.size == 1;
  if (!is_alone) this->exchange(blocks_of_spectrum(here), middle_in_row(there)).finish();
  if (along_y_) along_y_->backward(exec_, is_alone ? here : there, here);
  this->exchange(middle_in_column(here), blocks_of_field(there)).finish();
  move_field(field, there, true);
  if (along_z_) along_z_->backward(exec_, field, field);
}

}  // namespace coir::fft::detail

#define COIR_INSTANTIATE_PENCIL(Exec)                         \
  template class coir::fft::detail::PencilParts<Exec, float>; \
  template class coir::fft::detail::PencilParts<Exec, double>;
