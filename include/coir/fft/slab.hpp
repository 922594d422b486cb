#pragma once

/// \file
/// Transforms of fields of three axes that ranks share by slabs or by pencils.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/block.hpp>
#include <coir/fft/detail/pencil_parts.hpp>
#include <coir/fft/detail/slab_parts.hpp>
#include <coir/fft/multiply.hpp>
#include <coir/fft/rank_grid.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace coir::fft {

namespace detail {

/// A factor of the modes from a row and a number in it on.
template <class Factor>
struct FromMode {
  Factor factor;
  std::int64_t row, number;
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::int64_t i, std::int64_t j,
                                              std::int64_t k) const {
    return factor(i, row + j, number + k);
  }
};

}  // namespace detail

/// Transforms of a field (x, y, z) over the ranks of a group, by the formulas and without scaling
/// as RealPlan and ComplexPlan.
///
/// With slabs a rank has planes planes() of the field's first axis, and rows rows() of the
/// spectrum's second axis, as distributed::share_of() shares them out. Extents needn't divide by
/// the number of ranks, and a rank may have none. Planes are transformed along y and z where they
/// are. Then rows travel once, to the rank that has them in the spectrum, and lines along x are
/// transformed there.
///
/// With a grid of several rows of ranks a rank has pencils: the rows field_rows() of its planes,
/// and the modes modes() of the spectrum's rows. Numbers travel twice: within a column of the grid,
/// where z is shared out instead of y, and within a row, where y is shared out instead of x. So
/// that every rank has a part, a row of the grid has at most min(n_0, n_1) ranks, and a column at
/// most the smaller of n_1 and the number of modes along z. The ranks of a row should be on one
/// machine.
///
/// A rank sends every other one 1/P^2 of the spectrum with slabs on P ranks. With pencils it sends
/// 1 / (P p) to each of the p ranks of its column, and likewise of its row.
///
/// Fields lie in the memory of a half spectrum, as for plans in place (in_place.hpp): complex
/// numbers [planes, field_rows, row] with row = n_2 / 2 + 1, or n_2 for complex fields. Spectra are
/// [n_0, rows, modes]. With slabs field_rows is n_1 and modes is row. Transforms need both
/// memories, and destroy their input. On one rank both may be the same memory, which is quicker.
/// Pencils hold memory of one more field, or of two if extents don't divide.
///
/// On hosts, with Effort::estimate, results have the same bits for any number of ranks and threads:
/// those of a plan with PlanOptions::by_planes. Pencils have the same bits for any grid of several
/// rows, and differ from slabs by rounding. On devices results differ by rounding between numbers
/// of ranks.
///
/// Copies share the work area. Functions that transform are collective.
///
/// \tparam OfReal  real fields and half spectra, or complex ones
template <CompiledSpace Exec, Real T, bool OfReal>
class Slab {
 public:
  using Complex = Kokkos::complex<T>;
  using Block = Kokkos::View<Complex***, Kokkos::LayoutRight, typename Exec::memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// \param shape    of the whole field, the same on every rank
  /// \param options  of these only the effort counts
  /// \param grid     of the group's ranks, the same on every rank
  /// \throws PreconditionError on every rank if an extent is below 1, shapes or grids differ, or
  ///   the grid doesn't have the group's number of ranks
  /// \throws ResourceError if memory for the work is missing on any rank
  Slab(Exec const& exec, distributed::Group const& group, Shape<3> const& shape,
       PlanOptions const& options = {}, RankGrid const& grid = {})
      : parts_(parts_of(exec, group, shape, options, detail::grid_of(group, grid))) {}

  Shape<3> const& shape() const { return parts_->shape(); }
  distributed::Group const& group() const { return parts_->group(); }
  distributed::Share planes() const { return parts_->shares().planes; }
  distributed::Share field_rows() const { return parts_->shares().field_rows; }
  distributed::Share rows() const { return parts_->shares().rows; }
  distributed::Share modes() const { return parts_->shares().modes; }
  /// Complex numbers of this rank's field and spectrum along each axis.
  Shape<3> field_extents() const { return {planes().count, field_rows().count, parts_->row()}; }
  Shape<3> spectrum_extents() const { return {shape()[0], rows().count, modes().count}; }

  /// \param field     [planes, field_rows, row] inout: of no use afterwards
  /// \param spectrum  [n_0, rows, modes] out
  /// \throws PreconditionError on every rank if on one a View doesn't fit, or isn't in C order
  ///   without gaps
  template <ComplexBlock<Exec, T> Field, ComplexBlock<Exec, T> Spectrum>
  void forward(Field const& field, Spectrum const& spectrum) const {
    auto const [in, out] = fitting(field, spectrum);
    parts_->scatter(in.data(), out.data());
    if (auto* const lines = parts_->lines())
      lines->forward(parts_->exec(), parts_->rows_in(in, out).data(), out.data());
  }

