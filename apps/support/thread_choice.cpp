#include <support/processors.hpp>
#include <support/thread_choice.hpp>

#include <coir/core/threads.hpp>
#include <coir/distributed/session.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

namespace coir::apps {

namespace {

ThreadChoice made_choice(int asked_for) {
  if (asked_for > 0) return {asked_for, "--kokkos-num-threads", {}};
  for (char const* const name : {"KOKKOS_NUM_THREADS", "OMP_NUM_THREADS"})
    if (std::getenv(name) != nullptr) return {0, name, {}};
  return choose_threads(processors_offered());
}

}  // namespace

std::vector<int> first_of_each_core(std::vector<int> const& usable,
                                    std::filesystem::path const& folder) {
  std::vector<int> first;
  std::set<std::string> cores;  // by the processors that share one: "0,64"
  for (int const processor : usable) {
    std::string const core =
        text_in(folder / ("cpu" + std::to_string(processor)) / "topology/thread_siblings_list");
    if (core.empty() || cores.insert(core).second) first.push_back(processor);
  }
  return first;
}

int running_beside(std::string const& loadavg) {
  // "0.20 0.18 0.12 2/240 12345": averages, and how many of all threads run now.
  double average = 0;
  int running = 0;
  std::istringstream text(loadavg);
  return text >> average >> average >> average >> running ? std::max(running - 1, 0) : 0;
}

ProcessorsOffered processors_offered() {
  ProcessorsOffered offered;
  offered.usable = usable_processors();
  offered.cores = first_of_each_core(offered.usable);
  offered.quota = processor_quota();
  bool const all = static_cast<long>(offered.usable.size()) == sysconf(_SC_NPROCESSORS_ONLN);
  if (!all || distributed::launch().size != 1) return offered;
  // What runs at each of several moments keeps a processor busy. Much else runs for a moment.
  constexpr int moments = 5;
  offered.others = std::numeric_limits<int>::max();
  for (int moment = 0; moment < moments && offered.others > 0; ++moment) {
    if (moment > 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    offered.others = std::min(offered.others, running_beside(text_in("/proc/loadavg")));
  }
  return offered;
}

ThreadChoice choose_threads(ProcessorsOffered const& offered) {
  int const cores = static_cast<int>(offered.cores.size());
  if (cores == 0) return {0, "as OpenMP finds them", {}};
  ThreadChoice choice{cores, "physical cores", {}};
  if (offered.usable.size() > offered.cores.size())
    choice.reason += " of " + std::to_string(offered.usable.size()) + " processors";
  bool whole = true;
  if (int const busy = std::min(offered.others, cores / 2); busy > 0) {
    choice.threads -= busy;
    choice.reason += ", without " + std::to_string(busy) + " that other programs keep busy";
    whole = false;
  }
  if (offered.quota && *offered.quota < choice.threads) {
    choice.threads = std::max(1, static_cast<int>(*offered.quota));
    choice.reason = "the quota of this process' control group";
    whole = false;
  }
  if (whole && cores > 1) choice.processors = offered.cores;
  return choice;
}

ThreadChoice const& thread_choice(int asked_for) {
  static ThreadChoice const choice = made_choice(asked_for);
  return choice;
}

}  // namespace coir::apps
