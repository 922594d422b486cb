// A program whose ranks do what its argument says, for failing_test.cpp.

#include <coir/core/kokkos.hpp>
#include <coir/distributed/session.hpp>
#include <coir/distributed/together.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef COIR_TEST_HAS_MPI
#include <mpi.h>
#endif

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

[[maybe_unused]] void forget_the_launcher() {
  for (char const* const variable :
       {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK"})
    unsetenv(variable);
}

[[maybe_unused]] void expect_three(coir::distributed::Group const& world) {
  if (world.size() != 3 || world.sum(world.rank()) != 3)
    throw std::runtime_error("a rank believes to be one of " + std::to_string(world.size()));
}

/// Programs that distributed::run() starts.
int run_by_itself(std::string const& what, int argc, char** argv) {
  return coir::distributed::run(argc, argv, [&](Session& session) {
    auto const world = session.world();
    if (what == "run/throw") throw_while_others_exchange(world);
    if (what == "run/throw_on_all")
      coir::distributed::together(world, [&] {
        if (!world.is_first()) throw std::runtime_error("a rank has failed");
      });
    if (what == "run/throw_a_number" && world.is_first()) throw 7;  // NOLINT
    if (what == "run/second_session") Session const second(argc, argv);
    exchange(world);
    return what == "run/code" ? 7 : 0;
  });
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
#ifdef COIR_TEST_HAS_MPI
  } else if (what == "own_mpi") {
    // A launcher that nobody knows, and a program that starts MPI itself.
    MPI_Init(&argc, &argv);
    forget_the_launcher();
    unsetenv("PMIX_RANK");
    {
      Session const session(argc, argv);
      expect_three(session.world());
    }
    MPI_Finalize();  // is still this program's to end
  } else if (what == "unknown_launcher") {
    forget_the_launcher();  // but for PMIX_RANK
    Session const session(argc, argv);
    expect_three(session.world());
  } else if (what == "mpi_has_ended") {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    Session const session(argc, argv);
#endif
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
  std::string const what = argc > 1 ? argv[1] : "";
  if (what.starts_with("run/")) return run_by_itself(what, argc, argv);
  try {
    run(what, argc, argv);
    return 0;
  } catch (std::exception const& error) {
    say(error);
    return 3;
  }
}
