#pragma once

#include "before_kokkos_ends.hpp"
#include "engine.hpp"

#include <coir/distributed/group.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace coir::distributed::detail {

/// Adds one to connections_opened().
void count_connection();
/// Adds one to memory_opened().
void count_memory();

/// A transport and the reason for it.
struct Choice {
  Transport transport = Transport::none;
  std::string reason;
  bool is_asked_for = false;  ///< by COIR_TRANSPORT
  bool checked = false;       ///< exchanges by it
};

struct GroupState {
  std::unique_ptr<Engine> engine;     ///< none: one rank
  std::shared_ptr<GroupState> whole;  ///< the group that this one is a part of
  int under_way = 0;                  ///< exchanges
  std::map<std::string, Traffic, std::less<>> traffic;
  double seconds = 0;  ///< of the host in exchanges
  std::optional<Choice> on_host, on_device;
  std::shared_ptr<void> nccl;  ///< see nccl.hpp
  std::shared_ptr<void> peer;  ///< see peer.hpp

  // Locking memory takes milliseconds, so that it is kept.
  std::shared_ptr<void> staging;
  std::int64_t staging_bytes = 0;
  std::unique_ptr<BeforeKokkosEnds> frees_staging;

  int rank() const { return engine ? engine->rank() : 0; }
  int size() const { return engine ? engine->size() : 1; }
};

/// Adds the time of a block to a group's, and to those of the groups that it is a part of.
class AddSeconds {
 public:
  explicit AddSeconds(GroupState& group) : group_(group) {}
  ~AddSeconds() {
    double const seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    for (GroupState* one = &group_; one != nullptr; one = one->whole.get()) one->seconds += seconds;
  }
  AddSeconds(AddSeconds const&) = delete;
  AddSeconds& operator=(AddSeconds const&) = delete;

 private:
  GroupState& group_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace coir::distributed::detail
