#include "chains.hpp"

#include <coir/array/random.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/tasks.hpp>
#include <coir/inference/chees.hpp>
#include <coir/inference/nuts.hpp>
#include <coir/io/atomic_file.hpp>

#include <support/compute_on.hpp>
#include <support/interrupt.hpp>
#include <support/progress.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::cells {

namespace {

using inference::Chains;
using Matrix = std::vector<std::vector<double>>;
using Starts = Array<double, 2, Kokkos::HostSpace>;

/// L of L L^T = the covariance, which is positive definite.
Matrix root_of(Matrix const& covariance) {
  std::size_t const n = covariance.size();
  Matrix root(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = covariance[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= root[i][k] * root[j][k];
      root[i][j] = i == j ? std::sqrt(sum) : sum / root[j][j];
    }
  return root;
}

/// The user wants the run to end: thrown by targets, because a draw may take seconds.
struct Stopped {};
void stop_drawing_if_interrupted() {
  if (interrupted()) throw Stopped();
}

/// The posterior by z, where the parameters are x = fiducial + L z.
struct Whitened {
  std::shared_ptr<Posterior const> posterior;
  std::vector<double> fiducial;
  Matrix root;

  std::vector<double> parameters(double const* z) const {
    std::vector<double> x = fiducial;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) x[i] += root[i][j] * z[j];
    return x;
  }

  double operator()(Kokkos::View<double const*, Kokkos::HostSpace> const& z,
                    Kokkos::View<double*, Kokkos::HostSpace> const& slope) const {
    stop_drawing_if_interrupted();
    std::size_t const n = fiducial.size();
    std::vector<double> by_parameter(n, 0.0);
    double const value = (*posterior)(parameters(z.data()), by_parameter);
    for (std::size_t j = 0; j < n; ++j) {
      slope(j) = 0;
      for (std::size_t i = j; i < n; ++i) slope(j) += root[i][j] * by_parameter[i];
    }
    return value;
  }
};

/// Numbers of WhitenedBatch that kernels read.
struct WhiteningTables {
  int n;
  double const *fiducial, *root, *precision;  ///< of priors, 0 where there is none
};

/// (chain, i): x = fiducial + L z
struct ToParameters {
  WhiteningTables of;
  double const* z;
  double* x;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    std::int64_t const i = task % of.n, first = task - i;
    double sum = of.fiducial[i];
    for (std::int64_t j = 0; j <= i; ++j) sum += of.root[i * of.n + j] * z[first + j];
    x[task] = sum;
  }
};

/// A chain: adds the priors to ln L and its gradient by x, and turns that into the one by z.
struct ToWhitened {
  WhiteningTables of;
  double const* x;
  double *by_x, *by_z, *value;

  KOKKOS_FUNCTION void operator()(std::int64_t chain) const {
    std::int64_t const first = chain * of.n;
    for (std::int64_t i = 0; i < of.n; ++i) {
      double const off = x[first + i] - of.fiducial[i];
      value[chain] -= 0.5 * off * off * of.precision[i];
      by_x[first + i] -= off * of.precision[i];
    }
    for (std::int64_t j = 0; j < of.n; ++j) {
      double sum = 0;
      for (std::int64_t i = j; i < of.n; ++i) sum += of.root[i * of.n + j] * by_x[first + i];
      by_z[first + j] = sum;
    }
  }
};

/// The same for all chains at once.
template <class Exec>
class WhitenedBatch {
  using Batch = cosmology::LikelihoodBatch<Exec>;
  using Table = typename Batch::Table;
  using Column = typename Batch::Column;

 public:
  WhitenedBatch(Exec const& exec, Posterior const& posterior, Whitened const& whitened,
                std::int64_t chains)
      : likelihood_(posterior.batch(exec)),
        x_(table("coir::cells::chains/x", chains, posterior.size())),
        by_x_(table("coir::cells::chains/by_x", chains, posterior.size())),
        fiducial_(column(whitened.fiducial)),
        root_(column(flat(whitened.root))),
        precision_(column(posterior.precisions())) {}

