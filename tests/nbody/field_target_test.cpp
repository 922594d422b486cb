#include <coir/inference/hmc.hpp>
#include <coir/nbody/field_target.hpp>
#include <coir/nbody/losses.hpp>

#include <inference/targets.hpp>
#include <nbody/universe.hpp>
#include <support/message_of.hpp>
#include <support/numbers.hpp>
#include <support/typed_suite.hpp>

using namespace coir;
using namespace coir::testing;
using cosmology::Parameters;
using nbody::FieldTarget;
using nbody::ForwardModel;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Theta = Kokkos::View<double*, Exec::memory_space>;

constexpr std::int64_t side = 4, sites = side * side * side;
constexpr double box = 32;

template <class T>
ForwardModel<Exec, T> universe() {
  return {
      Exec(),
      {.side = side,
       .box = box,
       .order = 1,
       .simulation = {
           .scale_factors = {0.1, 0.4, 1}, .mesh_ratio = 1, .assignment = mesh::Assignment::pcs}}};
}

/// The displacements of the lattice's particles.
template <class T>
Vectors displacements(nbody::Particles<Exec, T> const& particles) {
  auto moved = vectors_of(particles.position);
  auto const lattice_sites = vectors_of(lattice<Exec, double>(side, box).position);
  for (std::size_t p = 0; p < moved.size(); ++p)
    for (std::size_t d = 0; d < 3; ++d)
      moved[p][d] = wrapped(moved[p][d] - lattice_sites[p][d], box);
  return moved;
}

/// Displacements that are measured with white noise of a variance.
template <class T>
struct MeasuredDisplacements {
  Vectors data;
  double variance;

  double operator()(nbody::Particles<Exec, T> const& particles,
                    nbody::Cotangents<Exec, T> const& cotangents) const {
    auto const found = displacements(particles);
    auto const slope = Kokkos::create_mirror_view(cotangents.position);
    double sum = 0;
    for (std::size_t p = 0; p < found.size(); ++p)
      for (std::size_t d = 0; d < 3; ++d) {
        double const off = wrapped(found[p][d] - data[p][d], box);
        slope(p, d) = static_cast<T>(off / variance);
        sum += off * off / (2 * variance);
      }
    Kokkos::deep_copy(cotangents.position, slope);
    return sum;
  }
};

template <class T>
Vectors start_of(std::vector<double> const& noise) {
  auto const white =
      filled(typename ForwardModel<Exec, T>::Field("noise", side, side, side), noise);
  return displacements(nbody::initial_conditions<Exec, T>(
      Exec(), side, box, cosmology::LinearPower<>(cosmology::planck18()), 0.1, 1, white));
}

/// Phase of the mode `mode` at the site `at`; both count sites in C order.
double phase(std::int64_t mode, std::int64_t at) {
  std::int64_t whole = 0;
  for (int d = 0; d < 3; ++d, mode /= side, at /= side) whole += (mode % side) * (at % side);
  return 2 * std::numbers::pi * double(whole % side) / double(side);
}

/// Modes by Hartley's transform, which are real and orthonormal.
std::vector<double> modes_of(double const* field) {
  std::vector<double> modes(sites);
  for (std::int64_t k = 0; k < sites; ++k)
    for (std::int64_t x = 0; x < sites; ++x)
      modes[std::size_t(k)] +=
          (std::cos(phase(k, x)) + std::sin(phase(k, x))) * field[x] / std::sqrt(double(sites));
  return modes;
}

/// A mode of one axis of vectors, by Fourier's transform.
std::complex<double> mode_along(Vectors const& vectors, std::size_t axis, std::int64_t k) {
  std::complex<double> sum = 0;
  for (std::int64_t x = 0; x < sites; ++x)
    sum += std::polar(vectors[std::size_t(x)][axis], -phase(k, x));
  return sum;
}

}  // namespace

/// Displacements of first order are linear in the noise, u(k) = A(k) w(k). Measured with a variance
/// N, they leave to each mode of w a Gaussian with the mean A* d / (N + |A|^2) and the variance
/// N / (N + |A|^2), which is Wiener's filter. A is what one site of noise moves.
TEST(FieldTarget, HasTheMomentsOfTheWienerFilterInEachMode) {
  constexpr std::int64_t draws = 200;
  std::vector<double> one_site(sites);
  one_site[0] = 1;
  auto const response = start_of<float>(one_site);
  double variance = 0;
  for (auto const& u : response) variance += 3 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);

  auto const truth = normal_numbers(sites, 1);
  auto data = start_of<float>(truth);
  auto const errors = normal_numbers(3 * sites, 2);
  for (std::size_t p = 0; p < data.size(); ++p)
    for (std::size_t d = 0; d < 3; ++d) data[p][d] += std::sqrt(variance) * errors[3 * p + d];

  std::vector<double> mean_field(sites), variances;
  for (std::int64_t k = 0; k < sites; ++k) {
    std::complex<double> product = 0;
    double square = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      auto const a = mode_along(response, d, k);
      product += std::conj(a) * mode_along(data, d, k);
      square += std::norm(a);
    }
    variances.push_back(variance / (variance + square));
    for (std::int64_t x = 0; x < sites; ++x)
      mean_field[std::size_t(x)] +=
          (product * std::polar(1 / (variance + square), phase(k, x))).real() / double(sites);
  }

  using Loss = nbody::LossAfterSteps<Exec, float>;
  FieldTarget const target(Exec(), universe<float>(), cosmology::planck18(),
                           std::vector<Loss>{{0, MeasuredDisplacements<float>{data, variance}}});
  // The truth is a draw from the posterior, so that no warm-up is needed.
  Array<double, 2, Kokkos::HostSpace> start({2, sites});
  for (std::int64_t i = 0; i < 2 * sites; ++i) start.data()[i] = truth[std::size_t(i % sites)];
  auto chains = inference::hmc(Exec(), random::key(3), target, start,
                               {.warmup = 0, .draws = draws, .step = 0.45});
  for (std::int64_t row = 0; row < 2 * draws; ++row) {
    double* const draw = chains.draws.data() + row * sites;
    auto const modes = modes_of(draw);
    std::copy(modes.begin(), modes.end(), draw);
  }
  expects_gaussians(chains, modes_of(mean_field.data()), variances);
}

