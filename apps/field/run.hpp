#pragma once

/// A run: the target, the search for a start, and what is written of it.

#include "files.hpp"
#include "linear_density.hpp"
#include "over_ranks.hpp"
#include "pictures.hpp"
#include "posterior.hpp"
#include "settings.hpp"
#include "target.hpp"

#include <nbody/density.hpp>
#include <nbody/setting_list.hpp>
#include <nbody/sheet.hpp>

#include <coir/array/creation.hpp>
#include <coir/array/operators.hpp>
#include <coir/autodiff/lbfgs.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/resident.hpp>
#include <coir/core/timing.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/plan_over_ranks.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/npy.hpp>
#include <coir/nbody/forward_model.hpp>
#include <coir/nbody/noise_field.hpp>
#include <coir/nbody/noise_file.hpp>
#include <coir/nbody/simulation.hpp>

#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/memory_plan.hpp>
#include <support/on_all.hpp>
#include <support/output_folder.hpp>
#include <support/progress.hpp>
#include <support/text.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::field {

/// A run before it starts.
struct FieldRun {
  distributed::Group ranks;
  FieldSettings settings;
  Target target;  ///< of which each rank has its planes
  std::vector<double> scale_factors;

  FieldRun(distributed::Group group, FieldSettings all, Target const& whole)
      : ranks(std::move(group)),
        settings(std::move(all)),
        target(own_planes(whole, ranks)),
        scale_factors(coir::nbody::scale_factors(settings.universe.a_start, settings.universe.a_end,
                                                 settings.universe.steps,
                                                 settings.universe.spacing)) {}

  /// Mpc/h: a cell of the target unless it was given.
  double smooth() const {
    return settings.smooth.value_or(settings.universe.box / double(target.side()));
  }
  std::int64_t sites() const {
    std::int64_t const n = settings.universe.particles;
    return n * n * n;
  }
  /// Of this rank.
  std::int64_t own_sites() const {
    std::int64_t const n = settings.universe.particles;
    return distributed::share_of(n, ranks.rank(), ranks.size()).count * n * n;
  }
};

/// A point of the search.
struct Epoch {
  LbfgsState state;
  double prior = 0;
};

/// The derivative of the misfit along random noise, found in two ways.
struct GradientCheck {
  double gradient = 0, difference = 0;
};

/// The figures of a run that has ended.
struct FieldFigures {
  std::vector<Epoch> history;
  LbfgsEnd stopped_by = LbfgsEnd::iterations;
  double seconds = 0;  ///< of the search
  double correlation =
      0;                  ///< of the density that was reached and the target; NaN of an even target
  double difference = 0;  ///< rms of the density less the target, both smoothed, over sigma
  double noise_rms = 0;   ///< of a site
  double misfit = 0;      ///< of one gradient
  cosmology::Parameters<double> slopes{};  ///< of one gradient
  std::optional<GradientCheck> check{};    ///< of one gradient
  MemoryPlan predicted;
  Hardware hardware;
};

inline LbfgsOptions search_options(FieldRun const& run) {
  LbfgsOptions options;
  options.iterations = run.settings.iterations;
  options.pairs = 6;
  options.tolerance = run.settings.tolerance;
  // A tenth of the length that noise has.
  options.first_step = 0.1 * std::sqrt(double(run.sites()));
  options.trials = 12;
  return options;
}

inline coir::nbody::ForwardModelOptions model_options(FieldRun const& run) {
  auto const& universe = run.settings.universe;
  coir::nbody::ForwardModelOptions options;
  options.side = universe.particles;
  options.box = universe.box;
  options.order = universe.lpt;
  options.transfer = universe.transfer;
  options.simulation = nbody::simulation_options(universe, run.scale_factors);
  return options;
}

/// Planes of the target's mesh on this rank, if particles lie 20 Mpc/h from their sites at most.
inline std::int64_t planes_held(FieldRun const& run) {
  std::int64_t const m = run.target.side(), own = run.target.planes(run.ranks).count;
  if (own == m) return m;
  double const cell = run.settings.universe.box / double(m);
  return own + 2 * std::min(m, std::int64_t(std::ceil(20 / cell)) + 2);
}

