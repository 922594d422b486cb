// What simulations are worth, measured: docs/validation.md shows the figures. Takes minutes.
//
// Set COIR_VALIDATION_FOLDER to a folder to have the curves written there, for
// docs/validation/plots.py.

#include <coir/mesh/power_spectrum.hpp>
#include <coir/nbody/linear_growth.hpp>
#include <coir/nbody/simulation.hpp>

#include <nbody/universe.hpp>
#include <support/spaces.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

using namespace coir;
using namespace coir::testing;
using mesh::Assignment;
using mesh::ForceKernel;
using mesh::Softening;
using nbody::Particles;
using nbody::scale_factors;
using nbody::Simulation;
using nbody::SimulationOptions;
using nbody::Spacing;
using nbody::Stepper;
using Exec = Kokkos::DefaultExecutionSpace;

namespace {

/// A kernel as it is on a mesh as coarse as the lattice.
SimulationOptions unsoftened(ForceKernel kernel) {
  return {.mesh_ratio = 1,
          .kernel = kernel,
          .softening = Softening::none,
          .allow_false_structure = true};
}

constexpr Stepper steppers[] = {Stepper::fastpm, Stepper::plain, Stepper::bullfrog};
constexpr ForceKernel kernels[] = {
    ForceKernel::naive,     ForceKernel::one_four, ForceKernel::three_four, ForceKernel::five_four,
    ForceKernel::three_two, ForceKernel::eastwood, ForceKernel::gadget};

/// Columns of numbers for a plot.
class Table {
 public:
  Table(std::string const& name, std::string const& columns) {
    std::printf("# %s: %s\n", name.c_str(), columns.c_str());
    char const* const folder = std::getenv("COIR_VALIDATION_FOLDER");
    if (folder == nullptr) return;
    file_.open(std::string(folder) + "/" + name + ".txt");
    EXPECT_TRUE(file_.good()) << folder << " can't be written to";
    file_ << "# " << columns << '\n';
  }

  /// \param label  without blanks within a column
  void row(std::string const& label, std::vector<double> const& values) {
    std::string line = label;
    for (double const value : values) {
      char text[32];
      std::snprintf(text, sizeof text, " %.7g", value);
      line += text;
    }
    std::printf("%s\n", line.c_str());
    if (file_.is_open()) file_ << line << '\n';
  }

 private:
  std::ofstream file_;
};

std::string named(ForceKernel kernel) { return std::string(name_of(kernel)); }
std::string named(Stepper stepper) { return std::string(name_of(stepper)); }

template <class T>
Particles<Exec, T> evolved(Particles<Exec, T> const& start, cosmology::LinearPower<> const& power,
                           SimulationOptions const& options) {
  Simulation<Exec, T> simulation(Exec{}, coir::testing::copy_of(start), power.growth(), options);
  simulation.advance(simulation.steps_left());
  return simulation.particles();
}

template <class T>
Particles<Exec, T> universe(std::int64_t side, double box, double a, int order = 2,
                            std::uint64_t seed = 1, bool fixed = false) {
  return nbody::initial_conditions<Exec, T>(
      Exec{}, side, box, lcdm(), a,
      nbody::LptOptions{.order = order, .noise = {.seed = seed, .fixed_amplitude = fixed}});
}

template <class T>
mesh::PowerSpectrum spectrum_of(Particles<Exec, T> const& particles, std::int64_t cells) {
  return mesh::power_spectrum(Exec{}, particles.position, particles.box, cells,
                              {.assignment = Assignment::pcs, .interlace = true});
}

/// Largest |P / reference - 1| up to k_max.
double largest_difference(mesh::PowerSpectrum const& p, mesh::PowerSpectrum const& reference,
                          double k_max) {
  double largest = 0;
  for (std::size_t b = 0; b < p.k.size() && p.k[b] <= k_max; ++b)
    largest = std::max(largest, std::abs(p.power[b] / reference.power[b] - 1));
  return largest;
}

}  // namespace

