#include "peers.hpp"

#include "child.hpp"

#include <compare/json_place.hpp>
#include <support/interrupt.hpp>
#include <support/report.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

namespace coir::apps::compare {

namespace fs = std::filesystem;

namespace {

struct Script {
  char const* peer;
  char const* file;
  char const* option;
  bool is_automatic;
};

constexpr std::array scripts = {Script{"numpy", "table_numpy.py", "", true},
                                Script{"numba", "table_numba.py", "", true},
                                Script{"jax", "table_jax.py", "", true},
                                Script{"cupy", "table_cupy.py", "", true},
                                Script{"torch", "table_torch.py", "", true},
                                Script{"cupy-kernels", "table_cupy.py", "--kernels", false},
                                Script{"numba-cuda", "table_numba_cuda.py", "", false}};

Script const* script_of(std::string const& peer) {
  auto const is_it = [&](Script const& script) { return script.peer == peer; };
  auto const found = std::find_if(scripts.begin(), scripts.end(), is_it);
  return found == scripts.end() ? nullptr : &*found;
}

std::string all_peers() {
  std::vector<std::string> names;
  for (Script const& script : scripts) names.emplace_back(script.peer);
  return joined(names, ", ");
}

/// Asks a peer; what is wrong with it is put into `problem`.
std::optional<Peer> ask(Script const& script, std::string const& python, std::string& problem) {
  fs::path const file = fs::path(COIR_PEERS) / script.file;
  std::vector<std::string> command{"/usr/bin/env", python, file.string()};
  if (*script.option != '\0') command.emplace_back(script.option);
  auto question = command;
  question.emplace_back("--about");
  auto const outcome = run_child(question);
  if (!outcome.succeeded()) {
    problem = outcome.how_it_ended();
    return {};
  }
  auto const json = object_in(outcome.output);
  if (!json.contains("version") || !json.contains("device") || !json.contains("rows")) {
    problem = "didn't say what it is";
    return {};
  }
  return Peer{script.peer, json["version"].get<std::string>(), json["device"].get<std::string>(),
              command, json["rows"].get<std::vector<std::string>>()};
}

}  // namespace

void set_peers(PeerSettings& settings, std::string const& text) {
  settings.none = text == "none";
  settings.names.clear();
  if (settings.none || text == "auto") return;
  for (auto const& name : split(text, ',')) {
    expects(script_of(name) != nullptr,
            "--peers must be auto, none or, with commas between them, some of " + all_peers(),
            "'" + text + "'");
    expects(std::find(settings.names.begin(), settings.names.end(), name) == settings.names.end(),
            "--peers names each peer once", "'" + text + "'");
    settings.names.push_back(name);
  }
}

std::vector<Peer> find_peers(PeerSettings const& settings, std::vector<std::string>& notes) {
  if (settings.none) return {};
  Activity const asking("looking for peers");
  std::vector<Peer> peers;
  std::vector<std::string> missing;
  std::string problem;
  for (Script const& script : scripts) {
    auto const& names = settings.names;
    bool const is_named = std::find(names.begin(), names.end(), script.peer) != names.end();
    if (!is_named && (!names.empty() || !script.is_automatic)) continue;
    std::string why;
    if (auto peer = ask(script, settings.python, why)) {
      peers.push_back(std::move(*peer));
      continue;
    }
    if (is_named)
      throw EnvironmentError(
          "the peer " + std::string(script.peer) + " can't run, its script " + why +
          ": install it as bench/peers/README.md says, name a Python that has it "
          "(--python), or leave it out of --peers");
    missing.emplace_back(script.peer);
    if (problem.empty()) problem = missing.front() + " " + why;
  }
  if (peers.empty())
    notes.push_back("No peers: " + settings.python + " has none of " + joined(missing, ", ") +
                    " (" + problem + ").");
  return peers;
}

}  // namespace coir::apps::compare
