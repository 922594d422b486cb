#pragma once

#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/direct.hpp>

#include <support/precision.hpp>
#include <support/progress.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::jacobi {

/// How the image is rebuilt.
enum class Scheme { automatic, plain, arrays, blocked, red_black, cg, multigrid, direct };

/// Every scheme with its name on the command line.
inline std::vector<std::pair<std::string, Scheme>> const schemes = {
    {"auto", Scheme::automatic},      {"plain", Scheme::plain},         {"arrays", Scheme::arrays},
    {"blocked", Scheme::blocked},     {"red-black", Scheme::red_black}, {"cg", Scheme::cg},
    {"multigrid", Scheme::multigrid}, {"direct", Scheme::direct}};

inline std::string jacobi_scheme_name(Scheme scheme) {
  for (auto const& [name, value] : schemes)
    if (value == scheme) return name;
  return "unknown";
}

/// The word for a scheme's iterations. Bandwidths are only told of sweeps, which touch every cell
/// once.
inline std::string iterations_of(Scheme scheme) {
  if (scheme == Scheme::multigrid) return "cycles";
  if (scheme == Scheme::direct) return "solves";
  return scheme == Scheme::cg ? "iterations" : "sweeps";
}
inline bool makes_sweeps(Scheme scheme) { return iterations_of(scheme) == "sweeps"; }

enum class Start { laplacian, zero };

/// The command line, read.
struct JacobiSettings {
  std::filesystem::path input;
  bool input_is_laplacian = false;
  double offset = 0;
  double scale = 1;
  Scheme scheme = Scheme::automatic;
  std::optional<std::int64_t> sweeps;
  std::optional<double> tolerance;
  Start start = Start::laplacian;
  Precision precision = Precision::float32;
  std::filesystem::path output;
  std::filesystem::path output_laplacian;
  std::filesystem::path report;
  std::int64_t repeat = 1;
  bool compare = false;
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;
};

/// The schemes that a run goes through, in this order.
inline std::vector<Scheme> schemes_to_run(JacobiSettings const& settings) {
  if (!settings.compare) return {settings.scheme};
  std::vector<Scheme> all = {Scheme::plain, Scheme::arrays,    Scheme::blocked, Scheme::red_black,
                             Scheme::cg,    Scheme::multigrid, Scheme::direct};
  if (!poisson::has_conjugate_gradients()) std::erase(all, Scheme::cg);
  if (!poisson::has_direct()) std::erase(all, Scheme::direct);
  return all;
}

/// The most sweeps of a scheme, and the relative residual at which it stops.
struct Limits {
  std::int64_t sweeps;
  double tolerance;
};

}  // namespace coir::apps::jacobi
