#pragma once

/// \file
/// The steps of a transform over ranks that share a field by slabs.

#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/detail/shared_transform.hpp>
#include <coir/fft/detail/transforms.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace coir::fft::detail {

/// The most threads that a rank has, of ranks that must all ask for one shape. Collective.
///
/// \throws PreconditionError on all ranks if shapes differ
std::int64_t most_threads(distributed::Group const& group, Shape<3> const& shape,
                          std::int64_t threads);

/// Planes of a field (x, y, z), shared out along x, and its spectrum, shared out along y. See
/// slab.hpp.
template <CompiledSpace Exec, Real T>
class SlabParts : public SharedTransform<Exec, T> {
  using Base = SharedTransform<Exec, T>;

 public:
  using typename Base::Number;

  /// \param threads  of a host, as many as the rank has that has most
  SlabParts(Exec const& exec, distributed::Group const& group, bool real, Shape<3> const& shape,
            PlanOptions const& options, std::int64_t threads);

  void scatter(Number* field, Number* spectrum) const override;
  void gather(Number* spectrum, Number* field) const override;

 private:
  using Base::exec_, Base::group_, Base::shape_, Base::row_, Base::shares_, Base::lines_;
  using typename Base::Piece;
  using Numbers = Kokkos::View<Number*, typename Exec::memory_space>;

  distributed::Share planes_of(int rank) const {
    return distributed::share_of(shape_[0], rank, group_.size());
  }
  distributed::Share rows_of(int rank) const {
    return distributed::share_of(shape_[1], rank, group_.size());
  }
  /// The planes of a rank that travel together.
  distributed::Share chunk_of(int rank, std::int64_t chunk) const;
  void plan_planes(bool real);
  void make_buffers();
  void transform_planes(Number* field, std::int64_t chunk, bool forward) const;
  void move_rows(Number* field, Number* spectrum, std::int64_t chunk, bool back) const;
  std::vector<Piece> pieces_of_planes(Number* field, std::int64_t chunk) const;
  std::vector<Piece> pieces_of_rows(Number* spectrum, std::int64_t chunk) const;
  /// Null on hosts and by peer memory, where pieces travel without it.
  Number* buffer_of(std::int64_t chunk) const { return buffers_[chunk % 2].data(); }

  PlanOptions options_;
  bool by_peer_ = false;  ///< devices write to each other's memory
  std::int64_t chunks_ = 1;
  std::vector<std::shared_ptr<Transforms<Exec, T>>> of_planes_;  ///< for each chunk
  Numbers buffers_[2];  ///< rows of a chunk, rank after rank, on devices
  ShareTable<typename Exec::memory_space> rows_table_;
};

}  // namespace coir::fft::detail
