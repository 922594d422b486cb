#pragma once

/// \file
/// The steps of a transform over ranks that share a field by pencils.

#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/detail/shared_transform.hpp>
#include <coir/fft/detail/transforms.hpp>
#include <coir/fft/rank_grid.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace coir::fft::detail {

/// Ranks of a group that are a row or a column of a grid, in their order. They exchange by the
/// whole group, so that there are no further connections.
struct RanksInLine {
  int size;   ///< how many there are
  int place;  ///< of this rank among them
  int first;  ///< the rank at place 0
  int step;   ///< from one to the next

  int rank_at(int other) const { return first + other * step; }
};

/// Pencils of a field (x, y, z): x is shared out within a row of the grid of ranks, and y within a
/// column. In the spectrum y is shared out within a row, and z within a column. See slab.hpp.
template <CompiledSpace Exec, Real T>
class PencilParts : public SharedTransform<Exec, T> {
  using Base = SharedTransform<Exec, T>;

 public:
  using typename Base::Number;

  PencilParts(Exec const& exec, distributed::Group const& group, RankGrid const& grid, bool real,
              Shape<3> const& shape, PlanOptions options);

  void scatter(Number* field, Number* spectrum) const override;
  void gather(Number* spectrum, Number* field) const override;

 private:
  using Base::exec_, Base::group_, Base::shape_, Base::row_, Base::shares_, Base::lines_;
  using typename Base::Piece;
  using Memory = typename Exec::memory_space;
  using Numbers = Kokkos::View<Number*, Memory>;

  std::int64_t field_size() const { return shares_.planes.count * shares_.field_rows.count * row_; }
  std::int64_t middle_size() const {
    return shape_[1] * shares_.planes.count * shares_.modes.count;
  }
  std::int64_t spectrum_size() const {
    return shape_[0] * shares_.rows.count * shares_.modes.count;
  }
  void make_memory();
  void move_field(Number* field, Number* blocks, bool back) const;
  void move_spectrum(Number* spectrum, Number* blocks, bool back) const;
  std::vector<Piece> pieces(RanksInLine const& ranks, Number* data, std::int64_t n,
                            std::int64_t numbers) const;
  /// Between the field's blocks and the middle, within a column.
  std::vector<Piece> blocks_of_field(Number* data) const;
  std::vector<Piece> middle_in_column(Number* data) const;
  /// Between the middle and the spectrum's blocks, within a row.
  std::vector<Piece> middle_in_row(Number* data) const;
  std::vector<Piece> blocks_of_spectrum(Number* data) const;
  /// The memory of the field, or own memory if that is too small; beside_spectrum() likewise.
  Number* beside_field(Number* field) const {
    return beside_field_.data() != nullptr ? beside_field_.data() : field;
  }
  Number* beside_spectrum(Number* spectrum) const {
    return beside_spectrum_.data() != nullptr ? beside_spectrum_.data() : spectrum;
  }

  RanksInLine in_row_{}, in_column_{};
  std::shared_ptr<Transforms<Exec, T>> along_z_;  ///< none where this rank has no field
  std::shared_ptr<Lines<Exec, T>> along_y_;       ///< none where it has nothing in the middle
  ShareTable<Memory> planes_table_, modes_table_;
  Numbers beside_field_, beside_spectrum_;
};

}  // namespace coir::fft::detail
