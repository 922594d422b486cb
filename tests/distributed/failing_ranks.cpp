// A program whose ranks do what its argument says, for failing_test.cpp.

#include <coir/core/kokkos.hpp>
#include <coir/distributed/session.hpp>

#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using coir::distributed::Session;

/// In one write, for ranks speak at the same time.
void say(std::exception const& error) {
  std::cerr << "program: " + std::string(error.what()) + "\n" << std::flush;
}

/// A ring in which all wait for all.
void exchange(coir::distributed::Group const& group) {
  int const ranks = group.size(), rank = group.rank();
  Kokkos::View<double[2], Kokkos::HostSpace> const numbers("numbers");
  group.exchange(
      Exec(), "test", std::vector<coir::distributed::Send>{{(rank + 1) % ranks, numbers.data(), 8}},
      std::vector<coir::distributed::Receive>{{(rank + ranks - 1) % ranks, numbers.data() + 1, 8}});
}

void throw_while_others_exchange(coir::distributed::Group const& group) {
  if (group.rank() == group.size() - 1) throw std::runtime_error("the last rank has failed");
  exchange(group);
}

void run(std::string const& what, int argc, char** argv) {
  if (what == "kokkos_first") {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    Session const session(argc, argv);
  } else if (what == "two_sessions") {
    Session const session(argc, argv), second(argc, argv);
  } else if (what == "group_after_session") {
    std::optional<Session> session(std::in_place, argc, argv);
    Kokkos::ScopeGuard const kokkos(argc, argv);
    auto const world = session->world();
    session.reset();
    exchange(world);
  } else if (what == "throw") {
    Session const session(argc, argv);
    Kokkos::ScopeGuard const kokkos(argc, argv);
    throw_while_others_exchange(session.world());
  } else {
    Session const session(argc, argv);
    Kokkos::ScopeGuard const kokkos(argc, argv);
    try {
      if (what == "throw_and_catch") throw_while_others_exchange(session.world());
      exchange(session.world());
    } catch (std::exception const& error) {
      say(error);
      coir::distributed::abort_all(5);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "", argc, argv);
    return 0;
  } catch (std::exception const& error) {
    say(error);
    return 3;
  }
}