TEST(Validation, WavesGrowByLinearTheory) {
  Table table("linear_growth", "kernel assignment particles mesh amplitude D/D_linear-1");
  auto const row = [&](std::int64_t side, SimulationOptions const& options, double amplitude) {
    double const error = linear_growth<Exec>(side, options, 40, amplitude) - 1;
    table.row(named(options.kernel) + " " + std::string(name_of(options.assignment)),
              {double(side), side * options.mesh_ratio, amplitude, error});
    return error;
  };
  for (auto const kernel : kernels)
    for (std::int64_t const side : {32, 64})
      for (double const amplitude : {0.01, 0.5}) row(side, unsoftened(kernel), amplitude);
  for (double const amplitude : {0.001, 0.1, 0.2, 0.8}) row(64, {.mesh_ratio = 1}, amplitude);
  for (double const ratio : {1.5, 2.})
    for (double const amplitude : {0.01, 0.5}) row(64, {.mesh_ratio = ratio}, amplitude);
  for (auto const assignment : {Assignment::tsc, Assignment::pcs})
    for (double const amplitude : {0.01, 0.5})
      row(64, {.mesh_ratio = 1, .assignment = assignment}, amplitude);
  for (double const amplitude : {0.01, 0.5})
    EXPECT_LE(std::abs(row(128, {.mesh_ratio = 1}, amplitude)), 0.002) << amplitude;
}

class GrowthAtMeshRatio : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Validation, GrowthAtMeshRatio, ::testing::Values(1., 1.5, 2., 3., 4.),
                         [](auto const& ratio) {
                           return "Half" + std::to_string(std::lround(2 * ratio.param));
                         });

// All that a simulation can be asked for. What is neither refused nor said to be smoothed keeps
// within 2 %.
TEST_P(GrowthAtMeshRatio, IsThatOfLinearTheory) {
  double const ratio = GetParam();
  Table table("growth_" + in_words(ratio),
              "kernel assignment softening word amplitude_0.01 amplitude_0.5");
  std::int64_t const side = 32;
  for (auto const softening : {Softening::none, Softening::two_thirds, Softening::gaussian,
                               Softening::gadget, Softening::steep})
    for (auto const kernel : kernels)
      for (auto const assignment : {Assignment::cic, Assignment::tsc, Assignment::pcs}) {
        SimulationOptions const options{.scale_factors = {0.02, 1},
                                        .mesh_ratio = ratio,
                                        .kernel = kernel,
                                        .softening = softening,
                                        .allow_false_structure = true,
                                        .assignment = assignment};
        bool const is_false = !nbody::false_structure(options).empty();
        bool const is_weak = std::abs(nbody::growth_lost(options)) > 0.02;
        double error[2];
        for (int i = 0; i < 2; ++i)
          error[i] = linear_growth<Exec>(side, options, 20, i == 0 ? 0.01 : 0.5) - 1;
        std::string const name = named(kernel) + " " + std::string(name_of(assignment)) + " " +
                                 std::string(name_of(softening));
        table.row(name + (is_false  ? " false"
                          : is_weak ? " smoothed"
                                    : " -"),
                  {error[0], error[1]});
        if (is_false || is_weak) continue;
        for (double const e : error) EXPECT_LE(std::abs(e), 0.02) << name;
      }
}

namespace {

struct PlaneWaveRun {
  double box;
  Vectors q, x, exact_x, p, exact_p;
  double displacement, rms, largest;  // of positions, Mpc/h
  double momentum_error;              // rms over rms
};

template <class T>
void move_all(Particles<Exec, T> const& particles, double by) {
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.position);
  for (std::size_t i = 0; i < x.extent(0); ++i)
    for (int d = 0; d < 3; ++d)
      x(i, d) = static_cast<T>(std::fmod(x(i, d) + by + particles.box, particles.box));
  Kokkos::deep_copy(particles.position, x);
}

/// A plane wave from an amplitude of 0.05 to 0.8, where caustics would be at 1, for matter alone:
/// before they form the Zel'dovich approximation is exact.
/// \param shift  of the particles against the mesh, Mpc/h
PlaneWaveRun plane_wave(std::int64_t side, SimulationOptions options, int steps, double shift = 0) {
  double const box = 64, from = 0.05, to = 0.8;
  auto const& power = matter_alone();
  options.scale_factors = scale_factors(from, to, steps);
  std::vector<PlaneWave> const wave{{{1, 0, 0}, 1.0}};
  auto const start = particles_of<Exec, double>(wave, side, box, power, from, 1);
  move_all(start, shift);
  auto const end = evolved(start, power, options);
  move_all(end, -shift);
  auto const exact = particles_of<Exec, double>(wave, side, box, power, to, 1);
  PlaneWaveRun run{.box = box,
                   .q = vectors_of(coir::testing::lattice<Exec, double>(side, box).position),
                   .x = vectors_of(end.position),
                   .exact_x = vectors_of(exact.position),
                   .p = vectors_of(end.momentum),
                   .exact_p = vectors_of(exact.momentum),
                   .displacement = 0,
                   .rms = 0,
                   .largest = 0,
                   .momentum_error = 0};
  run.displacement = coir::testing::rms_distance(run.exact_x, run.q, box);
  run.rms = coir::testing::rms_distance(run.x, run.exact_x, box);
  run.largest = coir::testing::largest_distance(run.x, run.exact_x, box);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < run.p.size(); ++i) {
    error += std::pow(run.p[i][0] - run.exact_p[i][0], 2);
    size += std::pow(run.exact_p[i][0], 2);
  }
  run.momentum_error = std::sqrt(error / size);
  return run;
}

}  // namespace

