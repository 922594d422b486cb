#pragma once

/// \file
/// Transforms over ranks that share a field by slabs, for one execution space.
///
/// A row (x, y) is sent as a whole: to the rank that has y, or back to the one that has x. In the
/// spectrum the rows from one rank are contiguous. In the field they are not: there is a run for
/// each plane and rank. Hosts send these runs from where they are, and so do devices that write to
/// each other's memory. By NCCL that would be too many messages: rows are copied side by side into
/// a buffer. Planes are sent in chunks. On devices a chunk is sent while the next one is
/// transformed, and peer memory brings all chunks while others are. On hosts a chunk is still in
/// caches between its transform and its message.
///
/// One rank transforms planes in the field, and lines along x from the field to the spectrum or
/// back.

#include <coir/core/loops.hpp>
#include <coir/fft/detail/slab_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

namespace coir::fft::detail {

/// Moves rows of planes from a field or to it: this rank's rows from or to its spectrum, all others
/// from or to a buffer, in which each rank's rows lie together.
template <class T>
struct MoveRows {
  static constexpr bool reads_no_neighbours = true;
  using Number = Kokkos::complex<T>;
  Number *field, *spectrum, *buffer;  ///< without a buffer other ranks' rows stay
  std::int32_t const *first_row, *row_count;
  std::int64_t first_plane, planes;  ///< of this rank's, those that are moved
  std::int64_t global_plane;         ///< the number of the first of them
  std::int64_t rows, row;
  std::int32_t own_first;  ///< below 0 if this rank has no rows
  bool back;

  /// The address of row j of plane i outside of the field; null if the row stays.
  KOKKOS_FORCEINLINE_FUNCTION Number* other(std::int64_t i, std::int64_t j) const {
    std::int64_t const first = first_row[j], count = row_count[j];
    if (first == own_first) return spectrum + ((global_plane + i) * count + (j - first)) * row;
    if (buffer == nullptr) return nullptr;
    return buffer + (planes * first + i * count + (j - first)) * row;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    Number* const there = other(i, j);
    if (there == nullptr) return;
    Number* const here = field + ((first_plane + i) * rows + j) * row;
    if (back)
      here[k] = there[k];
    else
      there[k] = here[k];
  }
  void stretch(std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) const {
    Number* const there = other(i, j);
    if (there == nullptr) return;
    Number* const here = field + ((first_plane + i) * rows + j) * row;
    std::memcpy(static_cast<void*>((back ? here : there) + begin), (back ? there : here) + begin,
                static_cast<std::size_t>(end - begin) * sizeof(Number));
  }
};

/// The number of chunks of the planes, the same on every rank. On hosts a chunk fits the caches of
/// the threads that transform it. On devices there are up to four, and by peer memory up to eight
/// (docs/performance.md).
template <class Exec>
std::int64_t chunks_of(Shape<3> const& shape, std::int64_t row_bytes, int ranks,
                       std::int64_t threads, bool by_peer) {
  std::int64_t const planes = (shape[0] + ranks - 1) / ranks, plane = shape[1] * row_bytes;
  if (runs_on_host<Exec>) {
    constexpr std::int64_t half_a_cache = std::int64_t(1) << 19;
    return std::clamp<std::int64_t>(planes * plane / (threads * half_a_cache), 1, planes);
  }
  std::int64_t const sent_to_each = shape[0] * plane / ranks / ranks;
  if (by_peer) {
    constexpr std::int64_t worth_a_copy = std::int64_t(8) << 20, most = 8;
    return std::clamp<std::int64_t>(sent_to_each / worth_a_copy, 1, std::min(most, planes));
  }
  constexpr std::int64_t worth_a_launch = std::int64_t(64) << 20, most = 4;
  std::int64_t const sent = sent_to_each * (ranks - 1);
  return std::clamp<std::int64_t>(sent / worth_a_launch, 1, most);
}

template <CompiledSpace Exec, Real T>
SlabParts<Exec, T>::SlabParts(Exec const& exec, distributed::Group const& group, bool real,
                              Shape<3> const& shape, PlanOptions const& options,
                              std::int64_t threads)
    : Base(exec, group, real, shape),
      options_(options),
      by_peer_(!runs_on_host<Exec> && group.transport<Exec>() == distributed::Transport::peer) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Number));
  options_.in_place = true;
  options_.by_planes = true;
  check_request(Request{real, 3, {shape[0], shape[1], shape[2]}, 1, options_}, size);
  int const ranks = group.size();
  shares_ = {planes_of(group.rank()), {0, shape[1]}, rows_of(group.rank()), {0, row_}};
  if (ranks > 1) chunks_ = chunks_of<Exec>(shape, row_ * size, ranks, threads, by_peer_);
  plan_planes(real);
  this->plan_lines(options_.effort);
  if (ranks == 1 || by_peer_) return;
  rows_table_ = ShareTable<typename Exec::memory_space>(shape[1], ranks);
  if (!runs_on_host<Exec>) make_buffers();
}

template <CompiledSpace Exec, Real T>
void SlabParts<Exec, T>::plan_planes(bool real) {
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    std::int64_t const planes = chunk_of(group_.rank(), chunk).count;
    if (planes == 0)
      of_planes_.push_back(nullptr);
    else
      of_planes_.push_back(transforms<Exec, T>(
          exec_, Request{real, 2, {shape_[1], shape_[2], 1}, planes, options_}));
  }
}

