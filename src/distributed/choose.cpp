#include "choose.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/machine.hpp>
#include <coir/distributed/together.hpp>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>

namespace coir::distributed::detail {

namespace {

constexpr char const* variable = "COIR_TRANSPORT";

/// The reason why not all ranks can use NCCL; empty if they can.
std::string why_not_all(Group const& group, std::string const& device, std::string const& why_not) {
  auto const reasons = group.gather(why_not);
  for (std::size_t rank = 0; rank < reasons.size(); ++rank)
    if (!reasons[rank].empty())
      return reasons[rank] + (rank == 0 ? "" : " on rank " + std::to_string(rank));
  auto const devices = group.gather(device);
  std::set<std::string> const different(devices.begin(), devices.end());
  if (different.size() < devices.size())
    return std::to_string(devices.size()) + " ranks share " + std::to_string(different.size()) +
           (different.size() == 1 ? " device" : " devices");
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
  for (Transport const one : {Transport::mpi, Transport::staged, Transport::nccl})
    if (text == name_of(one)) return one;
  throw EnvironmentError(std::string("the environment variable ") + variable +
                         " must be mpi, staged or nccl, not '" + text +
                         "': correct it, or unset it");
}

Group borrowed(GroupState const& state) {
  return Group(std::shared_ptr<GroupState>(const_cast<GroupState*>(&state), [](auto*) {}));
}

Choice choose_on_host(GroupState const& state) {
  if (!state.engine) return {Transport::none, "one rank"};
  Group const group = borrowed(state);
  switch (wanted_by_first(group)) {
    case Transport::staged: return {Transport::staged, std::string(variable) + " asks for it"};
    case Transport::nccl:
      together(group, [] {
        if (visible_devices() == 0 || device_is_left_out())
          throw EnvironmentError(std::string(variable) +
                                 "=nccl, which carries memory of GPUs, and this program computes "
                                 "on cores: unset it");
      });
      return {Transport::mpi, "NCCL carries memory of GPUs alone"};
    default: return {Transport::mpi, "MPI reads the host's memory"};
  }
}

Choice choose_on_device(GroupState const& state, std::string const& device,
                        std::string const& why_not) {
  if (!state.engine) return {Transport::none, "one rank"};
  Group const group = borrowed(state);
  Transport const wanted = wanted_by_first(group);
  std::string const reason = why_not_all(group, device, why_not);
  switch (wanted) {
    case Transport::nccl:
      if (!reason.empty())
        throw EnvironmentError(
            std::string(variable) + "=nccl, but " + reason +
            ": give each rank a device of its own with the library, or unset it");
      return {Transport::nccl, std::string(variable) + " asks for it"};
    case Transport::none:
      if (reason.empty()) return {Transport::nccl, "each rank has a device of its own"};
      return {Transport::staged, reason};
    default: return {wanted, std::string(variable) + " asks for it"};
  }
}

}  // namespace coir::distributed::detail
