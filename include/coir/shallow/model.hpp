#pragma once

/// A shallow-water model whose rows the ranks of a group share.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/cartesian.hpp>
#include <coir/distributed/halos.hpp>
#include <coir/distributed/together.hpp>
#include <coir/shallow/parameters.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace coir::shallow {

/// Sums over all cells, in double and in the order of the rows, so that on hosts they have the same
/// bits for any number of ranks.
struct Totals {
  double mass = 0;    ///< sum of h dx dy
  double energy = 0;  ///< sum of (h (u^2 + v^2) / 2 + g h (h / 2 + b)) dx dy: without friction and
                      ///< viscosity the scheme conserves it but for the error of the steps
  double enstrophy = 0;  ///< potential: sum of h q^2 / 2 dx dy at corners
  double largest_depth = 0, smallest_depth = 0;
  double largest_speed = 0;  ///< of |u| and |v|
};

/// The model that Parameters describes. Each rank has some of the rows, with all their columns; the
/// results have the same bits for any number of ranks and threads on hosts.
///
///     coir::shallow::Model<Exec, float> model(exec, group, parameters);
///     model.set(h, u, v);          // Views of this rank's rows and all columns
///     model.advance(1000);
///     auto const depth = model.h();
///
/// A step is one kernel, or two with viscosity; on hosts both go over the rows together. Ranks send
/// one message to each neighbour a step, which travels while the next step's inner rows are
/// computed. Memory is 9 fields, and one more with a bottom.
///
/// Members that say so are collective.
template <CompiledSpace Exec, class T>
class Model {
 public:
  using Field = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;
  using Cells = Kokkos::View<T**, Kokkos::LayoutStride, typename Exec::memory_space>;

  /// Water of depth 0 at rest. Collective.
  ///
  /// \throws PreconditionError as expects_good(), if ranks were given different parameters, if a
  ///   rank would have fewer rows than the halo has layers, or if `compatible` comes without the
  ///   demo's walls in y alone
  /// \throws ResourceError if the memory isn't free
  Model(Exec exec, distributed::Group group, Parameters const& parameters);

  /// Bytes that a model takes on this rank, of the space's memory.
  static std::int64_t bytes(distributed::Group const& group, Parameters const& parameters,
                            bool has_bottom = false);

  Parameters const& parameters() const { return parameters_; }
  distributed::Group const& group() const { return grid_.group(); }
  /// This rank's rows of all.
  distributed::Share rows() const { return share_; }
  /// Steps since the start.
  std::int64_t steps() const { return steps_; }

  /// This rank's rows of h, u and v. Steps move fields to other memory: call these again after
  /// them. After writing to the fields call changed().
  Cells h() const { return own(h_); }
  Cells u() const { return own(u_); }
  Cells v() const { return own(v_); }
  /// The time derivatives of the step before, which the next one takes. With the fields and steps()
  /// they are all that a run needs to go on.
  std::array<Cells, 3> slopes() const { return {own(dh_), own(du_), own(dv_)}; }

  /// Sets the depth, the velocity and the time to a start's. Collective.
  ///
  /// \param h, u, v  [rows, columns] of this rank, in memory of Exec
  /// \throws PreconditionError on every rank if extents differ from those
  template <StridedView H, StridedView U, StridedView V>
  void set(H const& h, U const& u, V const& v) {
    distributed::together(group(), [&] {
      copy(h, h_, "h");
      copy(u, u_, "u");
      copy(v, v_, "v");
    });
    go_on_from(0);
  }
  /// Sets the height of the bottom. Collective.
  template <StridedView V>
  void set_bottom(V const& bottom) {
    distributed::together(group(), [&] {
      if (bottom_.size() == 0) bottom_ = new_field("bottom");
      copy(bottom, bottom_, "the bottom");
    });
    changed();
  }
  /// To be called when the fields or slopes() were written to. Walls are put in, and the halos
  /// filled. Collective.
  void changed();
  /// changed(), for fields and slopes() of a run that had made so many steps. With 0 the next step
  /// is Euler's. Collective.
  void go_on_from(std::int64_t steps) {
    steps_ = steps;
    changed();
  }

  /// Makes steps, the same number on all ranks. Collective.
  ///
  /// \throws PreconditionError if there are fewer than 0
  /// \throws NumericalError on every rank if a cell lost all its water, or has no number any more:
  ///   it names the step, the cell, and remedies
  void advance(std::int64_t steps);

  /// Collective.
  Totals totals() const;
  /// This rank's rows of the vorticity dv/dx - du/dy at the north-eastern corners of cells, 1/s.
  Field vorticity() const { return corners(false); }
  /// Potential vorticity (f + dv/dx - du/dy) / h there, 1/(m s).
  Field potential_vorticity() const { return corners(true); }

 private:
  Field new_field(char const* name) const;
  Cells own(Field const& field) const {
    auto const first = static_cast<std::size_t>(parameters_.halo());
    return Kokkos::subview(field, std::pair(first, first + static_cast<std::size_t>(share_.count)),
                           std::pair(side, side + static_cast<std::size_t>(parameters_.columns)));
  }
  template <StridedView V>
  void copy(V const& from, Field const& to, char const* name) {
    using Value = typename V::non_const_value_type;
    static_assert(std::is_same_v<Value, T>, "fields of a model have its type of number");
    Cells const cells = own(to);
    for (std::size_t d = 0; d < 2; ++d)
      expects(from.extent(d) == cells.extent(d),
              std::string(name) + " must have this rank's " + std::to_string(cells.extent(0)) +
                  " rows and " + std::to_string(cells.extent(1)) + " columns: its axis " +
                  std::to_string(d) + " mustn't have " + std::to_string(from.extent(d)));
    copy_strided<Exec, T, 2>(exec_, strided(from), strided(cells));
  }
  /// Leaves halos on their way where ranks have neighbours.
  void step();
  void finish_halos();
  void expects_water();
  Field corners(bool potential) const;

  static constexpr std::size_t side = 2;

  Exec exec_;
  Parameters parameters_;
  distributed::Cartesian<1> grid_;
  distributed::Share share_;
  distributed::Halos<Exec, 1> halos_;
  Field h_, u_, v_, h1_, u1_, v1_, dh_, du_, dv_, bottom_;
  Kokkos::View<std::int64_t*, typename Exec::memory_space> dry_;
  std::int64_t steps_ = 0;
  bool is_travelling_ = false;  // halos are on their way
};

}  // namespace coir::shallow