  void operator()(Exec const& exec, Table const& z, Table const& slope, Column const& value) const {
    stop_drawing_if_interrupted();
    auto const chains = static_cast<std::int64_t>(z.extent(0));
    auto const n = static_cast<int>(z.extent(1));
    WhiteningTables const of{n, fiducial_.data(), root_.data(), precision_.data()};
    for_each_task("coir::cells::chains/parameters", exec, chains * n,
                  ToParameters{of, z.data(), x_.data()});
    likelihood_(exec, x_, by_x_, value);
    for_each_task("coir::cells::chains/whitened", exec, chains,
                  ToWhitened{of, x_.data(), by_x_.data(), slope.data(), value.data()});
  }

 private:
  static Table table(std::string const& label, std::int64_t rows, std::size_t columns) {
    return Table(label, static_cast<std::size_t>(rows), columns);
  }
  static std::vector<double> flat(Matrix const& matrix) {
    std::vector<double> numbers;
    for (auto const& row : matrix) numbers.insert(numbers.end(), row.begin(), row.end());
    return numbers;
  }
  static Column column(std::vector<double> const& numbers) {
    Column const view("coir::cells::chains/numbers", numbers.size());
    copy_bytes<typename Exec::memory_space, Kokkos::HostSpace>(
        view.data(), numbers.data(), static_cast<std::int64_t>(numbers.size() * sizeof(double)));
    return view;
  }

  Batch likelihood_;
  Table x_, by_x_;
  Column fiducial_, root_, precision_;
};

// ---- files of chains: two folders in turns, so that one is whole at any time ----

std::filesystem::path newest_of(std::filesystem::path const& output) {
  return output / "chains" / "newest.txt";
}

/// The text of a file, empty if it can't be read.
std::string text_of(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Writes chains of z beside those that are there, and then says that these are the newest.
class ChainsFiles {
 public:
  ChainsFiles(std::filesystem::path output, std::string survey)
      : output_(std::move(output)), survey_(std::move(survey)) {}

  void write(Chains const& chains) {
    Activity const writing("writing " + (output_ / "chains").string());
    std::string const place = text_of(newest_of(output_)).starts_with("0") ? "1" : "0";
    inference::save(output_ / "chains" / place, chains);
    io::write_file(newest_of(output_), place + "\n" + survey_);
  }

 private:
  std::filesystem::path output_;
  std::string survey_;
};

/// The first line in which two texts differ.
std::pair<std::string, std::string> first_difference(std::string const& a, std::string const& b) {
  std::istringstream left(a), right(b);
  std::string line, other;
  while (line == other && (left || right)) {
    line.clear();
    other.clear();
    std::getline(left, line);
    std::getline(right, other);
  }
  return {line, other};
}

Chains read_newest(std::filesystem::path const& output, std::string const& survey) {
  std::string const newest = text_of(newest_of(output)), place = newest.substr(0, 2);
  if (place != "0\n" && place != "1\n")
    throw InputError(newest_of(output).string() +
                     ": there are no chains to go on with: --restart takes the --output of a run "
                     "with --chains");
  auto const [there, here] = first_difference(newest.substr(2), survey);
  expects(there == here, "--restart goes on with the survey and the sampler of " + output.string() +
                             ": give the options that it had. There it is '" + there + "', here '" +
                             here + "'");
  return inference::read_chains(output / "chains" / newest.substr(0, 1));
}

/// Draws in rounds of about a second, so that after Ctrl-C those until then are there.
///
/// \param begin   begin(options, on_progress) returns new chains
/// \param go_on   go_on(chains, options, on_progress) returns longer ones
template <class Begin, class GoOn>
Chains draw_in_rounds(CellsSettings const& settings, Chains chains, ChainsFiles& files,
                      Begin const& begin, GoOn const& go_on) {
  using Clock = std::chrono::steady_clock;
  auto const seconds_since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  ProgressLine line("drawing", "draws", settings.progress);
  inference::Options options{.warmup = settings.warmup, .told_every = 1};
  std::int64_t const total = settings.warmup + settings.draws;
  std::int64_t first = -1, left = 1;
  auto saved = Clock::now();
  while (left > 0) {
    auto const round = Clock::now();
    // Room for the draws of this round and one more, so that it doesn't count as the last one.
    std::int64_t const there = chains.state.empty() ? 0 : chains.draws.shape()[1];
    options.draws = std::min(settings.draws, there + options.told_every + 1);
    left = 0;  // if there is nothing to do
    auto const end_of_round = [&](inference::Progress const& now) {
      if (first < 0) first = std::max<std::int64_t>(0, now.done - options.told_every);
      left = total - now.done;
      line.update(now.done - first, total - first);
      return false;
    };
    try {
      chains = chains.state.empty() ? begin(options, end_of_round)
                                    : go_on(chains, options, end_of_round);
    } catch (Stopped const&) {
      break;
    }
    if (interrupted()) break;
    double const seconds = seconds_since(round);
    if (seconds < 0.7) options.told_every *= 2;
    if (seconds > 2) options.told_every = std::max<std::int64_t>(1, options.told_every / 2);
    if (left > 0 && seconds_since(saved) > 30) {
      files.write(chains);
      saved = Clock::now();
    }
  }
  if (!chains.state.empty()) files.write(chains);
  return chains;
}

template <class Exec>
Chains draw_by_chees(Exec const& exec, CellsSettings const& settings, Whitened const& whitened,
                     random::Key const& key, Starts const& starts, Chains chains,
                     ChainsFiles& files) {
  WhitenedBatch<Exec> const target(exec, *whitened.posterior, whitened, settings.chains);
  return draw_in_rounds(
      settings, std::move(chains), files,
      [&](auto const& options, auto const& on_progress) {
        return inference::chees(exec, key, target, starts, options, on_progress);
      },
      [&](Chains const& so_far, auto const& options, auto const& on_progress) {
        return inference::chees(exec, target, so_far, options, on_progress);
      });
}

Chains draw_by_nuts(CellsSettings const& settings, Whitened const& target, random::Key const& key,
                    Starts const& starts, Chains chains, ChainsFiles& files) {
  Kokkos::DefaultHostExecutionSpace const exec;
  return draw_in_rounds(
      settings, std::move(chains), files,
      [&](auto const& options, auto const& on_progress) {
        return inference::nuts(exec, key, target, starts, options, on_progress);
      },
      [&](Chains const& so_far, auto const& options, auto const& on_progress) {
        return inference::nuts(exec, target, so_far, options, on_progress);
      });
}

}  // namespace

