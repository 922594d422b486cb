#pragma once

/// \file
/// The state that copies of a group share.

#include "engine.hpp"

#include <coir/distributed/group.hpp>

#include <chrono>
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

/// Adds the time of a block to a sum.
class AddSeconds {
 public:
  explicit AddSeconds(double& sum) : sum_(sum) {}
  ~AddSeconds() {
    sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  AddSeconds(AddSeconds const&) = delete;
  AddSeconds& operator=(AddSeconds const&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct GroupState {
  std::unique_ptr<Engine> engine;  ///< none: one rank
  bool under_way = false;
  std::map<std::string, Traffic, std::less<>> traffic;
  double seconds = 0;  ///< of the host in exchanges
  std::optional<Choice> on_host, on_device;
  std::shared_ptr<void> nccl;  ///< see nccl.hpp

  // Locking memory takes milliseconds, so that it is kept. It must go before Kokkos does.
  std::shared_ptr<void> staging;
  std::int64_t staging_bytes = 0;

  int rank() const { return engine ? engine->rank() : 0; }
  int size() const { return engine ? engine->size() : 1; }
};

}  // namespace coir::distributed::detail