namespace {

using Double = ForwardModel<Exec, double>;

nbody::DensityMisfit<Exec, double> misfit() {
  auto target = normal_numbers(sites, 5);
  for (auto& density : target) density = 1 + 0.3 * density;
  return {.target = filled(Double::Field("density", side, side, side), target),
          .inverse_variance = 3,
          .assignment = mesh::Assignment::pcs};
}

auto with_parameters() {
  return FieldTarget(Exec(), universe<double>(), cosmology::planck18(), misfit(),
                     {{&Parameters<>::sigma8, 0.8, 0.1}, {&Parameters<>::omega_m, 0.3, 0.05}});
}

}  // namespace

TEST(FieldTarget, HasTheGradientOfItsValueByNoiseAndParameters) {
  auto const target = with_parameters();
  ASSERT_EQ(target.size(), sites + 2);
  auto const at = normal_numbers(sites + 2, 6);
  Theta const theta("theta", sites + 2), slope("slope", sites + 2), unused("slope", sites + 2);
  double const value = target(filled(theta, at), slope);
  auto const found = doubles_of(slope);
  for (bool const of_parameters : {false, true}) {
    auto along = normal_numbers(sites + 2, 7);
    for (std::size_t k = 0; k < along.size(); ++k)
      if ((k >= sites) != of_parameters) along[k] = 0;
    auto const value_at = [&](double step) {
      auto moved = at;
      for (std::size_t k = 0; k < at.size(); ++k) moved[k] += step * along[k];
      return target(filled(theta, moved), unused);
    };
    // Masses are painted in parts of 2^-40: see the model's own test of derivatives.
    double const wanted = product(found, along), step = 1e-4;
    EXPECT_NEAR(slope_of(value_at, step), wanted,
                1e-8 * std::abs(wanted) + 8 * std::ldexp(std::abs(value), -40) / step)
        << of_parameters;
  }
}

TEST(FieldTarget, IsTheSumOfPriorsAndLoss) {
  auto const target = with_parameters();
  auto at = normal_numbers(sites + 2, 6);
  Theta const theta("theta", sites + 2), slope("slope", sites + 2);
  double const value = target(filled(theta, at), slope);
  auto p = cosmology::planck18();
  p.sigma8 = 0.8 + 0.1 * at[sites];
  p.omega_m = 0.3 + 0.05 * at[sites + 1];
  double const squares = product(at, at);
  at.resize(sites);
  auto const noise = filled(Double::Field("noise", side, side, side), at);
  double const wanted = -squares / 2 - universe<double>().value(noise, p, misfit());
  EXPECT_NEAR(value, wanted, 1e-13 * std::abs(wanted));
}

TEST(FieldTarget, HasNoDensityWhereAParameterIsOutOfItsRange) {
  auto const target = with_parameters();
  auto at = normal_numbers(sites + 2, 6);
  at[sites] = -9;  // sigma8 = -0.1
  Theta const theta("theta", sites + 2), slope("slope", sites + 2);
  EXPECT_EQ(target(filled(theta, at), slope), -INFINITY);
}

TEST(FieldTarget, NamesWhatItCannotTake) {
  auto const target = with_parameters();
  Theta const theta("theta", sites), slope("slope", sites + 2);
  EXPECT_NE(message_of([&] { target(theta, slope); }).find("64 numbers of noise and 2 of"),
            std::string::npos);
  auto const expects_message = [](std::vector<nbody::VariedParameter> const& varied,
                                  char const* message) {
    auto const make = [&] {
      FieldTarget(Exec(), universe<float>(), cosmology::planck18(),
                  std::vector<nbody::LossAfterSteps<Exec, float>>{}, varied);
    };
    EXPECT_NE(message_of(make).find(message), std::string::npos);
  };
  expects_message({{&Parameters<>::sigma8, 0.8, 0}}, "deviation above 0");
  expects_message({{&Parameters<>::A_s, 2e-9, 1e-10}}, "sigma8");  // has an amplitude already
}
