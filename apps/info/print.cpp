#include "print.hpp"

#include "describe.hpp"

#include <support/compute_on.hpp>
#include <support/interrupt.hpp>

#include <coir/distributed/together.hpp>

#include <iostream>

namespace coir::apps {

ExitCode print_description(Place place, distributed::Group const& world, bool measure, bool json) {
  distributed::expects_alike(world, {{"--measure", measure}, {"--json", json}});
  Description description{describe_machine(), {}, {}};
  auto const go_on = [] { return !interrupted(); };
  if (measure && world.is_first()) {
    Activity const measuring("measuring the machine's limits");
    description.limits =
        compute_on(place, [&](auto const& exec) { return measure_limits(exec, go_on); });
  }
  if (world.size() > 1) {
    Activity const measuring("measuring the links between ranks");
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
