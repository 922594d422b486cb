#pragma once

/// \file
/// The common part of transforms over ranks by slabs and by pencils: see slab.hpp.

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/detail/lines.hpp>

#include <Kokkos_Complex.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace coir::fft::detail {

/// A rank's shares of a field [n_0, n_1, row] and of its spectrum. The field's last axis and the
/// spectrum's first one are whole.
struct FieldShares {
  distributed::Share planes;      ///< of the field's first axis
  distributed::Share field_rows;  ///< of its second one
  distributed::Share rows;        ///< of the spectrum's second axis
  distributed::Share modes;       ///< of its last one
};

/// For each index of an axis, the share in which it lies, in memory that kernels read.
template <class Memory>
struct ShareTable {
  using Numbers = Kokkos::View<std::int32_t*, Memory>;
  Numbers first, count;

  ShareTable() = default;
  ShareTable(std::int64_t n, int ranks)
      : first("coir::fft::shared_transform/first", static_cast<std::size_t>(n)),
        count("coir::fft::shared_transform/count", static_cast<std::size_t>(n)) {
    auto const firsts = Kokkos::create_mirror_view(first),
               counts = Kokkos::create_mirror_view(count);
    for (int rank = 0; rank < ranks; ++rank) {
      auto const share = distributed::share_of(n, rank, ranks);
      for (std::int64_t i = share.first; i < share.end(); ++i) {
        firsts(static_cast<std::size_t>(i)) = static_cast<std::int32_t>(share.first);
        counts(static_cast<std::size_t>(i)) = static_cast<std::int32_t>(share.count);
      }
    }
    copy_contiguous(first, firsts);
    copy_contiguous(count, counts);
  }
};

/// The steps of a transform over ranks before and after its lines along x.
template <CompiledSpace Exec, Real T>
class SharedTransform {
 public:
  using Number = Kokkos::complex<T>;

  virtual ~SharedTransform() = default;

  /// Transforms along z and y, and brings rows to the ranks that have them in the spectrum.
  ///
  /// \param field     [planes, field_rows, row], inout: with several ranks of no use afterwards
  /// \param spectrum  [n_0, rows, modes], out; of one rank's not touched
  virtual void scatter(Number* field, Number* spectrum) const = 0;

  /// Brings rows back, and transforms them backward along y and z.
  ///
  /// \param spectrum  [n_0, rows, modes], in: with several ranks of no use afterwards; of one
  ///   rank's not touched
  /// \param field     [planes, field_rows, row], out; of one rank's inout
  virtual void gather(Number* spectrum, Number* field) const = 0;

  /// The View that holds this rank's rows after scatter() and before gather(): with one rank they
  /// stay in the field.
  template <class V>
  V const& rows_in(V const& field, V const& spectrum) const {
    return group_.size() == 1 ? field : spectrum;
  }

  /// Along x, of [n_0, rows, modes]; none where this rank has no modes.
  Lines<Exec, T>* lines() const { return lines_.get(); }

  Exec const& exec() const { return exec_; }
  distributed::Group const& group() const { return group_; }
  Shape<3> const& shape() const { return shape_; }
  FieldShares const& shares() const { return shares_; }
  /// Complex numbers of a whole row.
  std::int64_t row() const { return row_; }

 protected:
  /// Memory of this rank, and the rank that has or gets what lies there.
  struct Piece {
    int rank;
    Number* data;
    std::int64_t numbers;
    std::int64_t runs = 1;   ///< of as many numbers each
    std::int64_t pitch = 0;  ///< numbers from the begin of a run to that of the next
  };

  SharedTransform(Exec const& exec, distributed::Group const& group, bool real,
                  Shape<3> const& shape)
      : exec_(exec), group_(group), shape_(shape), row_(real ? shape[2] / 2 + 1 : shape[2]) {}

  void plan_lines(Effort effort) {
    std::int64_t const count = shares_.rows.count * shares_.modes.count;
    if (count > 0) lines_ = detail::lines<Exec, T>(exec_, shape_[0], count, effort);
  }

  distributed::Exchange exchange(std::vector<Piece> const& from,
                                 std::vector<Piece> const& to) const {
    constexpr auto size = static_cast<std::int64_t>(sizeof(Number));
    std::vector<distributed::Send> sends;
    std::vector<distributed::Receive> receives;
    for (auto const& piece : from)
      sends.push_back(
          {piece.rank, piece.data, piece.numbers * size, 0, piece.runs, piece.pitch * size});
    for (auto const& piece : to)
      receives.push_back(
          {piece.rank, piece.data, piece.numbers * size, 0, piece.runs, piece.pitch * size});
    return group_.begin(exec_, "fft/transpose", sends, receives);
  }

  Exec exec_;
  distributed::Group group_;
  Shape<3> shape_;
  std::int64_t row_;
  FieldShares shares_{};
  std::shared_ptr<Lines<Exec, T>> lines_;
};

}  // namespace coir::fft::detail
