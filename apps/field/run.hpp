#pragma once

/// A run: the target, the search for a start, and what is written of it.

#include "files.hpp"
#include "pictures.hpp"
#include "posterior.hpp"
#include "settings.hpp"
#include "target.hpp"

#include <nbody/setting_list.hpp>
#include <nbody/sheet.hpp>

#include <coir/array/creation.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/reductions.hpp>
#include <coir/autodiff/lbfgs.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/resident.hpp>
#include <coir/core/timing.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/group.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/finite.hpp>
#include <coir/io/npy.hpp>
#include <coir/nbody/forward_model.hpp>
#include <coir/nbody/simulation.hpp>

#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/memory_plan.hpp>
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
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::field {

/// A run before it starts.
struct FieldRun {
  FieldSettings settings;
  Target target;
  std::vector<double> scale_factors;

  FieldRun(FieldSettings all, Target aim)
      : settings(std::move(all)),
        target(std::move(aim)),
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
};

/// A point of the search.
struct Epoch {
  LbfgsState state;
  double prior = 0;
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

/// The memory that a run takes at most.
template <class T, class Exec>
MemoryPlan memory_of(Exec const& exec, FieldRun const& run) {
  auto const& universe = run.settings.universe;
  std::int64_t const field = run.sites() * std::int64_t(sizeof(T));
  std::int64_t const held =
      coir::nbody::ForwardModel<Exec, T>(exec, model_options(run)).bytes() +
      typename Misfit<Exec, T>::Meshes().list(run.target).bytes() +
      fft::RealPlan<Exec, T, 3>::work_bytes(exec, run.target.shape(), 1, plan_of_misfit);
  // The start, what a realisation stays near, its target's noise, and the gradient.
  std::int64_t const searching = 4 * field + lbfgs_bytes(field, search_options(run));
  // The target, what was reached, and pictures.
  std::int64_t const cells = std::int64_t(run.target.cells.size());
  std::int64_t const frames = (std::int64_t(run.settings.frames) + 2) * 4;
  std::int64_t const pixels = std::int64_t(run.settings.pixels) * run.settings.pixels;
  std::int64_t const shown = pixels * (frames + 16) + 2 * 8 * cells + 8 * run.sites();
  // A file of noise, whole.
  std::int64_t const noise = universe.noise.empty() ? 0 : 8 * run.sites();
  MemoryPlan plan{resident_bytes(), bytes_beside(field)};
  if (runs_on_host<Exec>) {
    plan.host += held + searching + std::max(shown, noise);
  } else {
    plan.device = held + searching + pixels * 8;
    plan.host += std::max(shown, noise) + field;
  }
  return with_what_was_read(plan);
}

inline void expects_memory_for(FieldRun const& run, MemoryPlan const& plan) {
  expects_memory(
      plan, "the search with " + std::to_string(run.settings.universe.particles) + "^3 particles");
}

/// A View's numbers on the host.
template <class View>
std::vector<double> on_host(View const& view) {
  auto const host = host_view_of(view);
  return {host.data(), host.data() + host.size()};
}

/// Cells added up along the third axis, over how many there are.
inline std::vector<double> columns_of(std::vector<double> const& cells, std::int64_t side) {
  auto const columns = static_cast<std::size_t>(side * side);
  std::size_t const depth = cells.size() / columns;
  std::vector<double> sums(columns);
  for (std::size_t n = 0; n < cells.size(); ++n) sums[n / depth] += cells[n] / double(depth);
  return sums;
}

/// Keeps the best start so far on the disk, so that it's there however the run ends.
template <class Exec, class T>
class BestStart {
 public:
  BestStart(std::filesystem::path path, Field<Exec, T> noise)
      : path_(std::move(path)), noise_(std::move(noise)) {}

  /// Notes a better start. It is written if the last one was written a second ago or more, and if
  /// writing takes a twentieth of the time at most.
  void found(int iteration) {
    iteration_ = iteration;
    if (iteration > 0 && Clock::now() >= next_) write();
  }

  void write() {
    if (written_ == iteration_) return;
    auto const start = Clock::now();
    io::write_npy(path_, noise_);
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
  std::filesystem::path path_;
  Field<Exec, T> noise_;
  int iteration_ = 0, written_ = 0;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};

/// Everything that a run computes with.
template <class Exec, class T>
class FieldSearch {
 public:
  using Model = coir::nbody::ForwardModel<Exec, T>;
  using Particles = coir::nbody::Particles<Exec, T>;
  using Noise = Array<T, 3, typename Exec::memory_space>;

  FieldSearch(Exec const& exec, FieldRun const& run)
      : exec_(exec),
        run_(run),
        model_(exec, model_options(run)),
        misfit_(exec, run.target, run.settings.universe.box, run.smooth(), run.settings.sigma,
                run.settings.universe.assignment, stop_if_interrupted),
        noise_view_(start()),
        noise_(borrow(noise_view_)),
        posterior_(model_, run.settings.universe.cosmology, misfit_, centre()) {
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
    stop_if_interrupted();
    io::write_npy(names.gradient(), gradient.noise);
    say_of_files("what was written is whole");
  }

  /// Looks for the start, and writes it.
  void search(FileNames const& names, FieldFigures& figures) {
    Activity const searching("searching");
    int const iterations = run_.settings.iterations;
    BestStart<Exec, T> best(names.noise(), noise_view_);
    ProgressLine line("search", "iterations", run_.settings.progress);
    Stopwatch<Exec> const watch(exec_);
    auto const monitor = [&](LbfgsState const& state) {
      figures.history.push_back({state, posterior_.prior_of_last()});
      line.update(state.iterations, iterations, "loss " + in_words(state.value));
      best.found(state.iterations);
      stop_if_interrupted();
    };
    try {
      auto const result =
          with_remedy([&] { return lbfgs(posterior_, noise_, search_options(run_), monitor); });
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
    if (figures.history.back().state.iterations == 0) io::write_npy(names.noise(), noise_view_);
    io::write_file(names.universe(), universe_text(names));
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
    stop_if_interrupted();
    auto particles = starting_particles(power);
    coir::nbody::Simulation<Exec, T> simulation(
        exec_, std::move(particles), growth,
        nbody::simulation_options(universe, run_.scale_factors));
    std::vector<Frame> frames;
    for (int const step : frames_of(settings)) {
      simulation.advance(step - simulation.steps_done(), [](int) { stop_if_interrupted(); });
      frames.push_back(logarithm_of(picture_of(simulation.particles())));
      write_frames(names.frame(frames.size() - 1), {frames.back()}, {range_of(frames.back())});
      stop_if_interrupted();
    }
    write_density(names, simulation.particles(), figures);
    Frame const target =
        logarithm_of(enlarged(columns_of(on_host(misfit_.target()), run_.target.side()),
                              run_.target.side(), settings.pixels));
    Range const range = range_of(frames.back());
    write_frames(names.picture("end_and_target"), {frames.back(), target}, {range, range});
    frames.push_back(target);
    write_frames(names.picture("strip"), frames, std::vector<Range>(frames.size(), range));
  }

 private:
  Field<Exec, T> start() const {
    auto const& universe = run_.settings.universe;
    if (!universe.noise.empty()) return noise_of_file(universe.noise);
    auto const noise = noise_of_seed<T>(exec_, universe.particles, universe.random.seed);
    // Small, so that the most probable start has nothing of it, yet off the lattice, where cic has
    // kinks.
    if (!run_.settings.realisation && run_.settings.gradient_of.empty()) borrow(noise) *= 0.01;
    return noise;
  }

  Field<Exec, T> noise_of_file(std::filesystem::path const& path) const {
    Activity const reading("reading " + path.string());
    auto const file = io::read_npy(path);
    std::int64_t const n = run_.settings.universe.particles;
    if (file.shape != std::vector<std::int64_t>{n, n, n}) {
      std::vector<std::string> shape;
      for (auto const extent : file.shape) shape.push_back(std::to_string(extent));
      std::string const side = std::to_string(n);
      throw InputError(path.string() + ": white noise for " + side +
                       "^3 particles must have shape (" + side + ", " + side + ", " + side +
                       "), not (" + joined(shape, ", ") + "): set --side to the file's extent");
    }
    auto const noise = io::to_view<Field<Exec, T>>(file, io::Rounding::allow);
    io::expects_finite(noise, path.string());
    return noise;
  }

  /// A copy of the random start, which a realisation is to stay near.
  Noise centre() const { return run_.settings.realisation ? Noise(noise_) : Noise(); }

  /// Independent normal numbers for the target's cells: those of other white noise, of which
  /// columns take a plane.
  void add_noise_to_target() {
    constexpr std::uint64_t of_target = 0x746172676574;  // "target"
    auto const cells =
        noise_of_seed<T>(exec_, run_.target.side(), run_.settings.universe.random.seed ^ of_target);
    typename Misfit<Exec, T>::Cells const numbers("coir::apps::field::target_noise",
                                                  run_.target.cells.layout());
    copy_contiguous(exec_, numbers,
                    typename Misfit<Exec, T>::Cells(cells.data(), numbers.layout()));
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
    auto const density =
        linear_density<Exec, T>(exec_, noise_view_, universe.box, power, universe.a_start);
    Frame const frame = enlarged(columns_of(on_host(density), universe.particles),
                                 universe.particles, run_.settings.pixels);
    write_frames(names.picture("start"), {frame}, {range_of(frame)});
  }

  Particles starting_particles(cosmology::LinearPower<double> const& power) const {
    auto const& universe = run_.settings.universe;
    return coir::nbody::initial_conditions<Exec, T>(exec_, universe.particles, universe.box, power,
                                                    universe.a_start, universe.lpt, noise_view_);
  }

  Frame picture_of(Particles const& particles) const {
    int const side = run_.settings.pixels;
    nbody::SheetPixels<Exec> const mass("coir::apps::field::mass", side, side);
    double const mean = nbody::paint_sheet<Exec, T>(exec_, distributed::Group::self(), particles,
                                                    {0, particles.box, side}, mass);
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
    std::int64_t const m = run_.target.side();
    if (run_.target.is_projection()) {
      using Columns = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
      io::write_npy(names.density(), Columns(density.data(), std::size_t(m), std::size_t(m)));
    } else {
      io::write_npy(names.density(), density);
    }
    auto const reached = on_host(density), target = on_host(misfit_.target());
    double products = 0, squares = 0, of_target = 0;
    for (std::size_t n = 0; n < reached.size(); ++n) {
      products += (reached[n] - 1) * (target[n] - 1);
      squares += (reached[n] - 1) * (reached[n] - 1);
      of_target += (target[n] - 1) * (target[n] - 1);
    }
    figures.correlation = run_.target.is_even() ? std::numeric_limits<double>::quiet_NaN()
                                                : products / std::sqrt(squares * of_target);
    figures.difference = misfit_.difference(particles);
    figures.noise_rms = norm(cast<double>(noise_)) / std::sqrt(double(run_.sites()));
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