  /// \param spectrum  [n_0, rows, modes] inout: of no use afterwards
  /// \param field     [planes, field_rows, row] out
  /// \throws PreconditionError as forward
  template <ComplexBlock<Exec, T> Spectrum, ComplexBlock<Exec, T> Field>
  void backward(Spectrum const& spectrum, Field const& field) const {
    auto const [out, in] = fitting(field, spectrum);
    if (auto* const lines = parts_->lines())
      lines->backward(parts_->exec(), in.data(), parts_->rows_in(out, in).data());
    parts_->gather(in.data(), out.data());
  }

  /// Transforms a field forward, multiplies its modes by a factor, and transforms it backward. Rows
  /// travel twice. On hosts the product takes no pass over memory of its own.
  ///
  /// \param field      [planes, field_rows, row] inout
  /// \param workspace  [n_0, rows, modes] of no use afterwards
  /// \param factor     as for RealPlan::filter(), with indices of the whole spectrum
  /// \throws PreconditionError as forward
  template <ComplexBlock<Exec, T> Field, ComplexBlock<Exec, T> Workspace, class Factor>
  void filter(Field const& field, Workspace const& workspace, Factor const& factor) const {
    auto const [inout, work] = fitting(field, workspace);
    parts_->scatter(inout.data(), work.data());
    if (parts_->lines() != nullptr)
      filter_lines(parts_->rows_in(inout, work),
                   detail::FromMode<Factor>{factor, rows().first, modes().first});
    parts_->gather(work.data(), inout.data());
  }

 private:
  using Parts = detail::SharedTransform<Exec, T>;

  static std::shared_ptr<Parts const> parts_of(Exec const& exec, distributed::Group const& group,
                                               Shape<3> const& shape, PlanOptions const& options,
                                               RankGrid const& grid) {
    auto const threads = detail::most_threads(group, shape, host_threads(exec));
    if (grid.rows == 1)
      return distributed::together(group, [&] {
        return std::make_shared<detail::SlabParts<Exec, T>>(exec, group, OfReal, shape, options,
                                                            threads);
      });
    return distributed::together(group, [&] {
      return std::make_shared<detail::PencilParts<Exec, T>>(exec, group, grid, OfReal, shape,
                                                            options);
    });
  }

  template <class Factor>
  void filter_lines(Block const& spectrum, Factor const& factor) const {
    auto& lines = *parts_->lines();
    if constexpr (runs_on_host<Exec>) {
      std::int64_t const row = modes().count;
      auto const multiply = [&](std::int64_t i, std::int64_t first, std::int64_t count, T* modes) {
        detail::multiply_stretch(modes, i, first, count, row, factor);
      };
      if (lines.filter(parts_->exec(), spectrum.data(), multiply)) return;
    }
    lines.forward(parts_->exec(), spectrum.data(), spectrum.data());
    multiply_modes(parts_->exec(), spectrum, factor);
    lines.backward(parts_->exec(), spectrum.data(), spectrum.data());
  }

  struct Blocks {
    Block field, spectrum;
  };

  /// Checks a caller's Views, on all ranks.
  template <class Field, class Spectrum>
  Blocks fitting(Field const& field, Spectrum const& spectrum) const {
    auto const expects_extents = [](char const* name, auto const& view, Shape<3> const& wanted) {
      for (std::size_t d = 0; d < 3; ++d)
        expects(static_cast<std::int64_t>(view.extent(d)) == wanted[d],
                std::string(name) + " of this rank must have extent " + std::to_string(wanted[d]) +
                    " along axis " + std::to_string(d),
                view.extent(d));
    };
    return distributed::together(group(), [&] {
      expects_extents("the field", field, field_extents());
      expects_extents("the spectrum", spectrum, spectrum_extents());
      Blocks const blocks{block_of<Exec, T>("the field of a rank", field),
                          block_of<Exec, T>("the spectrum of a rank", spectrum)};
      Complex const *const a = field.data(), *const b = spectrum.data();
      bool const is_in_place = group().size() == 1 && a == b;
      expects(is_in_place || a + field.size() <= b || b + spectrum.size() <= a,
              "a field over ranks and its spectrum need memory of their own: they overlap");
      return blocks;
    });
  }

  std::shared_ptr<Parts const> parts_;
};

template <CompiledSpace Exec, Real T>
using RealSlab = Slab<Exec, T, true>;
template <CompiledSpace Exec, Real T>
using ComplexSlab = Slab<Exec, T, false>;

}  // namespace coir::fft
