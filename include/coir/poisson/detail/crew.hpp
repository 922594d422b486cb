#pragma once

#include <coir/core/kokkos.hpp>
#include <coir/poisson/detail/progress.hpp>
#include <coir/poisson/detail/side_by_side.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

namespace coir::poisson::detail {

/// The threads of one kernel, which take one piece of work after the other from the thread that
/// began it.
///
/// Each kernel of its own would begin and end with all threads of the instance. A thread whose
/// processor another program uses would hold all others up each time. Here a piece waits for the
/// threads that have a part of it alone, and those let others run while they wait.
template <class Exec>
class Crew {
 public:
  explicit Crew(Exec const& exec) : exec_(exec) {}

  /// The most threads that may share a piece.
  int threads() const {
    return members_.empty() ? threads_side_by_side(exec_) : static_cast<int>(members_.size());
  }

  /// Calls work(), whose calls of run() share one kernel. While tools listen each call of run() is
  /// a kernel, with its own label.
  ///
  /// \param threads  the most that any call needs, at most threads()
  template <class Work>
  void stay_for(std::string_view label, int threads, Work const& work) {
    if (threads <= 1 || tool_is_loaded()) return work();
    members_ = std::vector<Member>(static_cast<std::size_t>(threads));
    std::exception_ptr failure;
    run_side_by_side(label, exec_, threads, [&](int thread) {
      if (thread > 0) return serve(thread);
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      for (int other = 1; other < threads; ++other) ask(other, nullptr, nullptr);
    });
    members_.clear();
    if (failure) std::rethrow_exception(failure);
  }

  /// Calls body(0) to body(threads - 1) at the same time, and waits. Outside of stay_for() it is a
  /// kernel.
  ///
  /// \param threads  at most threads()
  /// \param body     must not throw
  template <class Body>
  void run(std::string_view label, int threads, Body const& body) {
    if (members_.empty() || threads == 1) return run_side_by_side(label, exec_, threads, body);
    auto const call = [](void const* what, int thread) {
      (*static_cast<Body const*>(what))(thread);
    };
    for (int other = 1; other < threads; ++other) ask(other, call, &body);
    body(0);
    for (int other = 1; other < threads; ++other)
      wait_for(members_[other].finished, members_[other].asked.load(std::memory_order_relaxed));
  }

 private:
  using Call = void (*)(void const* body, int thread);
  struct alignas(128) Member {
    std::atomic<std::int64_t> asked{0};  // for how many pieces
    Call call = nullptr;                 // of the last one; none ends the service
    void const* body = nullptr;
    Progress finished;
  };

  void ask(int thread, Call call, void const* body) {
    Member& member = members_[thread];
    member.call = call;
    member.body = body;
    member.asked.fetch_add(1, std::memory_order_release);
  }

  void serve(int thread) {
    Member& member = members_[thread];
    for (std::int64_t piece = 1;; ++piece) {
      wait_for(member.asked, piece);
      if (member.call == nullptr) return;
      member.call(member.body, thread);
      member.finished.done.store(piece, std::memory_order_release);
    }
  }

  Exec exec_;
  std::vector<Member> members_;  // without any, nobody stays
};

template <class Exec, class Body>
void run_side_by_side(std::string_view label, Crew<Exec>& crew, int threads, Body const& body) {
  crew.run(label, threads, body);
}

}  // namespace coir::poisson::detail
