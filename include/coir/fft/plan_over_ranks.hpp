#pragma once

/// \file
/// Transforms of a real field of three axes whose planes the ranks of a group share.

#include <coir/core/concepts.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/multiply.hpp>
#include <coir/fft/plan.hpp>
#include <coir/fft/slab.hpp>

#include <cstdint>
#include <optional>

namespace coir::fft {

/// Whether a group's transforms are in place, so that a spectrum is in its field's memory.
inline bool transforms_in_place(distributed::Group const& group) { return group.size() == 1; }

/// RealPlan for a group of one and RealSlab for several ranks, behind one interface. One rank
/// transforms in place. Several ranks transform from the memory of a field to that of a spectrum,
/// and back; the input is of no use afterwards. Transforms aren't scaled.
///
/// A rank's part of a field lies as complex numbers [planes, n_1, n_2 / 2 + 1], as for plans in
/// place, and its part of the spectrum as [n_0, rows, n_2 / 2 + 1]. Where is_in_place() both are
/// the same memory.
///
/// On hosts, with Effort::estimate, results have the same bits for any number of ranks.
template <CompiledSpace Exec, Real T>
class PlanOverRanks {
 public:
  using Complex = Kokkos::complex<T>;
  using Block = Kokkos::View<Complex***, Kokkos::LayoutRight, typename Exec::memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// Collective.
  ///
  /// \param shape  of the whole field, the same on every rank
  /// \throws PreconditionError on every rank if an extent is below 1, or shapes differ
  /// \throws ResourceError if memory for the work is missing on any rank
  PlanOverRanks(Exec const& exec, distributed::Group const& group, Shape<3> const& shape,
                Effort effort)
      : exec_(exec), shape_(shape), planes_(share(group, shape[0])), rows_(share(group, shape[1])) {
    if (transforms_in_place(group))
      whole_.emplace(exec, shape, 1, options_of_whole(effort));
    else
      slab_.emplace(exec, group, shape, PlanOptions{.effort = effort});
  }

  /// Whether a spectrum takes the place of its field: see transforms_in_place().
  bool is_in_place() const { return whole_.has_value(); }

  Shape<3> const& shape() const { return shape_; }
  distributed::Share const& planes() const { return planes_; }  ///< of the field, on this rank
  distributed::Share const& rows() const { return rows_; }      ///< of the spectrum
  /// Complex numbers of this rank's part of the field.
  std::int64_t field_size() const { return planes_.count * shape_[1] * row(); }
  /// Complex numbers of this rank's part of the spectrum.
  std::int64_t spectrum_size() const { return shape_[0] * rows_.count * row(); }
  Block field_in(Complex* data) const { return block(data, planes_.count, shape_[1]); }
  Block spectrum_in(Complex* data) const { return block(data, shape_[0], rows_.count); }

  void forward(Block const& field, Block const& spectrum) const {
    if (whole_)
      whole_->forward(real_view_of(spectrum, shape_[2]), spectrum);
    else
      slab_->forward(field, spectrum);
  }
  void backward(Block const& spectrum, Block const& field) const {
    if (whole_)
      whole_->backward(field, real_view_of(field, shape_[2]));
    else
      slab_->backward(spectrum, field);
  }

  /// Transforms a field forward, multiplies its modes by a factor, and transforms it backward.
  ///
  /// \param spectrum  of no use afterwards, unless it is the field
  /// \param factor    as for RealSlab::filter()
  template <class Factor>
  void filter(Block const& field, Block const& spectrum, Factor const& factor) const {
    if (whole_)
      whole_->filter(real_view_of(field, shape_[2]), field, factor);
    else
      slab_->filter(field, spectrum, factor);
  }

  /// Multiplies the modes of this rank's part of a spectrum by factor(i, j, k), with the indices of
  /// the whole spectrum.
  template <class Factor>
  void multiply(Block const& spectrum, Factor const& factor) const {
    if (spectrum.size() > 0)
      multiply_modes(exec_, spectrum, detail::FromMode<Factor>{factor, rows_.first, 0});
  }

  /// An upper bound of the bytes that a plan works in on the calling rank, without making it. Over
  /// ranks that includes, on devices, buffers for the rows that travel. Not collective.
  static std::int64_t work_bytes(Exec const& exec, distributed::Group const& group,
                                 Shape<3> const& shape, Effort effort) {
    if (transforms_in_place(group))
      return Whole::work_bytes(exec, shape, 1, options_of_whole(effort));
    PlanOptions const options{.in_place = true, .effort = effort, .by_planes = true};
    // Each thread has one buffer for the columns of planes, and one for lines.
    if constexpr (runs_on_host<Exec>) return 2 * Whole::work_bytes(exec, shape, 1, options);
    auto const planes = share(group, shape[0]).count, rows = share(group, shape[1]).count;
    std::int64_t const row = shape[2] / 2 + 1;
    // Buffers for rows on their way, and the table of owners.
    std::int64_t bytes = planes * shape[1] * row * static_cast<std::int64_t>(sizeof(Complex)) +
                         2 * shape[1] * static_cast<std::int64_t>(sizeof(std::int32_t));
    if (planes > 0)
      bytes += RealPlan<Exec, T, 2>::work_bytes(exec, {shape[1], shape[2]}, planes, options);
    if (rows > 0)
      bytes += ComplexPlan<Exec, T, 1>::work_bytes(exec, {shape[0]}, rows * row, options);
    return bytes;
  }

 private:
  using Whole = RealPlan<Exec, T, 3>;

  // With Effort::estimate bits depend neither on the run nor on the number of ranks.
  static PlanOptions options_of_whole(Effort effort) {
    return {.in_place = true, .effort = effort, .by_planes = effort == Effort::estimate};
  }
  static distributed::Share share(distributed::Group const& group, std::int64_t n) {
    return distributed::share_of(n, group.rank(), group.size());
  }
  std::int64_t row() const { return shape_[2] / 2 + 1; }
  Block block(Complex* data, std::int64_t n0, std::int64_t n1) const {
    return Block(data, static_cast<std::size_t>(n0), static_cast<std::size_t>(n1),
                 static_cast<std::size_t>(row()));
  }

  Exec exec_;
  Shape<3> shape_;
  distributed::Share planes_, rows_;
  std::optional<Whole> whole_;
  std::optional<RealSlab<Exec, T>> slab_;
};

}  // namespace coir::fft