TEST(Validation, PlaneWavesFollowTheZeldovichApproximation) {
  {
    Table profile("plane_wave_profile", "q x_exact x p_exact p");
    auto const run = plane_wave(64, {.mesh_ratio = 1}, 40);
    for (std::size_t i = 0; i < run.q.size(); i += 64 * 64)
      profile.row("", {run.q[i][0] / run.box, run.exact_x[i][0] / run.box, run.x[i][0] / run.box,
                       run.exact_p[i][0], run.p[i][0]});
  }
  Table table("plane_wave",
              "case rms_error/displacement rms_error/box largest_error/box momentum_error");
  auto const row = [&](std::string const& name, PlaneWaveRun const& run) {
    table.row(name, {run.rms / run.displacement, run.rms / run.box, run.largest / run.box,
                     run.momentum_error});
  };
  for (auto const kernel : kernels) row(named(kernel), plane_wave(64, unsoftened(kernel), 40));
  for (auto const stepper : steppers)
    for (int const steps : {5, 10, 80})
      row(named(stepper) + "_" + std::to_string(steps),
          plane_wave(64, {.stepper = stepper, .mesh_ratio = 1}, steps));
  row("1_4_32", plane_wave(32, {.mesh_ratio = 1}, 40));
  row("1_4_128", plane_wave(128, {.mesh_ratio = 1}, 40));
  for (auto const kernel : {ForceKernel::one_four, ForceKernel::three_four, ForceKernel::gadget})
    row(named(kernel) + "_half_a_cell_off", plane_wave(64, unsoftened(kernel), 40, 0.5));
  for (double const ratio : {1.5, 2., 3.}) {
    auto const run = plane_wave(64, {.mesh_ratio = ratio}, 40);
    row("1_4_ratio_" + in_words(ratio), run);
    if (ratio == 2) {
      EXPECT_LE(run.rms / run.displacement, 0.004);
    }
  }
  EXPECT_LE(plane_wave(64, {.mesh_ratio = 1}, 40).rms, 0.004 * 64);
  row("1_4_tsc", plane_wave(64, {.mesh_ratio = 1, .assignment = Assignment::tsc}, 40));
  row("gadget_tsc",
      plane_wave(
          64, {.mesh_ratio = 1, .kernel = ForceKernel::gadget, .assignment = Assignment::tsc}, 40));
  row("1_4_tsc_ratio_2", plane_wave(64, {.mesh_ratio = 2, .assignment = Assignment::tsc}, 40));
}

TEST(Validation, StepsAreOfSecondOrder) {
  Table table("order", "stepper steps rms_distance order");
  for (auto const assignment : {Assignment::cic, Assignment::pcs})
    for (auto const stepper : steppers) {
      auto const start = universe<double>(16, 64, 0.1);
      std::vector<Vectors> x;
      std::vector<int> const steps{8, 16, 32, 64, 128, 256};
      for (int const n : steps)
        x.push_back(vectors_of(evolved(start, lcdm(),
                                       {.scale_factors = scale_factors(0.1, 0.5, n),
                                        .stepper = stepper,
                                        .mesh_ratio = 1,
                                        .assignment = assignment,
                                        .deterministic = true})
                                   .position));
      double before = 0;
      for (std::size_t s = 0; s + 1 < steps.size(); ++s) {
        double const distance = coir::testing::rms_distance(x[s], x[s + 1], 64);
        table.row(named(stepper) + (assignment == Assignment::cic ? " cic" : " pcs"),
                  {double(steps[s]), distance, std::log2(before / distance)});
        // Of the fewest steps' errors, terms of higher order are a tenth.
        if (steps[s] >= 32) {
          EXPECT_GE(std::log2(before / distance), 1.95) << named(stepper) << ' ' << steps[s];
          EXPECT_LE(std::log2(before / distance), 2.05) << named(stepper) << ' ' << steps[s];
        }
        before = distance;
      }
    }
}

