#include <support/run.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/threads.hpp>
#include <coir/core/version.hpp>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace coir::apps {

namespace {

/// The command line, split between the application and Kokkos.
struct Arguments {
  std::vector<char*> own;
  std::vector<char*> kokkos;

  Arguments(int argc, char** argv) {
    for (int i = 0; i < argc; ++i) {
      bool const is_kokkos = std::string_view(argv[i]).starts_with("--kokkos-");
      if (i == 0 || !is_kokkos) own.push_back(argv[i]);
      if (i == 0 || is_kokkos) kokkos.push_back(argv[i]);
    }
    own.push_back(nullptr);
    kokkos.push_back(nullptr);
  }
};

/// Kokkos, started and stopped.
class KokkosSession {
 public:
  explicit KokkosSession(std::vector<char*>& arguments) {
    expects_usable_device();
    // Kokkos warns when OMP_PROC_BIND is unset. We bind the threads ourselves, so it needn't.
    bool const user_decides = std::getenv("OMP_PROC_BIND") != nullptr;
    setenv("OMP_PROC_BIND", "false", /*overwrite=*/0);
    int argc = static_cast<int>(arguments.size()) - 1;
    try {
      Kokkos::initialize(argc, arguments.data());
    } catch (std::exception const& error) {
      throw EnvironmentError(std::string("Kokkos can't start: ") + error.what());
    }
    if (!user_decides) bind_host_threads();
  }
  ~KokkosSession() { Kokkos::finalize(); }
  KokkosSession(KokkosSession const&) = delete;
  KokkosSession& operator=(KokkosSession const&) = delete;
};

std::string version_text(std::string const& name) {
  std::string text = name + " " + version + " (Kokkos " + kokkos_version() + ",";
  for (auto const& backend : compiled_backends()) text += " " + backend;
  return text + ")";
}

/// Number of single-character edits that turn one word into another.
std::size_t edit_distance(std::string const& from, std::string const& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      std::size_t const replaced = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string unknown_argument(CLI::App const& app, std::string const& argument) {
  std::string const help = app.get_name() + " --help lists what there is";
  if (!argument.starts_with("-")) return "one argument too many: " + argument + "; " + help;

  std::string const name = argument.substr(0, argument.find('='));
  std::string const nearest = nearest_option(app, name);
  return "unknown option " + name + (nearest.empty() ? "; " : ": did you mean " + nearest + "? ") +
         help;
}

/// Options given more often than once, in words; empty if there are none.
std::string repeated_options(CLI::App const& app) {
  for (CLI::Option const* option : app.get_options()) {
    auto const values = static_cast<std::size_t>(std::max(option->get_expected_max(), 1));
    if (option->count() >= 2 * values)
      return option->get_name() + " was given " + std::to_string(option->count() / values) +
             " times: give it once";
  }
  return {};
}

void parse(CLI::App& app, std::vector<char*>& arguments) {
  app.parse(static_cast<int>(arguments.size()) - 1, arguments.data());
  if (std::string const repeated = repeated_options(app); !repeated.empty())
    throw PreconditionError(repeated);
}

int fail(CLI::App const& app, ExitCode code, std::string const& message) {
  std::cout.flush();
  std::cerr << app.get_name() << ": error: " << one_line(message) << '\n';
  return static_cast<int>(code);
}

/// Kokkos reports a failed allocation by exceptions of types that differ between its versions.
bool is_allocation_failure(std::string_view message) {
  return message.find("failed to allocate") != std::string_view::npos ||
         message.find("Allocation") != std::string_view::npos;
}

ExitCode run_unguarded(CLI::App& app, int argc, char** argv,
                       std::function<ExitCode()> const& body) {
  Arguments arguments(argc, argv);
  parse(app, arguments.own);
  KokkosSession const kokkos(arguments.kokkos);
  return body();
}

void flush_output() {
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0)
    throw ResourceError("can't write to the standard output: is its disk full?");
}

}  // namespace

std::string nearest_option(CLI::App const& app, std::string const& name) {
  std::string nearest;
  std::size_t distance = 3;
  for (CLI::Option const* option : app.get_options())
    for (std::string const& known : option->get_lnames())
      if (std::size_t const d = edit_distance(name, "--" + known); d < distance) {
        nearest = "--" + known;
        distance = d;
      }
  return nearest;
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
  auto const is_second_space = [](char a, char b) { return a == ' ' && b == ' '; };
  text.erase(std::unique(text.begin(), text.end(), is_second_space), text.end());
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string explain(CLI::App const& app, CLI::ParseError const& error) {
  if (std::string const repeated = repeated_options(app); !repeated.empty()) return repeated;
  auto const extras = app.remaining();
  if (dynamic_cast<CLI::ExtrasError const*>(&error) && !extras.empty())
    return unknown_argument(app, extras.front());
  return std::string(error.what()) + "; see " + app.get_name() + " --help";
}

int run(CLI::App& app, int argc, char** argv, std::function<ExitCode()> const& body) {
  std::signal(SIGXFSZ,
              SIG_IGN);  // a limit on file sizes is then an error of the write, like a full disk
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", version_text(app.get_name()), "Print the version and exit");
  try {
    ExitCode const code = run_unguarded(app, argc, argv, body);
    flush_output();
    return static_cast<int>(code);
  } catch (CLI::CallForHelp const&) {
    std::cout << app.help() << std::flush;
    return 0;
  } catch (CLI::CallForVersion const& version) {
    std::cout << version.what() << std::endl;
    return 0;
  } catch (CLI::ParseError const& error) {
    return fail(app, ExitCode::usage, explain(app, error));
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
    return fail(app, ExitCode::resources, "out of memory: use a smaller input or single precision");
  } catch (std::exception const& error) {
    ExitCode const code =
        is_allocation_failure(error.what()) ? ExitCode::resources : ExitCode::unexpected;
    return fail(app, code, error.what());
  }
}

}  // namespace coir::apps
