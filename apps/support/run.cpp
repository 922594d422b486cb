#include <support/command_line.hpp>
#include <support/interrupt.hpp>
#include <support/kokkos_session.hpp>
#include <support/memory_plan.hpp>
#include <support/messages.hpp>
#include <support/run.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/version.hpp>

#include <coir/distributed/session.hpp>
#include <coir/distributed/together.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace coir::apps {

namespace {

std::string version_text(std::string const& name) {
  std::string text = name + " " + version + " (Kokkos " + kokkos_version() + ",";
  for (auto const& backend : compiled_backends()) text += " " + backend;
  return text + ")";
}

/// Opens stdin, stdout and stderr where whoever started the program closed them, so that no other
/// file takes their numbers and gets what is printed. open() takes the lowest number that is free.
void open_standard_streams() {
  for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Waits a while for the first rank to report a failure. Often all ranks fail alike: then the first
/// one reports it, and ends the others while they wait here.
void let_first_rank_speak(ExitCode failure) {
  if (distributed::launch().rank == 0) return;
  if (failure == ExitCode::interrupted) claim_last_line();
  std::signal(SIGTERM, SIG_DFL);
  std::this_thread::sleep_for(std::chrono::seconds(3));
}

int fail(CommandLine const& line, ExitCode failure, std::string const& message) {
  let_first_rank_speak(failure);
  int const code = failure == ExitCode::interrupted ? interrupt_code() : static_cast<int>(failure);
  std::cout.flush();
  if (claim_last_line())
    write_last_line(line.name() + ": error: " + shortened(one_line(message)) + '\n');
  settle(code);
  return code;
}

constexpr char out_of_memory[] = "out of memory: use a smaller input or single precision";

/// Kokkos reports a failed allocation by exceptions of types that differ between its versions.
bool is_allocation_failure(std::string_view message) {
  return message.find("failed to allocate") != std::string_view::npos ||
         message.find("Allocation") != std::string_view::npos;
}

void flush_output() {
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0)
    throw ResourceError("can't write to the standard output: is its disk full?");
}

/// The arguments that a program was started with.
struct Arguments {
  KokkosArguments for_kokkos{};
  CommandLine::Wish wish{};
};

/// \throws PreconditionError, or as the application's options, for one that isn't understood
Arguments parse(CommandLine& line, int argc, char** argv, bool takes_kokkos_arguments) {
  std::vector<std::string> arguments(argv, argv + argc);
  Arguments taken;
  if (takes_kokkos_arguments) taken.for_kokkos = take_kokkos_arguments(arguments);
  taken.wish = line.parse(arguments);
  return taken;
}

/// Runs all of an application, and turns what it throws into its line and exit code.
int run_guarded(CommandLine& line, std::function<ExitCode()> const& body) {
  open_standard_streams();
  keep_large_blocks_apart();
  // A limit on file sizes is then an error of the write, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    answer_signals(line.name());
    line.add_help_and_version(version_text(line.name()));
    ExitCode const code = body();
    flush_output();
    if (interrupted())
      throw Failure(ExitCode::interrupted, "stopped when all was done; what was written is whole");
    settle(static_cast<int>(code));
    return static_cast<int>(code);
  } catch (Failure const& failure) {
    return fail(line, failure.code(), failure.what());
  } catch (PreconditionError const& error) {
    return fail(line, ExitCode::usage, error.what());
  } catch (InputError const& error) {
    return fail(line, ExitCode::input, error.what());
  } catch (ResourceError const& error) {
    return fail(line, ExitCode::resources, error.what());
  } catch (NumericalError const& error) {
    return fail(line, ExitCode::numerical, error.what());
  } catch (EnvironmentError const& error) {
    return fail(line, ExitCode::environment, error.what());
  } catch (std::bad_alloc const&) {
    return fail(line, ExitCode::resources, out_of_memory);
  } catch (std::filesystem::filesystem_error const& error) {
    return fail(line, ExitCode::resources,
                error.path1().string() + ": " + error.code().message() +
                    ": check the path, and the folder that this runs in");
  } catch (std::exception const& error) {
    if (is_allocation_failure(error.what())) return fail(line, ExitCode::resources, out_of_memory);
    return fail(line, ExitCode::unexpected, error.what());
  }
}

