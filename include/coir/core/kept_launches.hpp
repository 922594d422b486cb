#pragma once

/// Launches of kernels on a host that are kept, to be made again by each run of a recording.

#include <coir/core/errors.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coir::detail {

class KeptLaunches {
 public:
  template <class Launch>
  void keep(Launch const& launch) {
    launches_.push_back(std::make_unique<LaunchOf<Launch>>(launch));
  }
  void run() const {
    for (auto const& launch : launches_) launch->run();
  }

 private:
  struct AnyLaunch {
    virtual ~AnyLaunch() = default;
    virtual void run() const = 0;
  };
  template <class Launch>
  struct LaunchOf final : AnyLaunch {
    Launch launch;
    explicit LaunchOf(Launch const& given) : launch(given) {}
    void run() const override { launch(); }
  };
  std::vector<std::unique_ptr<AnyLaunch>> launches_;
};

/// Where launches of this host thread are kept; nullptr if they are made at once.
inline thread_local KeptLaunches* kept_launches = nullptr;

/// Refuses what the host waits for while launches are kept: it would see numbers from before.
///
/// \throws PreconditionError while record() records
inline void expects_no_recording(std::string_view label) {
  if (kept_launches)
    throw PreconditionError("the host waits for the reduction " + std::string(label) +
                            ", which can't be recorded by record(): do it between two runs");
}

/// During its lifetime launches of this host thread on hosts are kept.
class WhileKeepingLaunches {
 public:
  explicit WhileKeepingLaunches(KeptLaunches* launches)
      : before_(std::exchange(kept_launches, launches)) {}
  ~WhileKeepingLaunches() { kept_launches = before_; }
  WhileKeepingLaunches(WhileKeepingLaunches const&) = delete;
  WhileKeepingLaunches& operator=(WhileKeepingLaunches const&) = delete;

 private:
  KeptLaunches* before_;
};

/// Calls `launch`, or keeps a copy. It holds what the launch needs by value.
template <class Launch>
void launch_on_host(Launch const& launch) {
  if (kept_launches)
    kept_launches->keep(launch);
  else
    launch();
}

/// Calls launch(body), or keeps copies of both. A body that isn't kept isn't copied.
template <class Body, class Launch>
void launch_on_host(Body const& body, Launch const& launch) {
  if (kept_launches)
    kept_launches->keep([body, launch] { launch(body); });
  else
    launch(body);
}

}  // namespace coir::detail
