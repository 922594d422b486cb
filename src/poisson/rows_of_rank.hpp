#pragma once

/// A rank's rows of a grid that ranks share.

#include "rows_of.hpp"

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/strided.hpp>
#include <coir/core/views.hpp>
#include <coir/distributed/cartesian.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/halos.hpp>
#include <coir/distributed/together.hpp>
#include <coir/poisson/detail/callers_grid.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coir::poisson::detail {

/// How the ranks of a group share the rows of a grid.
struct SharedRows {
  std::int64_t own, first, total, smallest;  // this rank's number and first one; of all ranks
  std::vector<std::int64_t> borders{0};      // rank r has rows [r] to [r + 1] - 1

  /// Checks on every rank that the parts fit together.
  template <class T, int Rank>
  SharedRows(distributed::Group const& group, Strided<T const, Rank> const& b,
             Strided<T, Rank> const& u)
      : own(b.extents[0]), first(0), total(0), smallest(b.extents[0]) {
    distributed::together(group, [&] {
      expects_ring(b.extents, u.extents);
      expects_distinct_elements(u.extents, u.strides, "a field");
    });
    std::string columns;
    for (int d = 1; d < Rank; ++d)
      columns += (d == 1 ? "" : " x ") + std::to_string(b.extents[static_cast<std::size_t>(d)]);
    distributed::expects_alike(group, {{"columns of the source", columns}});
    auto const all = group.gather(own);
    for (int rank = 0; rank < group.size(); ++rank) {
      std::int64_t const rows = all[static_cast<std::size_t>(rank)];
      if (rank < group.rank()) first += rows;
      total += rows;
      borders.push_back(total);
      smallest = std::min(smallest, rows);
    }
  }
};

/// The fields of a rank's rows, row-major, with a halo of `width` rows on either side. Where the
/// grid ends, there is the ring's row in place of a halo. The fields are the caller's own, if these
/// are row-major and no halo has more rows than they have.
template <class Exec, class T, int Rank>
class RowsOfRank {
 public:
  using Unknown = RowMajorView<Exec, T, Rank>;
  using Source = RowMajorView<Exec, T const, Rank>;

  /// The unknown's halos are zero until they are filled, so that source_norm() takes no neighbour
  /// for the ring. The source's are filled. Collective.
  RowsOfRank(Exec const& exec, distributed::Cartesian<1> const& ranks,
             Strided<T const, Rank> const& b, Strided<T, Rank> const& u, int width)
      : exec_(exec),
        callers_(u),
        own_(b.extents[0]),
        before_(ranks.neighbour(0, -1) >= 0 ? width : 1),
        behind_(ranks.neighbour(0, 1) >= 0 ? width : 1),
        has_halos_(ranks.neighbour(0, -1) >= 0 || ranks.neighbour(0, 1) >= 0),
        halos_(exec, ranks, {width}, {0}, {1}),
        source_halos_(exec, ranks, {width - 1}, {0}, {0}) {
    distributed::together(ranks.group(), [&] { take(b); });
    fill_source();
    if (ranks.neighbour(0, -1) >= 0) clear_row(before_ - 1);
    if (ranks.neighbour(0, 1) >= 0) clear_row(before_ + own_);
  }

  /// Fields of zeros, for `extents` cells of this rank.
  RowsOfRank(Exec const& exec, distributed::Cartesian<1> const& ranks,
             std::array<std::int64_t, Rank> const& extents, int width)
      : exec_(exec),
        callers_{},
        own_(extents[0]),
        before_(ranks.neighbour(0, -1) >= 0 ? width : 1),
        behind_(ranks.neighbour(0, 1) >= 0 ? width : 1),
        has_halos_(before_ > 1 || behind_ > 1),
        halos_(exec, ranks, {width}, {0}, {1}),
        source_halos_(exec, ranks, {width - 1}, {0}, {0}) {
    auto ring = extents;
    for (auto& extent : ring) extent += 2;
    distributed::together(ranks.group(), [&] {
      Buffers all;
      add(all, own_unknown_, "coir::poisson::rows_of_rank/unknown", before_ + own_ + behind_, ring);
      add(all, own_source_, "coir::poisson::rows_of_rank/source", before_ + own_ + behind_ - 2,
          extents);
      all.template make<typename Exec::memory_space>("a rank's rows with halos");
    });
    set_to_zero(exec_, own_unknown_);
    set_to_zero(exec_, own_source_);
    unknown_ = own_unknown_;
    source_ = own_source_;
  }