// For matter alone a start in first order leaves out of the second one what never grows back:
//
//   D2 = 3/7 a^2 - 3/5 a a_start + 6/35 a_start^(7/2) a^(-3/2)
TEST(Validation, StartsInFirstOrderLackWhatTheyShould) {
  Table table("start", "a_start difference_over_D2 formula");
  double const box = 64, to = 0.5;
  std::vector<PlaneWave> const waves{{{1, 0, 0}, 0.1}, {{0, 1, 0}, 0.1}};
  auto const run = [&](int order, double from) {
    return vectors_of(
        evolved(particles_of<Exec, double>(waves, 32, box, matter_alone(), from, order),
                matter_alone(),
                {.scale_factors = scale_factors(from, to, 40, Spacing::logarithmic),
                 .mesh_ratio = 2,
                 .assignment = Assignment::tsc})
            .position);
  };
  auto const second = vectors_of(
                 particles_of<Exec, double>(waves, 32, box, matter_alone(), to, 2).position),
             first = vectors_of(
                 particles_of<Exec, double>(waves, 32, box, matter_alone(), to, 1).position);
  double const size = coir::testing::rms_distance(second, first, box);
  for (double const from : {0.2, 0.1, 0.05, 0.025}) {
    double const lacks = coir::testing::rms_distance(run(2, from), run(1, from), box) / size;
    double const formula =
        (0.6 * to * from - 6. / 35 * std::pow(from, 3.5) * std::pow(to, -1.5)) / (3. / 7 * to * to);
    table.row("", {from, lacks, formula});
    EXPECT_NEAR(lacks / formula, 1, 0.02);
  }
}

// In boxes of 256 Mpc/h with a mesh as coarse as the lattice the mesh, not the steps, sets what
// half the Nyquist frequency has: there the figure is written down alone.
TEST(Validation, TenStepsOfBullfrogAreFortyOfFastpm) {
  Table table("bullfrog", "stepper_steps k/k_Nyquist P/P_fastpm_40");
  Table summary("steps",
                "stepper steps box mesh_ratio P/P_fastpm_40-1_at_half_Nyquist largest_below");
  std::int64_t const side = 64;
  double const from = 0.05;
  for (double const box : {128., 256.})
    for (double const ratio : {1., 2.}) {
      auto const start = universe<float>(side, box, from);
      auto const run = [&](Stepper stepper, int steps) {
        return spectrum_of(evolved(start, lcdm(),
                                   {.scale_factors = scale_factors(from, 1, steps),
                                    .stepper = stepper,
                                    .mesh_ratio = ratio}),
                           128);
      };
      auto const reference = run(Stepper::fastpm, 40);
      double const nyquist = std::numbers::pi * side / box;
      for (int const steps : {5, 10, 20, 80})
        for (auto const stepper : steppers) {
          if (steps == 80 && stepper != Stepper::fastpm) continue;
          auto const p = run(stepper, steps);
          double const difference = largest_difference(p, reference, 0.5001 * nyquist);
          summary.row(named(stepper), {double(steps), box, ratio,
                                       p.power[15] / reference.power[15] - 1, difference});
          if (stepper == Stepper::bullfrog && steps == 10 && !(box == 256 && ratio == 1)) {
            EXPECT_LE(difference, 0.01) << box << ", mesh ratio " << ratio;
          }
          if (box == 128 && ratio == 1)
            for (std::size_t b = 0; b < p.k.size() && p.k[b] <= nyquist * 1.0001; ++b)
              table.row(named(stepper) + "_" + std::to_string(steps),
                        {p.k[b] / nyquist, p.power[b] / reference.power[b]});
        }
    }
}

// The mean over seeds of P(k) on large scales, in units of its standard error, which modes of
// independent Gaussian numbers set: sqrt(2 / modes) of P for the modes of all seeds, k and -k being
// one.
TEST(Validation, MeanPowerIsThatOfLinearTheoryOnLargeScales) {
  Table table("seeds", "k P/P_linear-1 standard_error");
  constexpr int seeds = 16;
  double const box = 1200, end = 0.5;
  constexpr int bins = 5;
  std::vector<double> sum(bins), k(bins), modes(bins);
  for (int seed = 1; seed <= seeds; ++seed) {
    auto const p = spectrum_of(
        evolved(universe<float>(64, box, 0.1, 2, static_cast<std::uint64_t>(seed)), lcdm(),
                {.scale_factors = scale_factors(0.1, end, 8),
                 .stepper = Stepper::bullfrog,
                 .mesh_ratio = 2}),
        128);
    for (std::size_t b = 0; b < sum.size(); ++b) {
      k[b] = p.k[b];
      modes[b] = p.modes[b];
      sum[b] += p.power[b] / seeds;
    }
  }
  double chi_square = 0;
  for (std::size_t b = 0; b < sum.size(); ++b) {
    double const ratio = sum[b] / lcdm()(k[b], end) - 1, error = std::sqrt(2 / (modes[b] * seeds));
    table.row("", {k[b], ratio, error});
    EXPECT_LE(std::abs(ratio), 4 * error) << k[b];
    chi_square += ratio * ratio / (error * error);
  }
  EXPECT_LE(chi_square, bins + 4 * std::sqrt(2.0 * bins));  // the mean and four standard deviations
}

