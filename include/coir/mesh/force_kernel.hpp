#pragma once

/// \file
/// The force kernels of particle-mesh codes, by name.

#include <coir/core/errors.hpp>

#include <array>
#include <string>
#include <string_view>

namespace coir::mesh {

/// The discretisation of the inverse Laplacian and of the gradient. With w_d = k_d h and
/// sinc(x) = sin(x) / x, the Laplacian is -K^2 with
///
///   naive    K^2 = sum_d k_d^2
///   3 point  K^2 = sum_d k_d^2 sinc^2(w_d / 2)
///   5 point  K^2 = sum_d k_d^2 [4/3 sinc^2(w_d / 2) - 1/3 sinc^2(w_d)]
///
/// and the gradient
///
///   spectral  i k_d, and 0 where k_d is the Nyquist frequency
///   2 point   i sin(w_d) / h
///   4 point   i [8 sin(w_d) - sin(2 w_d)] / (6 h)
///
/// \see Hockney & Eastwood (1988), chapter 5; for the names Feng et al., Mon. Not. R. Astron. Soc.
///   463, 2273 (2016)
enum class ForceKernel {
  naive,       ///< naive, spectral: three inverse transforms in place of one
  one_four,    ///< naive, 4 point
  three_four,  ///< 3 point, 4 point
  five_four,   ///< 5 point, 4 point
  three_two,   ///< 3 point, 2 point: the exact gradient of the plain discrete Laplacian's solution
  eastwood,    ///< naive, divided by the window of cic twice: for painting and for readout
  gadget,      ///< one_four, divided by the window of cic twice
};

/// Points of the gradient's stencil; 0 is spectral.
constexpr int gradient_points(ForceKernel kernel) {
  switch (kernel) {
    case ForceKernel::naive:
    case ForceKernel::eastwood: return 0;
    case ForceKernel::three_two: return 2;
    default: return 4;
  }
}

/// Points of the Laplacian's stencil along an axis; 0 is naive.
constexpr int laplacian_points(ForceKernel kernel) {
  switch (kernel) {
    case ForceKernel::three_four:
    case ForceKernel::three_two: return 3;
    case ForceKernel::five_four: return 5;
    default: return 0;
  }
}

/// Whether modes are divided by the window of the assignment.
constexpr bool compensates_window(ForceKernel kernel) {
  return kernel == ForceKernel::eastwood || kernel == ForceKernel::gadget;
}

/// Fourier transforms that a force takes, forward and backward together.
constexpr int transforms_of(ForceKernel kernel) { return gradient_points(kernel) == 0 ? 4 : 2; }

/// The filter that the potential is multiplied by, to damp the noise of particles. k_Ny = pi / h.
enum class Softening {
  none,
  two_thirds,  ///< 1 where |k| < 2/3 k_Ny, else 0
  gaussian,    ///< exp(-k^2 r^2 / 2), r = one cell
  gadget,      ///< as gaussian, with r = 1.25 sqrt(2) cells
  steep,       ///< exp(-36 (|k| / k_Ny)^36)
};

namespace detail {

template <class Name>
struct Named {
  std::string_view name;
  Name value;
};

inline constexpr std::array<Named<ForceKernel>, 7> force_kernels{
    {{"naive", ForceKernel::naive},
     {"1_4", ForceKernel::one_four},
     {"3_4", ForceKernel::three_four},
     {"5_4", ForceKernel::five_four},
     {"3_2", ForceKernel::three_two},
     {"eastwood", ForceKernel::eastwood},
     {"gadget", ForceKernel::gadget}}};
inline constexpr std::array<Named<Softening>, 5> softenings{{{"none", Softening::none},
                                                             {"two_thirds", Softening::two_thirds},
                                                             {"gaussian", Softening::gaussian},
                                                             {"gadget", Softening::gadget},
                                                             {"steep", Softening::steep}}};

template <class Table, class Name>
constexpr std::string_view name_in(Table const& table, Name value) {
  for (auto const& entry : table)
    if (entry.value == value) return entry.name;
  return "";
}

template <class Table>
auto value_in(Table const& table, std::string_view what, std::string_view name) {
  std::string names;
  for (auto const& entry : table) {
    if (entry.name == name) return entry.value;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw PreconditionError("there is no " + std::string(what) + " '" + std::string(name) +
                          "': it must be one of " + names);
}

}  // namespace detail

/// "naive", "1_4", "3_4", "5_4", "3_2", "eastwood", "gadget".
constexpr std::string_view name_of(ForceKernel kernel) {
  return detail::name_in(detail::force_kernels, kernel);
}
/// "none", "two_thirds", "gaussian", "gadget", "steep".
constexpr std::string_view name_of(Softening softening) {
  return detail::name_in(detail::softenings, softening);
}

/// The kernel of that name.
/// \throws PreconditionError that lists the names if there is none
inline ForceKernel force_kernel_named(std::string_view name) {
  return detail::value_in(detail::force_kernels, "force kernel", name);
}
/// The softening of that name.
/// \throws PreconditionError that lists the names if there is none
inline Softening softening_named(std::string_view name) {
  return detail::value_in(detail::softenings, "softening", name);
}

}  // namespace coir::mesh
