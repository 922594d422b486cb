#include <coir/array/creation.hpp>
#include <coir/array/fft.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/random.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/trigonometric.hpp>
#include <coir/autodiff/fft.hpp>
#include <coir/inference/array_target.hpp>
#include <coir/inference/hmc.hpp>

#include "targets.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

using namespace coir::testing;
using Host = Kokkos::HostSpace;
using Volume = coir::Array<double, 3, Host>;

namespace {

constexpr std::int64_t side = 16, cells = side * side * side;

Volume modes_of(Volume const& x) { return coir::fft::dctn(x, {.norm = coir::fft::Norm::ortho}); }
Volume field_of(Volume const& x) { return coir::fft::idctn(x, {.norm = coir::fft::Norm::ortho}); }

/// The power of a mode, which falls with its wave number.
Volume power() {
  Volume result({side, side, side});
  for (std::int64_t i = 0; i < side; ++i)
    for (std::int64_t j = 0; j < side; ++j)
      for (std::int64_t k = 0; k < side; ++k)
        result(i, j, k) = 20 / (1 + double(i * i + j * j + k * k));
  return result;
}

}  // namespace

/// A field with a power spectrum, made of white noise w by cosine transforms, and seen with white
/// noise of the variance N. The posterior is Gaussian mode by mode: with d the modes of the data,
/// those of w have the means sqrt(P) d / (P + N) and the variances N / (P + N).
TEST(Fields, HaveTheMomentsOfTheWienerFilterInEachMode) {
  double const noise = 0.5;
  Volume const p = power(), amplitude = sqrt(p);
  auto const [for_truth, for_noise, for_chains] = coir::random::split<3>(coir::random::key(20));
  Volume const truth = coir::random::normal<double, Host>(for_truth, {side, side, side});
  Volume const data =
      field_of(amplitude * truth) +
      std::sqrt(noise) * coir::random::normal<double, Host>(for_noise, {side, side, side});
  auto const target = coir::inference::array_target([&](auto white) {
    auto const modes =
        coir::fft::dctn(reshape(white, {side, side, side}), {.norm = coir::fft::Norm::ortho});
    auto const seen =
        coir::fft::idctn(evaluate(amplitude * modes), {.norm = coir::fft::Norm::ortho});
    return -0.5 * (sum(square(white)) + sum(square(data - seen)) / noise);
  });
  auto chains = coir::inference::hmc(Kokkos::DefaultHostExecutionSpace(), for_chains, target,
                                     coir::random::normal<double, Host>(for_chains, {2, cells}),
                                     {.warmup = 200, .draws = 400});
  std::vector<double> means, variances;
  Volume const of_data = modes_of(data);
  for (std::int64_t k = 0; k < cells; ++k) {
    double const power = p.data()[k];
    means.push_back(std::sqrt(power) * of_data.data()[k] / (power + noise));
    variances.push_back(noise / (power + noise));
  }
  for (std::int64_t row = 0; row < 2 * 400; ++row) {
    double* const draw = chains.draws.data() + row * cells;
    Volume white({side, side, side});
    std::copy_n(draw, cells, white.data());
    std::copy_n(modes_of(white).data(), cells, draw);
  }
  expects_gaussians(chains, means, variances);
}