/// The memory that a run takes at most.
template <class T, class Exec>
MemoryPlan memory_of(Exec const& exec, FieldRun const& run) {
  auto const& universe = run.settings.universe;
  std::int64_t const field = run.own_sites() * std::int64_t(sizeof(T));
  std::int64_t const held =
      coir::nbody::ForwardModel<Exec, T>(exec, run.ranks, model_options(run)).bytes() +
      typename Misfit<Exec, T>::Meshes().list(run.ranks, run.target, planes_held(run)).bytes() +
      fft::PlanOverRanks<Exec, T>::work_bytes(exec, run.ranks, run.target.shape(),
                                              fft::Effort::estimate);
  // The start, what a realisation stays near, its target's noise, and the gradient.
  std::int64_t const searching = 4 * field + lbfgs_bytes(field, search_options(run));
  // The target, what was reached, and pictures; on the first rank whole.
  std::int64_t const cells = size_of(run.target.shape());
  std::int64_t const frames = (std::int64_t(run.settings.frames) + 2) * 4;
  std::int64_t const pixels = std::int64_t(run.settings.pixels) * run.settings.pixels;
  std::int64_t const shown = pixels * (frames + 16) + 2 * 8 * cells + 8 * run.sites();
  // A file of noise: this rank's part of it.
  std::int64_t const noise = universe.noise.empty() ? 0 : 8 * run.own_sites();
  MemoryPlan plan{resident_bytes(), bytes_beside(field, run.ranks)};
  if (runs_on_host<Exec>) {
    plan.host += held + searching + std::max(shown, noise);
  } else {
    plan.device = held + searching + pixels * 8;
    plan.host += std::max(shown, noise) + field;
  }
  return with_what_was_read(plan);
}

/// Collective.
///
/// \param device  see device_identity()
inline void expects_memory_for(FieldRun const& run, MemoryPlan const& plan,
                               std::string const& device) {
  expects_memory(
      run.ranks, plan,
      "the search with " + std::to_string(run.settings.universe.particles) + "^3 particles",
      device);
}

/// Stops all ranks if one was interrupted. Collective.
inline void stop_all_if_interrupted(distributed::Group const& ranks) {
  on_all(ranks, stop_if_interrupted);
}

/// A View's numbers on the host.
template <class View>
std::vector<double> on_host(View const& view) {
  auto const host = host_view_of(view);
  return {host.data(), host.data() + host.size()};
}

/// Cells of all ranks' planes added up along the third axis, over how many there are. Collective.
template <class View>
std::vector<double> columns_of(distributed::Group const& ranks, View const& planes) {
  auto const cells = on_host(planes);
  std::size_t const depth = planes.extent(2);
  std::vector<double> sums(planes.extent(0) * planes.extent(1));
  for (std::size_t n = 0; n < cells.size(); ++n) sums[n / depth] += cells[n] / double(depth);
  return ranks.gather_all(std::span<double const>(sums));
}

/// Writes a field that ranks share by planes. Collective.
///
/// \throws ResourceError if it can't be written
template <class Exec, class View>
void write_planes(Exec const& exec, distributed::Group const& ranks,
                  std::filesystem::path const& path, View const& planes) {
  using T = typename View::value_type;
  exec.fence();
  auto const n1 = static_cast<std::int64_t>(planes.extent(1)),
             n2 = static_cast<std::int64_t>(planes.extent(2));
  auto const all =
      nbody::gather_planes<Exec, T>(exec, ranks, planes.data(), n1 * n2, n2, {n1, n1, n2});
  on_first(ranks, [&] {
    if (n2 > 1 || n1 == 1) return io::write_npy(path, all);
    io::write_npy(path, Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>(
                            Kokkos::subview(all, Kokkos::ALL, Kokkos::ALL, 0)));
  });
}

/// Keeps the best start so far on the disk, so that it's there however the run ends. The functions
/// that write are collective.
template <class Exec, class T>
class BestStart {
 public:
  BestStart(Exec const& exec, distributed::Group const& ranks, std::filesystem::path path,
            Field<Exec, T> noise)
      : exec_(exec), ranks_(ranks), path_(std::move(path)), noise_(std::move(noise)) {}

  /// Notes a better start. It is written if the last one was written a second ago or more, and if
  /// writing takes a twentieth of the time at most.
  void found(int iteration) {
    iteration_ = iteration;
    if (ranks_.any(iteration > 0 && ranks_.is_first() && Clock::now() >= next_)) write();
  }

