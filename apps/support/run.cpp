#include <support/errors_before_main.hpp>
#include <support/interrupt.hpp>
#include <support/kokkos_session.hpp>
#include <support/memory_plan.hpp>
#include <support/messages.hpp>
#include <support/run.hpp>
#include <support/standard_streams.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/version.hpp>

#include <coir/distributed/session.hpp>
#include <coir/distributed/together.hpp>

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

/// What has failed on this rank has often failed on all, and then the first one tells of it, and ends the others while they are
/// here.
void let_first_rank_speak(ExitCode failure) {
  if (distributed::launch().rank == 0) return;
  if (failure == ExitCode::interrupted) claim_last_line();
  std::signal(SIGTERM, SIG_DFL);
  std::this_thread::sleep_for(std::chrono::seconds(3));
}

int fail(CLI::App const& app, ExitCode failure, std::string const& message) {
  let_first_rank_speak(failure);
  int const code = failure == ExitCode::interrupted ? interrupt_code() : static_cast<int>(failure);
  std::cout.flush();
  if (claim_last_line())
    std::cerr << app.get_name() << ": error: " << shortened(one_line(message)) << '\n';
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

bool is_quiet(CLI::App const& app) {
  CLI::Option const* const quiet = app.get_option_no_throw("--quiet");
  return quiet != nullptr && quiet->count() > 0 && quiet->as<bool>();
}

/// A command line that was understood.
struct CommandLine {
  KokkosArguments for_kokkos{};
  std::string wish{};  ///< "--help", "--version"; empty: that the application does its work
  std::string text{};  ///< what these print
};

/// \throws PreconditionError, or as the application's options, for one that isn't understood
CommandLine parse(CLI::App& app, int argc, char** argv, bool takes_kokkos_arguments) {
  std::vector<char*> arguments(argv, argv + argc);
  arguments.push_back(nullptr);
  std::string help = "--help";
  for (char*& argument : arguments) {
    if (argument == nullptr || std::string_view(argument) == "--") break;
    if (std::string_view(argument) == "-h") argument = help.data();
  }
  CommandLine line;
  if (takes_kokkos_arguments) line.for_kokkos = take_kokkos_arguments(arguments);
  std::string const misused = misused_option(*part_in_use(&app, arguments), arguments);
  expects(misused.empty(), misused);
  try {
    app.parse(static_cast<int>(arguments.size()) - 1, arguments.data());
  } catch (CLI::CallForHelp const&) {
    line.wish = help;
    line.text = app.help();
  } catch (CLI::CallForVersion const& version) {
    line.wish = "--version";
    line.text = version.what() + std::string("\n");
  } catch (CLI::ParseError const& error) {
    throw PreconditionError(explain(app, error));
  }
  return line;
}

/// Runs all of an application, and turns what it throws into its line and exit code.
int run_guarded(CLI::App& app, std::function<ExitCode()> const& body) {
  open_standard_streams();
  keep_large_blocks_apart();
  answer_signals(app.get_name());
  std::signal(SIGXFSZ,
              SIG_IGN);  // a limit on file sizes is then an error of the write, like a full disk
  app.get_option("--help")->description("Print this help and exit");
  app.set_version_flag("--version", version_text(app.get_name()), "Print the version and exit");
  try {
    ExitCode const code = body();
    flush_output();
    settle(static_cast<int>(code));
    if (interrupted())
      throw Failure(ExitCode::interrupted, "stopped when all was done; what was written is whole");
    return static_cast<int>(code);
  } catch (Failure const& failure) {
    return fail(app, failure.code(), failure.what());
  } catch (PreconditionError const& error) {
    return fail(app, ExitCode::usage, error.what());
  } catch (InputError const& error) {
    return fail(app, ExitCode::input, error.what());
  } catch (ResourceError const& error) {
    return fail(app, ExitCode::resources, error.what());
  } catch (NumericalError const& error) {
    return fail(app, ExitCode::numerical, error.what());
  } catch (EnvironmentError const& error) {
    return fail(app, ExitCode::environment, error.what());
  } catch (std::bad_alloc const&) {
    return fail(app, ExitCode::resources, out_of_memory);
  } catch (std::filesystem::filesystem_error const& error) {
    return fail(app, ExitCode::resources,
                error.path1().string() + ": " + error.code().message() +
                    ": check the path, and the folder that this runs in");
  } catch (std::exception const& error) {
    if (is_allocation_failure(error.what())) return fail(app, ExitCode::resources, out_of_memory);
    return fail(app, ExitCode::unexpected, error.what());
  }
}

/// run_guarded() for one rank: what its command line asks for, by `body` if that is its work.
int run_alone(CLI::App& app, int argc, char** argv, bool takes_kokkos_arguments,
              std::function<ExitCode(KokkosArguments const&)> const& body) {
  return run_guarded(app, [&] {
    CommandLine const line = parse(app, argc, argv, takes_kokkos_arguments);
    if (line.wish.empty()) return body(line.for_kokkos);
    if (distributed::launch().rank == 0) std::cout << line.text;
    return ExitCode::success;
  });
}

void expects_one_copy(CLI::App const& app) {
  auto const launched = distributed::launch();
  if (launched.size > 1)
    throw EnvironmentError(app.get_name() + " runs on one rank, and " + launched.launcher +
                           " started " + std::to_string(launched.size) +
                           " copies, each of which would do all of the work: start one");
}

/// Collective.
ExitCode start_and_run(CLI::App const& app, distributed::Group const& ranks,
                       KokkosArguments const& for_kokkos, Backend backend,
                       std::string const& said_before_main,
                       std::function<ExitCode(Place)> const& body) {
  auto const kokkos = distributed::together(ranks, [&] {
    return std::make_unique<KokkosSession>(for_kokkos, backend, said_before_main);
  });
  auto const& [place, warning] = kokkos->choice();
  if (!warning.empty() && !is_quiet(app) && distributed::launch().rank == 0)
    std::cerr << app.get_name() << ": warning: " << one_line(warning) << '\n';
  Activity const working("working");
  return body(place);
}

}  // namespace