  /// Rows before the rank's own ones, and behind them: the halo, or the ring.
  std::int64_t before() const { return before_; }
  std::int64_t behind() const { return behind_; }
  /// Whether the rank has a neighbour.
  bool has_halos() const { return has_halos_; }
  /// With halos.
  Unknown const& unknown() const { return unknown_; }
  Source const& source() const { return source_; }

  /// The rank's own rows of a field with halos, with a row on either side.
  Unknown own(Unknown const& field) const { return rows_of(field, before_ - 1, own_ + 2); }
  Source own_source() const { return rows_of(source_, before_ - 1, own_); }

  void fill(Unknown const& field) { halos_.fill(field); }
  /// fill() in two parts. Until the second one returns a field's halos mustn't be read, nor its own
  /// rows be written to.
  void begin_fill(Unknown const& field) { halos_.begin(field); }
  void finish_fill() { halos_.finish(); }
  void fill_source() {
    if (before_ > 1 || behind_ > 1) source_halos_.fill(own_source_);
  }

  /// Brings the rank's own rows of a field, with a row on either side, to the caller's.
  void finish(Unknown const& field) const {
    Strided<T, Rank> const result = strided(own(field));
    if (result.data != callers_.data) copy_strided<Exec, T, Rank>(exec_, result, callers_);
  }

 private:
  using Owned =
      Kokkos::View<view_data_t<T, Rank>, Kokkos::LayoutRight, typename Exec::memory_space>;

  // Other ranks write to memory with halos, and opening new memory takes them a millisecond.
  void add(Buffers& all, Owned& view, char const* label, std::int64_t rows,
           std::array<std::int64_t, Rank> const& like) const {
    if constexpr (Rank == 2)
      all.add_kept(exec_, view, label, rows, like[1]);
    else
      all.add_kept(exec_, view, label, rows, like[1], like[2]);
  }

  void take(Strided<T const, Rank> const& b) {
    bool const has_room = before_ == 1 && behind_ == 1;
    bool const takes_u = has_room && is_row_major<Unknown>(callers_);
    bool const takes_b =
        has_room && is_row_major<Source>(b) && !(takes_u && share_memory(b, callers_));
    Buffers all;
    if (!takes_u)
      add(all, own_unknown_, "coir::poisson::rows_of_rank/unknown", before_ + own_ + behind_,
          callers_.extents);
    if (!takes_b)
      add(all, own_source_, "coir::poisson::rows_of_rank/source", before_ + own_ + behind_ - 2,
          b.extents);
    all.template make<typename Exec::memory_space>("a rank's rows with halos");
    unknown_ = takes_u ? row_major_at<Unknown>(callers_) : Unknown(own_unknown_);
    source_ = takes_b ? row_major_at<Source>(b) : Source(own_source_);
    if (!takes_u)
      copy_strided<Exec, T, Rank>(exec_, Strided<T const, Rank>(callers_), strided(own(unknown_)));
    if (!takes_b)
      copy_strided<Exec, T, Rank>(exec_, b,
                                  strided(rows_of(Unknown(own_source_), before_ - 1, own_)));
  }

  void clear_row(std::int64_t row) const {
    auto const at = strided(unknown_);
    std::int64_t count = at.extents[1];
    if constexpr (Rank == 3) count *= at.extents[2];
    set_to_zero(exec_, UnmanagedView<T, 1, Kokkos::LayoutRight, typename Exec::memory_space>(
                           at.data + row * at.strides[0], static_cast<std::size_t>(count)));
  }

  Exec exec_;
  Strided<T, Rank> callers_;
  std::int64_t own_, before_, behind_;
  bool has_halos_;
  Owned own_unknown_, own_source_;
  Unknown unknown_;
  Source source_;
  distributed::Halos<Exec, 1> halos_, source_halos_;
};

}  // namespace coir::poisson::detail