  void write() {
    if (written_ == iteration_) return;
    auto const start = Clock::now();
    write_planes(exec_, ranks_, path_, noise_);
    written_ = iteration_;
    say_of_files(promise());
    auto const end = Clock::now();
    next_ = end + std::max<Clock::duration>(std::chrono::seconds(1), 20 * (end - start));
  }

  std::string promise() const {
    return written_ == 0 ? "nothing was written"
                         : path_.string() + " is the best start so far, of iteration " +
                               std::to_string(written_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Exec exec_;
  distributed::Group ranks_;
  std::filesystem::path path_;
  Field<Exec, T> noise_;
  int iteration_ = 0, written_ = 0;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};

/// Everything that a run computes with. Each rank has its planes of the fields, and all functions
/// are collective.
template <class Exec, class T>
class FieldSearch {
 public:
  using Model = coir::nbody::ForwardModel<Exec, T>;
  using Particles = coir::nbody::Particles<Exec, T>;
  using Noise = Array<T, 3, typename Exec::memory_space>;

  FieldSearch(Exec const& exec, FieldRun const& run)
      : exec_(exec),
        run_(run),
        model_(exec, run.ranks, model_options(run)),
        misfit_(exec, run.ranks, run.target, run.settings.universe.box, run.smooth(),
                run.settings.sigma, run.settings.universe.assignment,
                [ranks = run.ranks] { stop_all_if_interrupted(ranks); }),
        noise_view_(start()),
        noise_(borrow(noise_view_)),
        posterior_(run.ranks, model_, run.settings.universe.cosmology, misfit_, centre()) {
    if (run.settings.realisation) add_noise_to_target();
  }
  FieldSearch(FieldSearch const&) = delete;
  FieldSearch& operator=(FieldSearch const&) = delete;

  /// Computes one gradient of the misfit and writes it.
  void write_gradient(FileNames const& names, FieldFigures& figures) {
    Activity const computing("computing a gradient");
    Stopwatch<Exec> const watch(exec_);
    auto const gradient = with_remedy([&] { return posterior_.misfit_gradient(noise_); });
    figures.seconds = watch.seconds();
    figures.misfit = gradient.value;
    figures.slopes = gradient.parameters;
    poll();
    if (run_.settings.check)
      figures.check = with_remedy([&] { return check_of(borrow(gradient.noise)); });
    write_planes(exec_, run_.ranks, names.gradient(), gradient.noise);
    say_of_files("what was written is whole");
  }

  /// Looks for the start, and writes it.
  void search(FileNames const& names, FieldFigures& figures) {
    Activity const searching("searching");
    int const iterations = run_.settings.iterations;
    BestStart<Exec, T> best(exec_, run_.ranks, names.noise(), noise_view_);
    ProgressLine line("search", "iterations",
                      run_.ranks.is_first() ? run_.settings.progress : ProgressMode::never);
    Stopwatch<Exec> const watch(exec_);
    auto const monitor = [&](LbfgsState const& state) {
      figures.history.push_back({state, posterior_.prior_of_last()});
      line.update(state.iterations, iterations, "loss " + in_words(state.value));
      best.found(state.iterations);
      poll();
    };
    try {
      auto const result = with_remedy([&] {
        return lbfgs(posterior_, noise_, search_options(run_), monitor,
                     InnerProductOfRanks{run_.ranks});
      });
      figures.stopped_by = result.end;
      figures.history.back().state.evaluations = result.state.evaluations;
    } catch (Failure const& failure) {
      if (failure.code() != ExitCode::interrupted || figures.history.empty()) throw;
      best.write();
      throw Failure(ExitCode::interrupted,
                    "stopped after " +
                        counted(figures.history.back().state.iterations, "iterations") + " of " +
                        std::to_string(iterations) + ", at a loss of " +
                        in_words(figures.history.back().state.value) + "; " + best.promise());
    }
    figures.seconds = watch.seconds();
    best.write();
    if (figures.history.back().state.iterations == 0)
      write_planes(exec_, run_.ranks, names.noise(), noise_view_);
    on_first(run_.ranks, [&] { io::write_file(names.universe(), universe_text(names)); });
    say_of_files("what was written is whole");
  }

  /// Grows the universe that was found, and writes its densities and pictures.
  void show(FileNames const& names, FieldFigures& figures) {
    Activity const showing("making pictures");
    auto const& settings = run_.settings;
    auto const& universe = settings.universe;
    cosmology::Growth<double> const growth(universe.cosmology, std::min(1e-3, universe.a_start / 2),
                                           std::max(1.0, universe.a_end));
    cosmology::LinearPower<double> const power(growth, universe.transfer);
    write_start(names, power);
    poll();
    auto particles = starting_particles(power);
    coir::nbody::Simulation<Exec, T> simulation(
        exec_, run_.ranks, std::move(particles), growth,
        nbody::simulation_options(universe, run_.scale_factors));
    std::vector<Frame> frames;
    for (int const step : frames_of(settings)) {
      simulation.advance(step - simulation.steps_done(), [&](int) { poll(); });
      frames.push_back(logarithm_of(picture_of(simulation.particles())));
      on_first(run_.ranks, [&] {
        write_frames(names.frame(frames.size() - 1), {frames.back()}, {range_of(frames.back())});
      });
      poll();
    }
    write_density(names, simulation.particles(), figures);
    Frame const target = logarithm_of(
        enlarged(columns_of(run_.ranks, misfit_.target()), run_.target.side(), settings.pixels));
    on_first(run_.ranks, [&] {
      Range const range = range_of(frames.back());
      write_frames(names.picture("end_and_target"), {frames.back(), target}, {range, range});
      frames.push_back(target);
      write_frames(names.picture("strip"), frames, std::vector<Range>(frames.size(), range));
    });
  }

 private:
  void poll() const { stop_all_if_interrupted(run_.ranks); }

  Field<Exec, T> start() const {
    auto const& universe = run_.settings.universe;
    if (!universe.noise.empty())
      return on_all(run_.ranks, [&] { return noise_of_file(universe.noise); });
    auto const noise = noise_of_seed(universe.particles, universe.random.seed);
    // Small, so that the most probable start has nothing of it, yet off the lattice, where cic has
    // kinks.
    if (!run_.settings.realisation && run_.settings.gradient_of.empty()) borrow(noise) *= 0.01;
    return noise;
  }

  /// Central differences err by the square of the step, and rounding by its inverse: the step is
  /// near the third root of what numbers round to, that of painted masses in float.
  GradientCheck check_of(Noise const& gradient) const {
    constexpr std::uint64_t of_check = 0x636865636b;  // "check"
    double const step = sizeof(T) == 8 ? 1e-4 : 1e-2;
    auto const direction = noise_of_seed(run_.settings.universe.particles,
                                         run_.settings.universe.random.seed ^ of_check);
    Noise const random = borrow(direction);
    auto const misfit_at = [&](double by) {
      Noise const moved = on_all(run_.ranks, [&] {
        Noise sum = noise_ + static_cast<T>(by) * random;
        return sum;
      });
      return posterior_.misfit(moved);
    };
    double const along = InnerProductOfRanks{run_.ranks}(gradient, random), after = misfit_at(step),
                 before = misfit_at(-step);
    return {along, (after - before) / (2 * step)};
  }

  Field<Exec, T> noise_of_seed(std::int64_t side, std::uint64_t seed) const {
    return coir::nbody::noise_field<Exec, T>(exec_, run_.ranks, {.seed = seed}, side);
  }

  /// This rank's planes of a file's noise.
  Field<Exec, T> noise_of_file(std::filesystem::path const& path) const {
    Activity const reading("reading " + path.string());
    std::int64_t const n = run_.settings.universe.particles;
    auto const planes = distributed::share_of(n, run_.ranks.rank(), run_.ranks.size());
    auto const across = static_cast<std::size_t>(n);
    Field<Exec, T> const noise("coir::apps::field::noise", static_cast<std::size_t>(planes.count),
                               across, across);
    coir::nbody::read_noise(path.string(), n, planes, noise, "set --side to the file's extent");
    return noise;
  }

  /// A copy of the random start, which a realisation is to stay near.
  Noise centre() const {
    return on_all(run_.ranks, [&] { return run_.settings.realisation ? Noise(noise_) : Noise(); });
  }

  /// Independent normal numbers for the target's cells: those of other white noise, of which
  /// columns take a plane.
  void add_noise_to_target() {
    constexpr std::uint64_t of_target = 0x746172676574;  // "target"
    auto const cells =
        noise_of_seed(run_.target.side(), run_.settings.universe.random.seed ^ of_target);
    using Cells = typename Misfit<Exec, T>::Cells;
    auto const numbers = on_all(run_.ranks, [&] {
      return Cells("coir::apps::field::target_noise", run_.target.cells.layout());
    });
    // Of columns: the first cells of each line.
    slice_of(numbers) =
        slice_of(Kokkos::subview(cells, Kokkos::ALL, Kokkos::ALL,
                                 std::pair<std::size_t, std::size_t>(0, numbers.extent(2))));
    misfit_.add_noise(numbers);
  }

  /// Returns compute(). If numbers aren't finite the error says what to do.
  template <class Compute>
  static auto with_remedy(Compute const& compute) {
    try {
      return compute();
    } catch (NumericalError const& error) {
      throw NumericalError(
          std::string(error.what()) +
          ": use a smaller --sigma8 or --A-s, a larger --sigma, more --steps, --noise of variance "
          "1, or --precision double");
    }
  }

  /// The configuration by which coir-nbody grows the same universe.
  std::string universe_text(FileNames const& names) const {
    nbody::Settings universe = run_.settings.universe;
    universe.noise = std::filesystem::absolute(names.noise());
    return "# coir-nbody --config grows the universe that coir-field has found\n" +
           nbody::config_text(universe, names.universe().parent_path());
  }

  void write_start(FileNames const& names, cosmology::LinearPower<double> const& power) const {
    auto const& universe = run_.settings.universe;
    auto const density = linear_density<Exec, T>(exec_, run_.ranks, universe.particles, noise_view_,
                                                 universe.box, power, universe.a_start);
    Frame const frame =
        enlarged(columns_of(run_.ranks, density), universe.particles, run_.settings.pixels);
    on_first(run_.ranks, [&] { write_frames(names.picture("start"), {frame}, {range_of(frame)}); });
  }

  Particles starting_particles(cosmology::LinearPower<double> const& power) const {
    auto const& universe = run_.settings.universe;
    return coir::nbody::initial_conditions<Exec, T>(exec_, run_.ranks, universe.particles,
                                                    universe.box, power, universe.a_start,
                                                    universe.lpt, noise_view_);
  }

  Frame picture_of(Particles const& particles) const {
    int const side = run_.settings.pixels;
    auto const mass = on_all(run_.ranks, [&] {
      return nbody::SheetPixels<Exec>("coir::apps::field::mass", side, side);
    });
    double const mean =
        nbody::paint_sheet<Exec, T>(exec_, run_.ranks, particles, {0, particles.box, side}, mass);
    auto const mass_h = host_view_of(mass);
    Frame frame{side, {}};
    frame.values.reserve(mass_h.size());
    for (std::size_t n = 0; n < mass_h.size(); ++n)
      frame.values.push_back(static_cast<float>(double(mass_h.data()[n]) / mean));
    return frame;
  }

  void write_density(FileNames const& names, Particles const& particles,
                     FieldFigures& figures) const {
    auto const density = misfit_.density(particles);
    write_planes(exec_, run_.ranks, names.density(), density);
    auto const reached = cast<double>(slice_of(density)) - 1,
               wanted = cast<double>(slice_of(misfit_.target())) - 1;
    double const products = sum_over_ranks(run_.ranks, reached * wanted),
                 squares = sum_over_ranks(run_.ranks, square(reached)),
                 of_target = sum_over_ranks(run_.ranks, square(wanted));
    figures.correlation = run_.target.is_even ? std::numeric_limits<double>::quiet_NaN()
                                              : products / std::sqrt(squares * of_target);
    figures.difference = misfit_.difference(particles);
    figures.noise_rms =
        std::sqrt(InnerProductOfRanks{run_.ranks}(noise_, noise_) / double(run_.sites()));
  }

  Exec exec_;
  FieldRun const& run_;
  Model model_;
  Misfit<Exec, T> misfit_;
  Field<Exec, T> noise_view_;
  Noise noise_;  // the same memory
  Posterior<Exec, T> posterior_;
};

}  // namespace coir::apps::field