/// run_guarded() for one rank: what its command line asks for, by `body` if that is its work.
///
/// \param backend  of --backend; null: there is no such option
int run_alone(CommandLine& line, int argc, char** argv, bool takes_kokkos_arguments,
              Backend* backend, std::function<ExitCode(KokkosArguments const&)> const& body) {
  return run_guarded(line, [&] {
    if (backend != nullptr) add_backend(line, *backend);
    auto const [for_kokkos, wish] = parse(line, argc, argv, takes_kokkos_arguments);
    if (wish.option.empty()) return body(for_kokkos);
    if (distributed::launch().rank == 0) std::cout << wish.text;
    return ExitCode::success;
  });
}

void expects_one_copy(CommandLine const& line) {
  auto const launched = distributed::launch();
  if (launched.size > 1 || launched.rank > 0)
    throw EnvironmentError(line.name() + " runs on one rank, and " + launched.launcher +
                           " started " +
                           (launched.size > 0 ? std::to_string(launched.size) : "several") +
                           " copies, each of which would do all of the work: start one");
}

/// Collective.
ExitCode start_and_run(CommandLine const& line, distributed::Group const& ranks,
                       KokkosArguments const& for_kokkos, Backend backend,
                       std::function<ExitCode(Place)> const& body) {
  auto const kokkos = distributed::together(
      ranks, [&] { return std::make_unique<KokkosSession>(for_kokkos, backend); });
  auto const& [place, warning] = kokkos->choice();
  if (!warning.empty() && !line.is_on("--quiet") && distributed::launch().rank == 0)
    std::cerr << line.name() << ": warning: " << one_line(warning) << '\n';
  Activity const working("working");
  return body(place);
}

}  // namespace

int run(CommandLine& line, int argc, char** argv, std::function<ExitCode(Place)> const& body) {
  Backend backend = Backend::automatic;
  return run_alone(line, argc, argv, true, &backend, [&](KokkosArguments const& for_kokkos) {
    expects_one_copy(line);
    return start_and_run(line, distributed::Group::self(), for_kokkos, backend, body);
  });
}

int run_on_ranks(CommandLine& line, int argc, char** argv,
                 std::function<ExitCode(Place, distributed::Group const&)> const& body) {
  Backend backend = Backend::automatic;
  // Outlives what is thrown: the first rank's line comes before the end of all.
  std::optional<distributed::Session> session;
  int const code = run_guarded(line, [&] {
    add_backend(line, backend);
    // Before the command line is read: where that of one rank is wrong, the others hear of it.
    auto const launched = distributed::launch();
    bool const connects = launched.size != 1 && distributed::has_mpi();
    // A launcher stops those who wait for a rank that has ended before it was here, with a line of
    // its own.
    be_silent_when_stopped(connects || launched.rank > 0);
    if (connects) session.emplace(argc, argv);
    be_silent_when_stopped(launched.rank > 0);
    auto const world = connects ? session->world() : distributed::Group::self();
    auto const taken = distributed::together(world, [&] { return parse(line, argc, argv, true); });
    auto const& wish = taken.wish;
    auto const given = [&](char const* name) {
      return wish.option == name ? "given" : "not given";
    };
    distributed::expects_alike(world, {{"program", version_text(line.name())},
                                       {"--help", given("--help")},
                                       {"--version", given("--version")}});
    if (!wish.option.empty()) {
      if (launched.rank == 0) std::cout << wish.text;
      return ExitCode::success;
    }
    if (!connects) session.emplace(argc, argv);
    return start_and_run(line, world, taken.for_kokkos, backend, [&](Place place) {
      // By itself a rank takes the cores where it finds no device.
      distributed::expects_alike(world, {{"--backend", place == Place::device ? "gpu" : "cpu"}});
      return body(place, world);
    });
  });
  if (code != 0 && session && session->world().size() > 1) distributed::abort_all(code);
  return code;
}

int run_on_cores(CommandLine& line, int argc, char** argv, std::function<ExitCode()> const& body) {
  return run_alone(line, argc, argv, true, nullptr, [&](KokkosArguments const& for_kokkos) {
    expects_one_copy(line);
    KokkosSession const kokkos(for_kokkos, Backend::cpu);
    Activity const working("working");
    return body();
  });
}

int run_without_kokkos(CommandLine& line, int argc, char** argv,
                       std::function<ExitCode()> const& body) {
  return run_alone(line, argc, argv, false, nullptr, [&](KokkosArguments const&) {
    expects_one_copy(line);
    Activity const working("working");
    return body();
  });
}

}  // namespace coir::apps
