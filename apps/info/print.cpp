#include "print.hpp"

#include "describe.hpp"

#include <support/compute_on.hpp>
#include <support/interrupt.hpp>
#include <support/processors.hpp>
#include <support/thread_choice.hpp>

#include <coir/core/other_programs.hpp>
#include <coir/core/threads.hpp>
#include <coir/distributed/together.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <thread>

namespace coir::apps {

namespace {

std::optional<double> processors_of_others() {
  OtherPrograms const others;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  return others.processors();
}

}  // namespace

ExitCode print_description(Place place, distributed::Group const& world, bool measure, bool json) {
  distributed::expects_alike(world, {{"--measure", measure}, {"--json", json}});
  Description description;
  description.machine = describe_machine();
  description.processors.quota = processor_quota();
  description.reason_for_threads = thread_choice().reason;
  if (measure && world.is_first()) {
    Activity const measuring("measuring the machine's limits");
    if (world.size() == 1)  // other ranks would spin while they wait
      description.processors.others = processors_of_others();
    description.limits = compute_on(place, [](auto const& exec) { return measure_limits(exec); });
    if (world.size() == 1 && place == Place::cores) {
      description.by_threads = measure_by_threads();
      if (auto const& processors = thread_choice().processors; !processors.empty()) {
        use_processors(processors);  // for the threads that start again
        bind_host_threads(processors);
      }
    }
    description.cache_bytes =
        compute_on(place, [](auto const& exec) { return last_level_cache_bytes(exec); });
  }
  if (world.size() > 1) {
    Activity const measuring("measuring the links between ranks");
    auto const go_on = [] { return !interrupted(); };
    description.ranks = compute_on(
        place, [&](auto const& exec) { return describe_ranks(exec, world, measure, go_on); });
  }
  stop_if_interrupted();
  if (!world.is_first()) return ExitCode::success;
  if (json)
    std::cout << as_json(description).dump(2) << '\n';
  else
    std::cout << as_text(description);
  return ExitCode::success;
}

}  // namespace coir::apps
