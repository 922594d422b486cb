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

/// Starts MPI if a launcher started this process, and chooses this rank's device and cores. If the
/// caller has called MPI_Init, it uses that MPI. Without a launcher and without MPI it starts
/// nothing, and world() is the calling process alone.
///
/// Make one Session at the beginning of main, before Kokkos starts; it must end after Kokkos.
/// Groups that outlive it can't exchange any more. run() makes a Session, and reports errors.
///
///     coir::distributed::Session const session(argc, argv);
///     Kokkos::ScopeGuard const kokkos(argc, argv);
///     auto const world = session.world();
///
/// If an exception destroys the Session on one of several ranks, all ranks end with code 1, because
/// the others may be waiting for this one. A catch outside the Session's scope is never reached. To
/// report the error first, use run(), or catch it inside the scope and call abort_all().
///
/// Two variables for Kokkos are set unless the environment has them. KOKKOS_DEVICE_ID becomes the
/// number of the rank in its machine modulo the number of visible devices. KOKKOS_NUM_THREADS
/// becomes the rank's share of the cores that the process may use. If ranks of a machine may use
/// the same cores, each gets cores of its own.
class Session {
 public:
  /// \throws PreconditionError if the program has had a Session, Kokkos has started, or MPI has
  ///   ended
  /// \throws EnvironmentError if a launcher started several processes and this build has no MPI, or
  ///   MPI has another number of processes
  Session(int& argc, char**& argv);
  ~Session();
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;

  /// The group of all ranks.
  Group world() const;
  /// The number of this rank among the local_size() ranks of its machine.
  int local_rank() const;
  int local_size() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Ends all ranks at once, if one of them can't go on. Without a Session it ends the process.
[[noreturn]] void abort_all(int exit_code);

namespace detail {
int run(int& argc, char**& argv, std::function<int(Session&)> const& body);
}

/// Runs a program on its ranks: makes the Session, starts Kokkos, calls body(session), and ends
/// both. Returns the exit code for main().
///
///     int main(int argc, char** argv) {
///       return coir::distributed::run(argc, argv, [](coir::distributed::Session& session) { ...
///       });
///     }
///
/// An exception on any rank is reported in one line on the standard error stream, "PROGRAM: error
/// on rank 2: ...", and then ends all ranks with code 1. An exception that all ranks throw, as by
/// together(), is reported by the first one.
///
/// \param body  returns the exit code, or nothing for 0. A code other than 0 on one rank doesn't
///   end the others
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
/// \throws PreconditionError unless MPI runs, or if the communicator is MPI_COMM_NULL
/// \throws EnvironmentError if this build has no MPI
Group group_of(int fortran_handle);

}  // namespace coir::distributed
