#pragma once

/// \file
/// Forces of a density on a periodic mesh.

#include <coir/core/concepts.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/fft/block.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan_over_ranks.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/force_kernel.hpp>
#include <coir/mesh/ghosts.hpp>

#include <cstdint>
#include <functional>

namespace coir::mesh {

struct ForceOptions {
  ForceKernel kernel = ForceKernel::one_four;
  Softening softening = Softening::none;
  fft::Effort effort =
      fft::Effort::automatic;  ///< of the transforms: estimate gives the same bits in each run
  /// Whether there is a mesh of forces, three numbers per cell. Without it density() holds the
  /// potential after solve(); with a spectral gradient component() gives one component at a time.
  bool vectors = true;
  /// The least capacity of memory(), in vectors (in numbers without a mesh of forces). For callers
  /// that borrow memory() between forces.
  std::int64_t least_capacity = 0;
};

/// The force F = -grad phi, laplacian phi = scale (density - its mean), on a periodic mesh.
///
/// The density is transformed, multiplied by the inverse Laplacian, and transformed back. The
/// gradient is a stencil on the potential; a spectral gradient is a product in Fourier space with
/// three transforms back. The mean force is zero to rounding: painted and read out with the same
/// assignment it conserves momentum.
///
/// Wave numbers run from -n/2 to n/2 along each axis. On the Nyquist plane of an axis of even
/// extent k_d^2 counts in full, and a first derivative along that axis is zero.
///
/// Memory: three numbers per cell, because the mesh of the density lies in the memory of the force;
/// five with a spectral gradient. Without a mesh of forces one number per cell, two with a spectral
/// gradient. One of several ranks holds one more number per cell if there is no mesh of forces or
/// the gradient is spectral.
///
/// The ranks of a group share the mesh out by planes. Each holds its own planes and ghosts, see
/// ghosts(); density(), force() and spectrum() are this rank's part. A group of one holds the whole
/// mesh, without ghosts.
template <CompiledSpace Exec, Real T>
class Force {
 public:
  using Space = typename Exec::memory_space;
  using Spectrum = Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, Space,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Density = Kokkos::View<T***, Kokkos::LayoutStride, typename Spectrum::device_type,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Vectors =
      Kokkos::View<T****, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// Collective, as solve() and component() are. Paint particles by paint(exec, ghosts(), ...) on
  /// density(), and read force_window(), potential_window() or component_window() out. On hosts,
  /// with fft::Effort::estimate, the force has the same bits for any number of ranks; between
  /// devices it differs by rounding.
  ///
  /// \param shape    cells along each axis
  /// \param box      length of the cubic box, > 0
  /// \param touched  planes beyond a rank's slab that its particles touch: see touched_beyond()
  /// \throws PreconditionError on all ranks if an argument is out of its range on one, or differs
  ///   between ranks
  /// \throws ResourceError on all ranks if one has no memory
  Force(Exec const& exec, distributed::Group const& group, Shape<3> const& shape, double box,
        GhostWidths const& touched, ForceOptions const& options = {});

  /// The force of one rank.
  Force(Exec const& exec, Shape<3> const& shape, double box, ForceOptions const& options = {})
      : Force(exec, distributed::Group::self(), shape, box, {}, options) {}

  /// A force can be moved, but not copied: a copy would compute in the same memory.
  Force(Force const&) = delete;
  Force& operator=(Force const&) = delete;
  Force(Force&&) = default;
  Force& operator=(Force&&) = default;
  ~Force() = default;

  /// Bytes that the calling rank holds after the first solve(): meshes, buffers for ghosts, and the
  /// workspace of transforms. An upper bound on devices.
  static std::int64_t bytes(Exec const& exec, distributed::Group const& group,
                            Shape<3> const& shape, GhostWidths const& touched,
                            ForceOptions const& options = {});

  /// (ghosts().held(), n_1, n_2): the density for solve(). After solve() it holds the potential if
  /// there is no mesh of forces, and nothing of use otherwise.
  Density density() const { return fft::real_view_of(held_, shape_[2]); }

  /// (ghosts().own().count, n_1, n_2 / 2 + 1): the memory of density() as complex numbers, without
  /// ghosts.
  Spectrum const& spectrum() const { return spectrum_; }