TEST(Validation, FloatAndDoubleAgree) {
  Table table("precision",
              "box rms_distance_over_cell P_difference momentum_float momentum_double");
  double const a = 0.05;
  for (double const box : {64., 256.}) {
    SimulationOptions const options{.scale_factors = scale_factors(a, 1, 20), .mesh_ratio = 1};
    auto const in_float = evolved(universe<float>(64, box, a), lcdm(), options);
    auto const in_double = evolved(universe<double>(64, box, a), lcdm(), options);
    auto const total = [](auto const& particles) {
      double sum[3] = {}, sizes = 0;
      for (auto const& p : vectors_of(particles.momentum))
        for (int d = 0; d < 3; ++d) sum[d] += p[d], sizes += std::abs(p[d]);
      return std::max({std::abs(sum[0]), std::abs(sum[1]), std::abs(sum[2])}) / sizes;
    };
    double const distance = coir::testing::rms_distance(vectors_of(in_float.position),
                                                        vectors_of(in_double.position), box);
    double const difference =
        largest_difference(spectrum_of(in_float, 128), spectrum_of(in_double, 128), 1e9);
    table.row("", {box, distance * 64 / box, difference, total(in_float), total(in_double)});
    EXPECT_LE(distance, 1e-3 * box / 64);
    EXPECT_LE(difference, 1e-4);
    EXPECT_LE(total(in_float), 16 * std::numeric_limits<float>::epsilon());
    EXPECT_LE(total(in_double), 16 * std::numeric_limits<double>::epsilon());
  }
}

// Against eight times as many particles of the same universe on four times as fine a mesh.
TEST(Validation, KernelsDifferOnSmallScales) {
  Table table("kernels", "kernel k/k_Nyquist P/P_fine");
  std::int64_t const side = 64;
  double const box = 128, from = 0.05, nyquist = std::numbers::pi * side / box;
  auto const run = [&](std::int64_t particles, SimulationOptions options) {
    options.scale_factors = scale_factors(from, 1, 20);
    options.stepper = Stepper::bullfrog;
    return spectrum_of(evolved(universe<float>(particles, box, from), lcdm(), options), 128);
  };
  auto const fine = run(2 * side, {.mesh_ratio = 2});
  auto const write = [&](std::string const& name, mesh::PowerSpectrum const& p) {
    for (std::size_t b = 0; b < p.k.size() && p.k[b] <= nyquist * 1.0001; ++b)
      table.row(name, {p.k[b] / nyquist, p.power[b] / fine.power[b]});
  };
  for (auto const kernel : kernels) {
    auto const p = run(side, unsoftened(kernel));
    write(named(kernel), p);
    // A wave of 32 cells, the fourth bin, lacks at most the 3 % of growth that
    // WavesGrowByLinearTheory measures.
    EXPECT_LE(largest_difference(p, fine, nyquist / 16), 0.06) << named(kernel);
  }
  for (double const ratio : {1.5, 2., 3.})
    write("1_4_ratio_" + in_words(ratio), run(side, {.mesh_ratio = ratio}));
  for (double const ratio : {1.5, 2.})
    write("gadget_ratio_" + in_words(ratio), run(side, {.mesh_ratio = ratio,
                                                        .kernel = ForceKernel::gadget,
                                                        .softening = Softening::none,
                                                        .allow_false_structure = true}));
  write("3_4_ratio_2", run(side, {.mesh_ratio = 2,
                                  .kernel = ForceKernel::three_four,
                                  .softening = Softening::none,
                                  .allow_false_structure = true}));
  write("1_4_tsc", run(side, {.mesh_ratio = 1, .assignment = Assignment::tsc}));
  write("gadget_tsc",
        run(side, {.mesh_ratio = 1, .kernel = ForceKernel::gadget, .assignment = Assignment::tsc}));
}
