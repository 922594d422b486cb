#pragma once

/// The grid, the forces and the time step of a shallow-water model.

#include <string>

namespace coir::shallow {

/// Shallow water of depth h and velocity (u, v) over a bottom of height b, on a rotating plane:
///
///     dh/dt = -d(hu)/dx - d(hv)/dy
///     du/dt = +q hv - d/dx (g (h + b) + K) - r u + nu Lap u
///     dv/dt = -q hu - d/dy (g (h + b) + K) - r v + nu Lap v
///     q = (f + dv/dx - du/dy) / h,   K = (u^2 + v^2) / 2,   f = f0 + beta y
///
/// on Arakawa's C grid: cell [j, i] has h at its middle, u on its eastern face, v on its northern
/// one, and q at its corner in the north-east. x is i dx and y is j dy at the middle of a cell.
/// Lengths are metres and times seconds by default; any consistent units do.
///
/// Space is discretised as by R. Sadourny, "The dynamics of finite-difference models of the
/// shallow-water equations" (J. Atmos. Sci. 32, 1975), in the form that conserves energy. Steps are
/// Adams-Bashforth's of second order, the first one Euler's:
///
///     X += dt ((1.5 + epsilon) X' - (0.5 + epsilon) X'_before)
///
/// Viscosity is Euler's step on the u and v that these give. A wall lets nothing through, and water
/// slips along it.
struct Parameters {
  int rows = 0;     ///< cells along y, shared by the ranks
  int columns = 0;  ///< cells along x
  double dx = 1, dy = 1;
  double dt = 0;
  double gravity = 9.81;
  double f0 = 0;         ///< Coriolis parameter at y = 0
  double beta = 0;       ///< its slope
  double viscosity = 0;  ///< nu
  double drag = 0;       ///< r, of the bottom
  double epsilon = 0.1;  ///< damps the computational mode; steps are of second order with 0
  bool periodic_x = true, periodic_y = false;  ///< otherwise there are walls at both ends
  /// Computes as the demo of mpi4jax does (examples/shallow_water.py), to compare fields with it.
  /// Three things differ there. The viscous fluxes of v are nu (v[i+1] - u[i]) / dx and
  /// nu (v[j+1] - u[j]) / dy. Viscosity moves v on the northern wall, and no flux of v goes to the
  /// southern one. f is that of the cell's middle and not of its corner.
  bool compatible = false;

  /// Layers of cells that a rank needs of its neighbours in y.
  int halo() const { return compatible ? 3 : 2; }
};

/// \throws PreconditionError naming the value unless the grid has 2 cells or more along x, as many
///   as the halo along y, and 10^12 or fewer in all; lengths, dt and gravity are above 0, and
///   viscosity, drag and epsilon 0 or above; and all are finite
void expects_good(Parameters const& parameters);

/// The longest stable time step, for water of at most this depth and speed. Two limits are looked
/// at. Waves of the highest frequency that the grid has,
///
///     w = sqrt(f^2 + 4 g depth (1/dx^2 + 1/dy^2)) + speed (1/dx + 1/dy) + drag,
///
/// grow by less than 1e-5 a step. Viscosity doesn't overshoot: 2 nu dt (1/dx^2 + 1/dy^2) <= 1. dt
/// itself isn't looked at.
double longest_stable_step(Parameters const& parameters, double depth, double speed);

}  // namespace coir::shallow
