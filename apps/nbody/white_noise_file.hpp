#pragma once

/// The white noise of a seed in real space, as a file that --noise reads.

#include <coir/core/shape.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/multiply.hpp>
#include <coir/fft/plan.hpp>
#include <coir/io/npy.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <cstdint>
#include <filesystem>

namespace coir::apps::nbody {

/// How white noise is transformed.
inline constexpr fft::PlanOptions plan_of_noise{.in_place = true, .effort = fft::Effort::estimate};

/// A factor of all modes.
template <class T>
struct SameFactor {
  T value;
  KOKKOS_FUNCTION T operator()(std::int64_t, std::int64_t, std::int64_t) const { return value; }
};

/// Writes the white noise that a run of side^3 particles starts from: NPY, (side, side, side),
/// numbers of mean 0 and variance 1.
///
/// \throws ResourceError if memory is short, or the file can't be written
template <class T, class Exec>
void write_white_noise(Exec const& exec, std::int64_t side,
                       coir::nbody::NoiseOptions const& options,
                       std::filesystem::path const& path) {
  using Space = typename Exec::memory_space;
  Shape<3> const shape{side, side, side};
  fft::RealPlan<Exec, T, 3> const plan(exec, shape, 1, plan_of_noise);
  auto const modes = fft::allocate_in_place<T, Space>("coir::apps::nbody::noise", shape);
  coir::nbody::white_noise<Exec, T>(exec, options, modes);
  double const sites = static_cast<double>(side) * static_cast<double>(side * side);
  fft::multiply_modes(exec, modes, SameFactor<T>{static_cast<T>(1 / sites)});
  auto const field = fft::real_view_of(modes, side);
  plan.backward(modes, field);
  exec.fence();
  io::write_npy(path, field);
}

}  // namespace coir::apps::nbody
