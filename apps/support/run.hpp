#pragma once

/// The frame of every application: arguments, Kokkos, errors, exit code.

#include <support/backend.hpp>
#include <support/command_line.hpp>
#include <support/exit_codes.hpp>

#include <functional>

namespace coir::distributed {
class Group;
}

namespace coir::apps {

/// Runs an application and returns what main() returns.
///
/// Parses the command line, then starts Kokkos (so that --help and --version need no device), calls
/// `body`, and stops Kokkos again. Arguments that begin with --kokkos- go to Kokkos if it knows
/// them, all others to `line`; --backend, --help and --version are added. Whatever goes wrong ends
/// in one line on stderr, "NAME: error: ...", and in the code that exit_codes.hpp gives for it. So
/// do SIGINT, SIGTERM and SIGHUP, within a second (see interrupt.hpp). A build for a device that
/// finds none says so in a line, unless there is a --quiet and it is given, and runs on the cores.
/// Copies that a launcher such as mpirun started are refused: each would do all of the work.
///
/// \param line  with the application's name, options and examples
/// \param body  the application itself; called between the start and the end of Kokkos with where
/// it is to compute, for
///              compute_on()
int run(CommandLine& line, int argc, char** argv, std::function<ExitCode(Place)> const& body);

/// Runs an application on several ranks: `body` is called on each, with the group of all. If
/// something goes wrong on any rank, one line says so, and all of them end.
int run_on_ranks(CommandLine& line, int argc, char** argv,
                 std::function<ExitCode(Place, distributed::Group const&)> const& body);

/// Runs an application on the cores in every build, without --backend.
int run_on_cores(CommandLine& line, int argc, char** argv, std::function<ExitCode()> const& body);

/// Runs an application without Kokkos. For those that compute nothing themselves, and need no
/// device.
int run_without_kokkos(CommandLine& line, int argc, char** argv,
                       std::function<ExitCode()> const& body);

}  // namespace coir::apps
