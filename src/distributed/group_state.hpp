#pragma once

/// \file
/// The state that copies of a group share.

#include "engine.hpp"

#include <coir/distributed/group.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace coir::distributed::detail {

/// A transport, and the reason for it.
struct Choice {
  Transport transport = Transport::none;
  std::string reason;
};

struct GroupState {
  std::unique_ptr<Engine> engine;  ///< none: one rank
  bool under_way = false;
  std::map<std::string, Traffic, std::less<>> traffic;
  std::optional<Choice> on_host, on_device;
  std::shared_ptr<void> nccl;  ///< see nccl.hpp

  // Locking memory takes milliseconds, so that it is kept. It must go before Kokkos does.
  std::shared_ptr<void> staging;
  std::int64_t staging_bytes = 0;

  int rank() const { return engine ? engine->rank() : 0; }
  int size() const { return engine ? engine->size() : 1; }
};

}  // namespace coir::distributed::detail
