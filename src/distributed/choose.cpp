#include "choose.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/machine.hpp>
#include <coir/distributed/sharers.hpp>
#include <coir/distributed/together.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>

namespace coir::distributed::detail {

namespace {

constexpr char const* variable = "COIR_TRANSPORT";

Choice asked_for(Transport transport) { return {transport, "COIR_TRANSPORT asks for it", true}; }

/// The number of different texts on all ranks.
std::size_t different(Group const& group, std::string const& text) {
  auto const all = group.gather(text);
  return std::set<std::string>(all.begin(), all.end()).size();
}

/// The reason why ranks don't have a device each; empty if they do.
std::string why_not_own_devices(Group const& group, std::string const& device) {
  auto const devices = different(group, device);
  if (devices == static_cast<std::size_t>(group.size())) return {};
  return std::to_string(group.size()) + " ranks share " + std::to_string(devices) +
         (devices == 1 ? " device" : " devices");
}

/// The reason why not all ranks can use NCCL; empty if they can.
std::string why_not_all(Group const& group, std::string const& why_not) {
  auto const reasons = group.gather(why_not);
  for (std::size_t rank = 0; rank < reasons.size(); ++rank)
    if (!reasons[rank].empty())
      return reasons[rank] + (rank == 0 ? "" : " on rank " + std::to_string(rank));
  return {};
}

/// The transport that the first rank asks for. Ranks may have different environments.
Transport wanted_by_first(Group const& group) {
  return group.gather(
      together(group, [] { return wanted_transport().value_or(Transport::none); }))[0];
}

}  // namespace

std::optional<Transport> wanted_transport() {
  char const* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return {};
  for (Transport const one : {Transport::mpi, Transport::staged, Transport::nccl, Transport::peer})
    if (text == name_of(one)) return one;
  throw EnvironmentError(std::string("the environment variable ") + variable +
                         " must be mpi, staged, nccl or peer, not '" + text +
                         "': correct it, or unset it");
}

Group borrowed(GroupState const& state) {
  return Group(std::shared_ptr<GroupState>(const_cast<GroupState*>(&state), [](auto*) {}));
}

Choice choose_on_host(GroupState const& state) {
  if (!state.engine) return {Transport::none, "one rank"};
  Group const group = borrowed(state);
  Transport const wanted = wanted_by_first(group);
  std::string const name(name_of(wanted));
  switch (wanted) {
    case Transport::staged: return asked_for(wanted);
    case Transport::nccl:
    case Transport::peer:
      together(group, [&] {
        if (visible_devices() == 0 || device_is_left_out())
          throw EnvironmentError(variable + ("=" + name) +
                                 ", which carries memory of GPUs, and this program computes on "
                                 "cores: unset it");
      });
      return {Transport::mpi, name + " carries memory of GPUs alone"};
    default: return {Transport::mpi, "MPI reads the host's memory"};
  }
}

std::string machine_identity() {
  std::string identity;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), identity);
  return identity;
}

int ranks_of_memory(Group const& group, std::string const& device) {
  std::string const here = machine_identity() + '/' + device;
  auto const all = group.gather(here);
  return static_cast<int>(std::count(all.begin(), all.end(), here));
}

Choice choose_on_device(GroupState const& state, Place const& place,
                        std::set<Transport> const& failed) {
  if (!state.engine) return {Transport::none, "one rank"};
  Group const group = borrowed(state);
  Transport const wanted = wanted_by_first(group);
  auto const machines = different(group, place.machine);
  std::string const shared = why_not_own_devices(group, place.device);
  auto const why_no_nccl = [&] {
    std::string const no_library = why_not_all(group, place.why_no_nccl());
    return no_library.empty() ? shared : no_library;
  };
  switch (wanted) {
    case Transport::peer:
      if (machines > 1)
        throw EnvironmentError(std::string(variable) + "=peer, but ranks run on " +
                               std::to_string(machines) +
                               " machines: start them on one, or unset it");
      return asked_for(wanted);
    case Transport::nccl:
      if (std::string const no_nccl = why_no_nccl(); !no_nccl.empty())
        throw EnvironmentError(
            std::string(variable) + "=nccl, but " + no_nccl +
            ": give each rank a device of its own with the library, or unset it");
      return asked_for(wanted);
    case Transport::none:
      if (!shared.empty()) return {Transport::staged, shared};
      if (failed.count(Transport::peer) == 0 && machines == 1)
        return {Transport::peer, "each rank has a device of its own in one machine"};
      if (failed.count(Transport::nccl) == 0 && why_no_nccl().empty())
        return {Transport::nccl, "each rank has a device of its own"};
      return {Transport::staged, "devices have no other way to each other"};
    default: return asked_for(wanted);
  }
}

}  // namespace coir::distributed::detail
