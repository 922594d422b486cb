#pragma once

/// \file
/// Transforms of fields of three axes that ranks share out: by slabs, or by pencils.

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

/// Transforms of a field (x, y, z) over the ranks of a group, by the formulas and without scaling as RealPlan and
/// ComplexPlan.
///
/// A rank has the planes planes() of the field's first axis, and the rows rows() of its spectrum's second axis, all of
/// them as distributed::share_of() shares them out; extents needn't divide, and a rank may have none. Planes are
/// transformed along y and z where they are; then rows travel once, each to the rank that has it in the spectrum, where
/// lines along x are transformed. With n_0 n_1 and the number of ranks P divisible each rank sends 1/P^2 of the
/// spectrum to every other.
///
/// With a grid of several rows of ranks a rank has pencils: of its planes the rows field_rows() alone, and of the
/// spectrum's rows the modes modes() alone. Numbers travel twice: within a column of the grid, where z is shared out
/// instead of y, and within a row, where y is shared out instead of x. A row of the grid may have as many ranks as the
/// smaller of n_0 and n_1, and a column as many as the smaller of n_1 and the number of modes along z, so that none is
/// without a part. The ranks of a row, which follow each other, are best those of a machine. With all extents divisible
/// each rank sends 1 / (P p) of the spectrum to every other of its column, and of its row, p being their number.
///
/// Fields lie in the memory of a half spectrum, as for plans in place (in_place.hpp): complex numbers [planes,
/// field_rows, row], row = n_2 / 2 + 1, or n_2 for complex fields; field_rows is n_1 with slabs. Spectra are [n_0, rows,
/// modes]; modes is row with slabs. Transforms need both memories, and destroy their input; on one rank both may be the
/// same, which is quicker. Pencils also hold memory of one field more, or of two, where extents don't divide.
///
/// On hosts, with Effort::estimate, results have the same bits for any number of ranks and of threads: those of a plan made
/// with PlanOptions::by_planes. Those of pencils have the same bits for any grid of several rows, and differ from those of
/// slabs by rounding. On devices all may differ by rounding between numbers of ranks.
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
  /// \param grid     of the group's ranks, the same on every rank
  /// \throws PreconditionError on every rank if an extent is below 1, shapes or grids differ, or the grid's rows and
  ///                           columns don't make up the group
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
  /// Bytes that it holds to work in.
  std::int64_t work_bytes() const { return parts_->work_bytes(); }

  /// \param field     [planes, field_rows, row] inout: of no use afterwards
  /// \param spectrum  [n_0, rows, modes] out
  /// \throws PreconditionError on every rank if a View doesn't fit on one, or lies otherwise than in C order without gaps
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

  /// Transforms a field forward, multiplies its modes by a factor, and transforms it backward. Rows travel twice, and
  /// on hosts the product takes no pass over memory of its own.
  ///
  /// \param field      [planes, field_rows, row] inout
  /// \param workspace  [n_0, rows, modes] of no use afterwards
  /// \param factor     real numbers factor(i, j, k) of the mode at these indices of the whole spectrum, by a function
  ///                   that kernels can call; the same for opposite modes, (n_0 - i, n_1 - j, k) where k is 0 or n_2 / 2
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
