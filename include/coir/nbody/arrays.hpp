#pragma once

/// ForwardModel as a function of arrays, for programs that value_and_grad differentiates. Programs
/// that include this header link coir::autodiff, too.

#include <coir/array/array.hpp>
#include <coir/autodiff/custom_derivative.hpp>
#include <coir/cosmology/arrays.hpp>
#include <coir/nbody/forward_model.hpp>

#include <tuple>
#include <utility>

namespace coir::nbody {

/// The function (noise, parameters) -> particles of a model, in lattice order: an array of shape
/// (2, n^3, 3), whose part 0 are positions in Mpc/h, and part 1 momenta as in Particles.
///
/// On the way back the model runs once more, and its steps are undone: see
/// ForwardModel::value_and_grad(). Both arguments get their derivatives there at once.
///
/// \param model  its noise is an array of shape (n, n, n) of its type T, and its parameters an
///   array of doubles: see cosmology::array_of
template <CompiledSpace Exec, Real T>
auto particles_of(ForwardModel<Exec, T> model) {
  using Space = typename Exec::memory_space;
  auto const run = [model](auto const& noise, auto const& parameters) {
    Kokkos::fence();
    auto const particles = model.run(evaluate(noise).view(), cosmology::parameters_of(parameters));
    Kokkos::fence();
    Array<T, 3, Space> result(Shape<3>{2, particles.count(), 3});
    result(0) = borrow(particles.position);
    result(1) = borrow(particles.momentum);
    return result;
  };
  return custom_vjp(
      run, [model](auto const& cotangent, auto const&, auto const& noise, auto const& parameters) {
        auto const loss = [&](Particles<Exec, T> const&, Cotangents<Exec, T> const& to) {
          auto position = borrow(to.position), momentum = borrow(to.momentum);
          position = cotangent(0);
          momentum = cotangent(1);
          return 0.0;
        };
        Kokkos::fence();
        auto const slope =
            model.value_and_grad(evaluate(noise).view(), cosmology::parameters_of(parameters), loss)
                .slope;
        Kokkos::fence();
        return std::tuple(Array<T, 3, Space>(borrow(slope.noise)),
                          cosmology::array_of<Space>(slope.parameters));
      });
}

}  // namespace coir::nbody