int run(CLI::App& app, int argc, char** argv, std::function<ExitCode(Place)> const& body) {
  std::string const said_before_main = errors_before_main();
  Backend backend = Backend::automatic;
  add_backend(app, backend);
  return run_alone(app, argc, argv, true, [&](KokkosArguments const& for_kokkos) {
    expects_one_copy(app);
    return start_and_run(app, distributed::Group::self(), for_kokkos, backend, said_before_main,
                         body);
  });
}

int run_on_ranks(CLI::App& app, int argc, char** argv,
                 std::function<ExitCode(Place, distributed::Group const&)> const& body) {
  std::string const said_before_main = errors_before_main();
  Backend backend = Backend::automatic;
  add_backend(app, backend);
  // Outlives what is thrown: the first rank's line comes before the end of all.
  std::optional<distributed::Session> session;
  int const code = run_guarded(app, [&] {
    // Before the command line is read: where that of one rank is wrong, the others hear of it.
    auto const launched = distributed::launch();
    bool const connects = launched.size > 1 && distributed::has_mpi();
    // A launcher stops those who wait for a rank that has ended before it was here, with a line of its own.
    be_silent_when_stopped(connects || launched.rank > 0);
    if (connects) session.emplace(argc, argv);
    be_silent_when_stopped(launched.rank > 0);
    auto const world = connects ? session->world() : distributed::Group::self();
    CommandLine const line =
        distributed::together(world, [&] { return parse(app, argc, argv, true); });
    auto const given = [&](char const* wish) { return line.wish == wish ? "given" : "not given"; };
    distributed::expects_alike(world, {{"program", version_text(app.get_name())},
                                       {"--help", given("--help")},
                                       {"--version", given("--version")}});
    if (!line.wish.empty()) {
      if (launched.rank == 0) std::cout << line.text;
      return ExitCode::success;
    }
    if (!connects) session.emplace(argc, argv);
    return start_and_run(app, world, line.for_kokkos, backend, said_before_main, [&](Place place) {
      // By itself a rank takes the cores where it finds no device.
      distributed::expects_alike(world, {{"--backend", place == Place::device ? "gpu" : "cpu"}});
      return body(place, world);
    });
  });
  if (code != 0 && session && session->world().size() > 1) distributed::abort_all(code);
  return code;
}

int run_on_cores(CLI::App& app, int argc, char** argv, std::function<ExitCode()> const& body) {
  std::string const said_before_main = errors_before_main();
  return run_alone(app, argc, argv, true, [&](KokkosArguments const& for_kokkos) {
    expects_one_copy(app);
    KokkosSession const kokkos(for_kokkos, Backend::cpu, said_before_main);
    Activity const working("working");
    return body();
  });
}

int run_without_kokkos(CLI::App& app, int argc, char** argv,
                       std::function<ExitCode()> const& body) {
  errors_before_main();  // of OpenMP's runtime, which isn't used
  return run_alone(app, argc, argv, false, [&](KokkosArguments const&) {
    expects_one_copy(app);
    Activity const working("working");
    return body();
  });
}

}  // namespace coir::apps