template <CompiledSpace Exec, Real T>
void SlabParts<Exec, T>::make_buffers() {
  std::int64_t most_planes = 0;
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk)
    most_planes = std::max(most_planes, chunk_of(group_.rank(), chunk).count);
  for (std::int64_t n = 0; n < std::min<std::int64_t>(2, chunks_); ++n)
    buffers_[n] = Numbers(Kokkos::view_alloc("coir::fft::slab/rows", Kokkos::WithoutInitializing),
                          static_cast<std::size_t>(most_planes * shape_[1] * row_));
}

template <CompiledSpace Exec, Real T>
distributed::Share SlabParts<Exec, T>::chunk_of(int rank, std::int64_t chunk) const {
  return distributed::share_of(planes_of(rank).count, static_cast<int>(chunk),
                               static_cast<int>(chunks_));
}

template <CompiledSpace Exec, Real T>
void SlabParts<Exec, T>::transform_planes(Number* field, std::int64_t chunk, bool forward) const {
  auto const& plan = of_planes_[static_cast<std::size_t>(chunk)];
  if (!plan) return;
  Number* const data = field + chunk_of(group_.rank(), chunk).first * shape_[1] * row_;
  if (forward)
    plan->forward(exec_, data, data);
  else
    plan->backward(exec_, data, data);
}

template <CompiledSpace Exec, Real T>
void SlabParts<Exec, T>::move_rows(Number* field, Number* spectrum, std::int64_t chunk,
                                   bool back) const {
  if (by_peer_) return;  // own rows are copied as the others'
  auto const mine = chunk_of(group_.rank(), chunk);
  for_each(back ? "coir::fft::slab/gather_rows" : "coir::fft::slab/scatter_rows", exec_,
           coir::box<3, std::int64_t>({mine.count, shape_[1], row_}),
           MoveRows<T>{field, spectrum, buffer_of(chunk), rows_table_.first.data(),
                       rows_table_.count.data(), mine.first, mine.count,
                       shares_.planes.first + mine.first, shape_[1], row_,
                       static_cast<std::int32_t>(shares_.rows.count > 0 ? shares_.rows.first : -1),
                       back});
}

/// The pieces of a share of this rank's planes that other ranks have in the spectrum, or all.
template <CompiledSpace Exec, Real T>
auto SlabParts<Exec, T>::pieces_of_planes(Number* field, std::int64_t chunk) const
    -> std::vector<Piece> {
  auto const mine = chunk_of(group_.rank(), chunk);
  Number* const buffer = buffer_of(chunk);
  std::vector<Piece> pieces;
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank == group_.rank() && !by_peer_) continue;
    auto const theirs = rows_of(rank);
    std::int64_t const numbers = theirs.count * row_;
    if (buffer != nullptr)
      pieces.push_back({rank, buffer + mine.count * theirs.first * row_, mine.count * numbers});
    else
      pieces.push_back({rank, field + (mine.first * shape_[1] + theirs.first) * row_, numbers,
                        mine.count, shape_[1] * row_});
  }
  return pieces;
}

/// The pieces of ranks' planes that this rank has in the spectrum, for one chunk. They match the
/// pieces_of_planes() of those ranks.
template <CompiledSpace Exec, Real T>
auto SlabParts<Exec, T>::pieces_of_rows(Number* spectrum, std::int64_t chunk) const
    -> std::vector<Piece> {
  std::int64_t const plane = shares_.rows.count * row_;
  std::vector<Piece> pieces;
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank == group_.rank() && !by_peer_) continue;
    auto const theirs = chunk_of(rank, chunk);
    Number* const first = spectrum + (planes_of(rank).first + theirs.first) * plane;
    if (buffer_of(chunk) != nullptr)
      pieces.push_back({rank, first, theirs.count * plane});
    else
      pieces.push_back({rank, first, plane, theirs.count, plane});
  }
  return pieces;
}

template <CompiledSpace Exec, Real T>
void SlabParts<Exec, T>::scatter(Number* field, Number* spectrum) const {
  if (group_.size() == 1) return transform_planes(field, 0, true);
  std::vector<distributed::Exchange> under_way;
  auto const finish = [&] {
    for (auto& exchange : under_way) exchange.finish();
    under_way.clear();
  };
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    transform_planes(field, chunk, true);
    move_rows(field, spectrum, chunk, false);  // the exchange under way reads the other buffer
    if (!by_peer_) finish();
    under_way.push_back(
        this->exchange(pieces_of_planes(field, chunk), pieces_of_rows(spectrum, chunk)));
  }
  finish();
}

template <CompiledSpace Exec, Real T>
void SlabParts<Exec, T>::gather(Number* spectrum, Number* field) const {
  if (group_.size() == 1) return transform_planes(field, 0, false);
  std::int64_t const ahead = by_peer_ ? chunks_ : 1;  // exchanges that begin before one is finished
  std::deque<distributed::Exchange> under_way;
  std::int64_t begun = 0;
  auto const begin_until = [&](std::int64_t chunk) {
    for (; begun < std::min(chunk, chunks_); ++begun)
      under_way.push_back(
          this->exchange(pieces_of_rows(spectrum, begun), pieces_of_planes(field, begun)));
  };
  begin_until(ahead);
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    under_way.front().finish();
    under_way.pop_front();
    begin_until(chunk + 1 + ahead);
    move_rows(field, spectrum, chunk, true);
    transform_planes(field, chunk, false);
  }
}

}  // namespace coir::fft::detail

#define COIR_INSTANTIATE_SLAB(Exec)                         \
  template class coir::fft::detail::SlabParts<Exec, float>; \
  template class coir::fft::detail::SlabParts<Exec, double>;