Chains chains_to_go_on_with(CellsSettings const& settings, Forecast const& forecast) {
  if (settings.restart.empty()) return {};
  Chains chains = read_newest(settings.restart, survey_text(settings, forecast));
  expects(chains.draws.shape()[1] <= settings.draws,
          "--draws must be at least those that " + settings.restart.string() + " has, " +
              std::to_string(chains.draws.shape()[1]),
          settings.draws);
  return chains;
}

Chains draw_chains(Place place, CellsSettings const& settings, Forecast const& forecast,
                   Chains chains) {
  Whitened const target{std::make_shared<Posterior const>(settings, forecast), forecast.fiducial,
                        root_of(forecast.covariance)};
  auto const n = static_cast<std::int64_t>(forecast.parameters.size());
  random::Key const seed = random::key(static_cast<std::uint64_t>(settings.seed));
  auto const key = random::fold_in(seed, 2);
  Starts const starts = random::normal<double, Kokkos::HostSpace>(random::fold_in(seed, 1),
                                                                  {settings.chains, n}, 0, 0.5);
  // Draws and statistics, while they are copied into longer ones
  std::int64_t const bytes = settings.chains * settings.draws * 2 *
                             (n + std::int64_t(Chains::statistics_of_a_draw)) *
                             static_cast<std::int64_t>(sizeof(double));
  if (bytes > free_bytes<Kokkos::HostSpace>())
    throw ResourceError("the draws need " + readable_bytes(bytes) + " of memory, and " +
                        readable_bytes(free_bytes<Kokkos::HostSpace>()) +
                        " are free: lower --chains or --draws");
  ChainsFiles files(settings.output, survey_text(settings, forecast));
  if (settings.sampler == Sampler::nuts)
    chains = draw_by_nuts(settings, target, key, starts, std::move(chains), files);
  else
    chains = compute_on(place, [&](auto const& exec) {
      return draw_by_chees(exec, settings, target, key, starts, std::move(chains), files);
    });
  auto& draws = chains.draws;
  for (std::int64_t chain = 0; chain < draws.extent(0); ++chain)
    for (std::int64_t draw = 0; draw < draws.extent(1); ++draw) {
      double* const z = draws.data() + (chain * draws.extent(1) + draw) * n;
      auto const x = target.parameters(z);
      std::copy(x.begin(), x.end(), z);
    }
  return chains;
}

}  // namespace coir::apps::cells
