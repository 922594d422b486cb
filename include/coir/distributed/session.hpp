#pragma once

/// \file
/// The start and the end of a program on several ranks.

#include <coir/distributed/group.hpp>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace coir::distributed {

/// The launcher (mpirun, mpiexec, srun) that started this process, as the environment describes it.
struct Launch {
  std::string launcher;  ///< in words; empty: no launcher
  int rank = 0;          ///< number of this process
  int size =
      1;  ///< processes that it started; 0: the environment doesn't say, and MPI has to be asked
};

Launch launch();

/// Whether this build has MPI.
bool has_mpi();

/// Starts MPI where a launcher started this process, and chooses this rank's device and cores. Where MPI runs already, by the
/// caller's own MPI_Init, it asks that. Without a launcher and without MPI it starts nothing, and world() is the calling process alone.
///
/// One object, at the beginning of main, before Kokkos starts; it ends behind Kokkos. Groups that outlive it can't exchange
/// any more. run() makes one, and reports errors.
///
///     coir::distributed::Session const session(argc, argv);
///     Kokkos::ScopeGuard const kokkos(argc, argv);
///     auto const world = session.world();
///
/// If an exception destroys it on one of several ranks, it ends all of them with code 1, for the others may be waiting for this
/// one: a catch outside of the Session's scope is never reached then. To report the error first use run(), or catch it inside and
/// call abort_all().
///
/// Unless the environment already says otherwise, it sets for Kokkos KOKKOS_DEVICE_ID, to the number of the rank in its
/// machine modulo the number of visible devices, and KOKKOS_NUM_THREADS, to its share of the cores that the process may use;
/// where ranks of a machine may use the same cores, each is given its own.
class Session {
 public:
  /// \throws PreconditionError if it is the program's second one, or Kokkos has started
  /// \throws PreconditionError after MPI_Finalize
  /// \throws EnvironmentError if a launcher started several processes and this build has no MPI, or MPI knows of
  /// another number
  Session(int& argc, char**& argv);
  ~Session();
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;

  /// The group of all ranks.
  Group world() const;
  /// The number of this rank among the ranks of its machine; below, how many these are.
  int local_rank() const;
  int local_size() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Ends all ranks at once, where one of them can't go on and the others wait for it. Without a session it ends the process.
[[noreturn]] void abort_all(int exit_code);

namespace detail {
int run(int& argc, char**& argv, std::function<int(Session&)> const& body);
}

/// Runs a program on its ranks, and returns what main() returns: makes the Session, starts Kokkos, calls body(session), and ends
/// both.
///
///     int main(int argc, char** argv) {
///       return coir::distributed::run(argc, argv, [](coir::distributed::Session& session) { ... });
///     }
///
/// An exception on any rank is reported in one line on the standard error stream, "PROGRAM: error on rank 2: ...", and then ends all
/// ranks with code 1. What all ranks throw alike, as together() has them do, the first one reports.
///
/// \param body  gives the exit code, or nothing for 0; a code other than 0 on one rank doesn't end the others
template <class Body>
int run(int& argc, char**& argv, Body&& body) {
  return detail::run(argc, argv, [&](Session& session) {
    if constexpr (std::is_void_v<decltype(body(session))>) {
      body(session);
      return 0;
    } else {
      return static_cast<int>(body(session));
    }
  });
}

/// A group of the ranks of a caller's own communicator, which is duplicated. Collective over it.
///
/// \param fortran_handle  MPI_Comm_c2f(communicator), so that users of this header need no mpi.h
/// \throws PreconditionError unless MPI runs, or if it is MPI_COMM_NULL, which ranks get that MPI_Comm_split leaves out
/// \throws EnvironmentError if this build has no MPI
Group group_of(int fortran_handle);

}  // namespace coir::distributed
