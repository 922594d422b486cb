#pragma once

/// \file
/// The steps of a transform over ranks that are compiled in the library.

#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/detail/lines.hpp>
#include <coir/fft/detail/transforms.hpp>

#include <Kokkos_Complex.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace coir::fft::detail {

/// The most threads that a rank has, of ranks that must all ask for one shape. Collective.
///
/// \throws PreconditionError on all ranks if shapes differ
std::int64_t most_threads(distributed::Group const& group, Shape<3> const& shape,
                          std::int64_t threads);

/// Planes of a field (x, y, z), shared out along x, and its spectrum, shared out along y. See slab.hpp.
template <CompiledSpace Exec, Real T>
class SlabParts {
 public:
  using Number = Kokkos::complex<T>;

  /// \param threads  of a host, as many as the rank has that has most
  SlabParts(Exec const& exec, distributed::Group const& group, bool real, Shape<3> const& shape,
            PlanOptions const& options, std::int64_t threads);

  /// Transforms planes along y and z, and brings rows to the ranks that have them in the spectrum.
  ///
  /// \param field     [planes, n_1, row], inout: with several ranks of no use afterwards
  /// \param spectrum  [n_0, rows, row], out; of one rank's not touched
  void scatter(Number* field, Number* spectrum) const;

  /// Brings rows back to their planes, and transforms these backward along y and z.
  ///
  /// \param spectrum  [n_0, rows, row], in; of one rank's not touched
  /// \param field     [planes, n_1, row], out; of one rank's inout
  void gather(Number* spectrum, Number* field) const;

  /// The View that holds this rank's rows after scatter() and before gather(): with one rank they stay in the field.
  template <class V>
  V const& rows_in(V const& field, V const& spectrum) const {
    return group_.size() == 1 ? field : spectrum;
  }

  /// Along x, of [n_0, rows, row]; none where this rank has no rows.
  Lines<Exec, T>* lines() const { return lines_.get(); }

  Exec const& exec() const { return exec_; }
  distributed::Group const& group() const { return group_; }
  Shape<3> const& shape() const { return shape_; }
  distributed::Share planes() const { return planes_of(group_.rank()); }
  distributed::Share rows() const { return rows_of(group_.rank()); }
  std::int64_t row() const { return row_; }
  std::int64_t work_bytes() const;

 private:
  using Numbers = Kokkos::View<Number*, typename Exec::memory_space>;
  using Table = Kokkos::View<std::int32_t*, typename Exec::memory_space>;

  /// Memory of this rank, and the other rank that has or gets what lies there.
  struct Piece {
    int rank;
    Number* data;
    std::int64_t numbers;
  };

  distributed::Share planes_of(int rank) const {
    return distributed::share_of(shape_[0], rank, group_.size());
  }
  distributed::Share rows_of(int rank) const {
    return distributed::share_of(shape_[1], rank, group_.size());
  }
  /// The planes of a rank that travel together.
  distributed::Share chunk_of(int rank, std::int64_t chunk) const;
  void plan_planes(bool real);
  void make_tables();
  void make_buffers();
  void transform_planes(Number* field, std::int64_t chunk, bool forward) const;
  void move_rows(Number* field, Number* spectrum, std::int64_t chunk, bool back) const;
  std::vector<Piece> pieces_of_planes(Number* field, std::int64_t chunk) const;
  std::vector<Piece> pieces_of_rows(Number* spectrum, std::int64_t chunk) const;
  distributed::Exchange exchange(std::vector<Piece> const& from,
                                 std::vector<Piece> const& to) const;
  /// Null on hosts, where pieces travel without it.
  Number* buffer_of(std::int64_t chunk) const { return buffers_[chunk % 2].data(); }

  Exec exec_;
  distributed::Group group_;
  Shape<3> shape_;
  PlanOptions options_;
  std::int64_t row_;
  std::int64_t chunks_ = 1;
  std::vector<std::shared_ptr<Transforms<Exec, T>>> of_planes_;  ///< for each chunk
  std::shared_ptr<Lines<Exec, T>> lines_;
  Numbers buffers_[2];           ///< rows of a chunk, rank after rank, on devices
  Table first_row_, row_count_;  ///< of the rank that has a row
};

}  // namespace coir::fft::detail