  /// (ghosts().held(), n_1, n_2, 3): the force per cell after solve(). Empty without
  /// options().vectors.
  Vectors const& force() const { return force_; }

  /// (ghosts().held(), n_1, n_2): component d of the force per cell after solve(), in memory that
  /// the next call overwrites; over several ranks that is the memory of density().
  ///
  /// \throws PreconditionError if the gradient isn't spectral, or there is no component d
  Density component(int d) const;

  /// The planes of density() and force() that are here.
  GhostPlanes<Exec>& ghosts() { return painted_; }
  /// force() as MeshValues reads it.
  ///
  /// \throws PreconditionError without options().vectors
  CellsWindow<T const> force_window() const;
  /// The potential after solve() as MeshSlopes reads it.
  ///
  /// \throws PreconditionError with options().vectors
  CellsWindow<T const> potential_window() const;
  /// component(d) as MeshValues reads it. Collective.
  CellsWindow<T const> component_window(int d) const;

  /// The memory of all meshes: density(), spectrum() and force() are parts of it.
  Kokkos::View<T*, Space> const& memory() const { return memory_; }

  /// Computes the force of the density in density().
  void solve(double scale);

  /// Computes the force as solve(scale) does, and keeps for solve_again() what it follows from: the
  /// potential of this rank's own planes, or the rows of its spectrum that are here if the gradient
  /// is spectral. Both are collective.
  ///
  /// \param kept  (a, b, n_2 / 2 + 1) with (a, b, n_2) = kept_shape(), out
  /// \throws PreconditionError if `kept` has another shape, doesn't lie in C order without gaps, or
  ///   lies in the force's memory
  template <fft::ComplexBlock<Exec, T> Kept>
  void solve(double scale, Kept const& kept) {
    solve_and_keep(scale, fft::block_of<Exec, T>(kept_name, kept));
  }
  /// Makes force() from the mesh that solve() has kept, with the same bits.
  template <fft::ComplexBlock<Exec, T> Kept>
  void solve_again(Kept const& kept) {
    solve_from(fft::block_of<Exec, T>(kept_name, kept));
  }
  Shape<3> kept_shape() const;

  /// The adjoint of solve(). The caller has painted dJ / d force() on slopes_to_paint(), and over
  /// ranks hasn't added ghosts to their owners' planes. Returns dJ / d density,
  ///
  ///   slope = S^T sum_d D_d^T force_d,
  ///
  /// with the inverse Laplacian S and the gradients D_d of solve(scale). The density isn't needed.
  /// The call may overwrite density() and force(). Ghosts travel as often as those of painting and
  /// solve(), and as many bytes. Collective; with several ranks the slope differs from that of one
  /// by rounding.
  ///
  /// \param mesh  (a, b, n_2 / 2 + 1) with (a, b, n_2) = adjoint_shape(), memory to work in, none
  ///   of memory()
  /// \return  (ghosts().held(), n_1, n_2), in the memory of `mesh`
  /// \throws PreconditionError without options().vectors, or if the mesh has another shape, doesn't
  ///   lie in C order without gaps, or shares memory with the force
  template <fft::ComplexBlock<Exec, T> Mesh>
  Density pull_back(double scale, Mesh const& mesh) {
    return adjoint(scale, fft::block_of<Exec, T>(adjoint_name, mesh));
  }

  /// (ghosts().held(), n_1, n_2, 3), where pull_back() expects dJ / d force(). On one rank it is
  /// force().
  Vectors slopes_to_paint() const;
  /// The shape of the mesh that the adjoint works in: on this rank the planes of the potential.
  static Shape<3> adjoint_shape(distributed::Group const& group, Shape<3> const& shape,
                                GhostWidths const& touched, ForceKernel kernel);
  /// Bytes of that mesh, and of the ghosts that come to it.
  ///
  /// \param whole  those of pull_back_whole_numbers() instead
  static std::int64_t adjoint_bytes(distributed::Group const& group, Shape<3> const& shape,
                                    GhostWidths const& touched, ForceKernel kernel, bool whole);

  /// paint(d, cells) paints component d of dJ / d force() in whole numbers.
  using PaintComponent = std::function<void(int, CellsWindow<std::int64_t> const&)>;
  using WholeNumbers = Kokkos::View<std::int64_t*, Space>;

