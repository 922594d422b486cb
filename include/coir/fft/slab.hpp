#pragma once

/// \file
/// Transforms of fields of three axes that ranks share out: slabs of planes, and slabs of rows of their spectra.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/detail/slab_parts.hpp>
#include <coir/fft/multiply.hpp>

#include <cstdint>
#include <string>

namespace coir::fft {

namespace detail {

/// A factor of the modes from row `first` on.
template <class Factor>
struct FromRow {
  Factor factor;
  std::int64_t first;
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::int64_t i, std::int64_t j,
                                              std::int64_t k) const {
    return factor(i, first + j, k);
  }
};

}  // namespace detail

/// Transforms of a field (x, y, z) over the ranks of a group, by the formulas and without scaling as RealPlan and
/// ComplexPlan.
///
/// A rank has the planes planes() of the field's first axis, and the rows rows() of its spectrum's second axis, all of
/// them as distributed::share_of() shares them out; extents needn't divide, and a rank may have none. Planes are
/// transformed along y and z where they are; then rows travel once, each to the rank that has it in the spectrum, where
/// lines along x are transformed. With n_0 n_1 and the number of ranks P divisible each rank sends 1/P^2 of the
/// spectrum to every other.
///
/// Fields lie in the memory of a half spectrum, as for plans in place (in_place.hpp): complex numbers [planes, n_1,
/// row], row = n_2 / 2 + 1, or n_2 for complex fields. Spectra are [n_0, rows, row]. Transforms need both memories, and
/// destroy their input.
///
/// On hosts, with Effort::estimate, results have the same bits for any number of ranks and of threads: those of a plan made
/// with PlanOptions::by_planes. On devices they may differ by rounding between numbers of ranks.
///
/// A value; copies share what they hold. All functions but those that only tell are collective.
///
/// \tparam OfReal  real fields and half spectra, or complex ones
template <CompiledSpace Exec, Real T, bool OfReal>
class Slab {
 public:
  using Complex = Kokkos::complex<T>;
  using Block = Kokkos::View<Complex***, Kokkos::LayoutRight, typename Exec::memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// \param shape    of the whole field, the same on every rank
  /// \param options  of the effort alone
  /// \throws PreconditionError on every rank if an extent is below 1, or shapes differ
  /// \throws ResourceError if memory for the work is missing on any rank
  Slab(Exec const& exec, distributed::Group const& group, Shape<3> const& shape,
       PlanOptions const& options = {})
      : parts_(distributed::together(
            group, [&, threads = detail::most_threads(group, shape, host_threads(exec))] {
              return detail::SlabParts<Exec, T>(exec, group, OfReal, shape, options, threads);
            })) {}

  Shape<3> const& shape() const { return parts_.shape(); }
  distributed::Group const& group() const { return parts_.group(); }
  distributed::Share planes() const { return parts_.planes(); }
  distributed::Share rows() const { return parts_.rows(); }
  /// Complex numbers of this rank's field and spectrum along each axis.
  Shape<3> field_extents() const { return {planes().count, shape()[1], parts_.row()}; }
  Shape<3> spectrum_extents() const { return {shape()[0], rows().count, parts_.row()}; }
  /// Bytes that it holds to work in.
  std::int64_t work_bytes() const { return parts_.work_bytes(); }

  /// \param field     [planes, n_1, row] inout: of no use afterwards
  /// \param spectrum  [n_0, rows, row] out
  /// \throws PreconditionError on every rank if a View doesn't fit on one
  void forward(Block const& field, Block const& spectrum) const {
    expects_fitting(field, spectrum);
    parts_.scatter(field.data(), spectrum.data());
    if (auto* const lines = parts_.lines())
      lines->forward(parts_.exec(), parts_.rows_in(field, spectrum).data(), spectrum.data());
  }

  /// \param spectrum  [n_0, rows, row] inout: of no use afterwards
  /// \param field     [planes, n_1, row] out
  /// \throws PreconditionError as forward
  void backward(Block const& spectrum, Block const& field) const {
    expects_fitting(field, spectrum);
    if (auto* const lines = parts_.lines())
      lines->backward(parts_.exec(), spectrum.data(), parts_.rows_in(field, spectrum).data());
    parts_.gather(spectrum.data(), field.data());
  }

  /// Transforms a field forward, multiplies its modes by a factor, and transforms it backward. Rows travel twice, and
  /// on hosts the product takes no pass over memory of its own.
  ///
  /// \param field      [planes, n_1, row] inout
  /// \param workspace  [n_0, rows, row] of no use afterwards
  /// \param factor     real numbers factor(i, j, k) of the mode at these indices of the whole spectrum, by a function
  /// that kernels can
  ///                   call
  /// \throws PreconditionError as forward
  template <class Factor>
  void filter(Block const& field, Block const& workspace, Factor const& factor) const {
    expects_fitting(field, workspace);
    parts_.scatter(field.data(), workspace.data());
    if (rows().count > 0)
      filter_lines(parts_.rows_in(field, workspace), detail::FromRow<Factor>{factor, rows().first});
    parts_.gather(workspace.data(), field.data());
  }

 private:
  template <class Factor>
  void filter_lines(Block const& spectrum, Factor const& factor) const {
    auto& lines = *parts_.lines();
    if constexpr (runs_on_host<Exec>) {
      auto const multiply = [&](std::int64_t i, std::int64_t first, std::int64_t count, T* modes) {
        detail::multiply_stretch(modes, i, first, count, parts_.row(), factor);
      };
      if (lines.filter(parts_.exec(), spectrum.data(), multiply)) return;
    }
    lines.forward(parts_.exec(), spectrum.data(), spectrum.data());
    multiply_modes(parts_.exec(), spectrum, factor);
    lines.backward(parts_.exec(), spectrum.data(), spectrum.data());
  }

  void expects_fitting(Block const& field, Block const& spectrum) const {
    auto const expects_extents = [](char const* name, Block const& view, Shape<3> const& wanted) {
      for (std::size_t d = 0; d < 3; ++d)
        expects(static_cast<std::int64_t>(view.extent(d)) == wanted[d],
                std::string(name) + " of this rank must have extent " + std::to_string(wanted[d]) +
                    " along axis " + std::to_string(d),
                view.extent(d));
      expects(view.span_is_contiguous(), std::string(name) + " of a rank must have no gaps");
    };
    distributed::together(group(), [&] {
      expects_extents("the field", field, field_extents());
      expects_extents("the spectrum", spectrum, spectrum_extents());
      Complex const *const a = field.data(), *const b = spectrum.data();
      expects(a + field.size() <= b || b + spectrum.size() <= a,
              "a field over ranks and its spectrum need memory of their own: they overlap");
    });
  }

  detail::SlabParts<Exec, T> parts_;
};

template <CompiledSpace Exec, Real T>
using RealSlab = Slab<Exec, T, true>;
template <CompiledSpace Exec, Real T>
using ComplexSlab = Slab<Exec, T, false>;

}  // namespace coir::fft
