// Functions of parameters in programs that value_and_grad differentiates.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/cosmology/arrays.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/power.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cosmology = coir::cosmology;

namespace {

double const wave_numbers[] = {0.01, 0.1, 1};

struct Spectrum {
  template <class P>
  auto operator()(P const& p) const {
    cosmology::LinearPower const power(p);
    std::vector<decltype(power(0.1))> result;
    for (double const k : wave_numbers) result.push_back(power(k));
    return result;
  }
};

struct Distance {
  template <class P>
  auto operator()(P const& p) const {
    return cosmology::comoving_distance(p, 0.5);
  }
};

}  // namespace

// sum_k log(P(k))^2 + chi / 1000 for the parameters themselves, beside derivatives by duals of
// log P and chi, and, along omega_m, beside differences, whose error is h^2 / 6 of a third
// derivative.
TEST(CosmologyArrays, SpectraAndDistancesInAProgram) {
  auto const p = cosmology::planck18();
  auto const spectrum = cosmology::of_parameters(Spectrum{});
  auto const distance = cosmology::of_parameters(Distance{});
  auto const f = [&](auto x) { return sum(square(log(spectrum(x)))) + distance(x) / 1000; };
  auto const x = cosmology::array_of(p);
  auto const [value, slope] = coir::value_and_grad(f)(x);
  EXPECT_NEAR(value, f(x), 1e-13 * value);

  using D = coir::Dual<double, cosmology::varied_parameters>;
  auto const varied = cosmology::variables<D>(p);
  D expected = Distance{}(varied) / 1000;
  for (D const& power : Spectrum{}(varied)) expected += square(log(power));
  for (int d = 0; d < cosmology::varied_parameters; ++d)
    EXPECT_NEAR(slope(d), expected.derivative[d], 1e-12 * std::abs(expected.derivative[d])) << d;

  double const h = 1e-4;
  auto const at = [&](double step) {
    auto moved = p;
    moved.omega_m += step;
    return f(cosmology::array_of(moved));
  };
  EXPECT_NEAR(slope(0), (at(h) - at(-h)) / (2 * h), 1e-5 * std::abs(slope(0)));
  EXPECT_EQ(cosmology::parameters_of(x).sigma8, p.sigma8);
  EXPECT_THROW(cosmology::parameters_of(coir::ones<double>(3)), coir::PreconditionError);
}