  /// The adjoint of solve() in whole numbers, with the same bits for any number of ranks on hosts
  /// if fft::Effort::estimate is set. Calls `paint` for d = 0, 1 and 2. Ghosts aren't to be added
  /// to their owners' planes. They travel as often as those of pull_back(), as numbers of 8 bytes.
  /// Collective.
  ///
  /// \param unit    of the whole numbers; 18 times the sum in a cell, times the sum of the axes'
  ///   numbers of cells over their greatest common divisor, must be below 2^63 in size
  /// \param memory  numbers_of_adjoint() numbers to work in, none of memory()
  /// \return  as pull_back() returns it, in the memory of `memory`
  /// \throws PreconditionError without options().vectors, or if there are too few numbers, or they
  ///   share memory with the force
  Density pull_back_whole_numbers(double scale, double unit, WholeNumbers const& memory,
                                  PaintComponent const& paint);
  static std::int64_t numbers_of_adjoint(distributed::Group const& group, Shape<3> const& shape,
                                         GhostWidths const& touched, ForceKernel kernel);

  /// Whether the result of solve() is free of infinity and NaN on this rank. Looks at one number or
  /// mode, because transforms spread infinity and NaN over the whole mesh. True on a rank without
  /// planes.
  bool is_finite() const;

  Shape<3> const& shape() const { return shape_; }
  double box() const { return box_; }
  ForceOptions const& options() const { return options_; }

 private:
  static constexpr char const *kept_name = "the mesh that a potential is kept in",
                              *adjoint_name = "the mesh that the adjoint of a force works in";
  using Plan = fft::PlanOverRanks<Exec, T>;
  static Plan checked_plan(Exec const& exec, distributed::Group const& group, Shape<3> const& shape,
                           double box, GhostWidths const& touched, ForceOptions const& options);
  template <bool Plain>
  auto inverse_laplacian(double scale) const;
  void store_components();
  void solve_and_keep(double scale, Spectrum const& kept);
  void solve_from(Spectrum const& kept);
  Density adjoint(double scale, Spectrum const& mesh);
  CellsWindow<std::int64_t> component_in(std::int64_t* numbers) const;
  void gather_whole_components(double unit, Spectrum const& mesh, PaintComponent const& paint);
  double add_whole_differences(double unit, std::int64_t* to, PaintComponent const& paint);
  void load_whole_numbers(std::int64_t const* own, std::int64_t row, double unit,
                          Spectrum const& field) const;
  Spectrum own_planes(Spectrum const& held) const;
  Spectrum field_of_component() const;
  Spectrum sum_of_components(Spectrum const& mesh) const;
  Density adjoint_of_sum(double scale, Spectrum const& mesh);
  Density with_ghosts(Spectrum const& mesh) const;
  void gather_components(Spectrum const& mesh);
  void gather_divergence(Spectrum const& mesh);
  void gather(int d, Spectrum const& field, Spectrum const& sum);
  void expects_to_pull_back(Spectrum const& mesh) const;
  void make_factors();
  void filter(Spectrum const& field, Spectrum const& workspace, double scale) const;
  void find_potential(double scale);
  void fill_potential();
  void find_vectors();
  void find_vectors_of(Spectrum const& kept);
  void expects_to_keep(Spectrum const& kept) const;
  void expects_own_spectrum(Spectrum const& mesh, Spectrum const& like, char const* what) const;

  using Numbers = Kokkos::View<T*, Space>;
  Exec exec_;
  Shape<3> shape_;
  double box_;
  ForceOptions options_;
  Plan plan_;
  GhostPlanes<Exec> painted_, potential_;  // the planes of density() and force(); of the potential
  Numbers memory_, copy_;
  Spectrum spectrum_, held_;  // the memory of density(), without and with ghosts
  Spectrum workspace_;        // where the spectrum lies: spectrum_ if transforms are in place
  T* planes_ = nullptr;       // the potential's first plane held
  Vectors force_;
  Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, Space> component_;
  Numbers factors_;
  T const *laplacian_[3] = {}, *window_[3] = {}, *square_[3] = {};  // along each axis, in factors_
};

}  // namespace coir::mesh
