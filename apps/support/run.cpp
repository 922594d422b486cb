#include <support/captured_errors.hpp>
#include <support/interrupt.hpp>
#include <support/kokkos_session.hpp>
#include <support/run.hpp>
#include <support/standard_streams.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/version.hpp>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace coir::apps {

namespace {

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

/// Whether an option is a flag, such as --quiet.
bool is_flag(CLI::Option const& option) { return option.get_expected_min() == 0; }

/// Options given more often than once or beside their opposite, and flags with a value that is neither true nor false:
/// CLI11 passes over some of them. Empty if there are none.
std::string misused_option(CLI::App const& app, std::vector<char*> const& arguments) {
  std::map<CLI::Option const*, int> times;
  for (std::size_t n = 1; n < arguments.size() && arguments[n] != nullptr; ++n) {
    std::string const text = arguments[n], name = text.substr(0, text.find('='));
    if (text == "--") break;
    CLI::Option const* const option =
        text.starts_with("--") ? app.get_option_no_throw(name) : nullptr;
    if (option == nullptr) continue;
    ++times[option];
    std::string const value = text.substr(std::min(text.size(), name.size() + 1));
    if (!is_flag(*option) || name == text) continue;
    if (!option->get_configurable()) return name + " takes no value, such as '" + value + "'";
    if (value != "true" && value != "false")
      return name + " must be true or false, not '" + value + "'";
  }
  for (CLI::Option const* option : app.get_options()) {
    std::string const name = option->get_name();
    if (times[option] > 1)
      return name + " was given " + std::to_string(times[option]) + " times: give it once";
    std::string const opposite = "--no-" + name.substr(std::min<std::size_t>(2, name.size()));
    if (times[option] > 0 && times[app.get_option_no_throw(opposite)] > 0)
      return name + " and " + opposite + " contradict each other: leave one out";
  }
  return {};
}

/// A line without its middle if it is as long as only a name of a file or a value can make it.
std::string shortened(std::string const& line) {
  constexpr std::size_t most = 1000, kept = 450;
  if (line.size() <= most) return line;
  return line.substr(0, kept) + " [...] " + line.substr(line.size() - kept);
}

int fail(CLI::App const& app, ExitCode failure, std::string const& message) {
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

ExitCode run_unguarded(CLI::App& app, int argc, char** argv, std::string const& said_before_main,
                       std::function<ExitCode()> const& body) {
  std::vector<char*> arguments(argv, argv + argc);
  arguments.push_back(nullptr);
  std::string help = "--help";
  for (char*& argument : arguments) {
    if (argument == nullptr || std::string_view(argument) == "--") break;
    if (std::string_view(argument) == "-h") argument = help.data();
  }
  KokkosArguments const for_kokkos = take_kokkos_arguments(arguments);
  std::string const misused = misused_option(app, arguments);
  expects(misused.empty(), misused);
  try {
    app.parse(static_cast<int>(arguments.size()) - 1, arguments.data());
  } catch (CLI::CallForHelp const&) {
    std::cout << app.help();
    return ExitCode::success;
  } catch (CLI::CallForVersion const& version) {
    std::cout << version.what() << '\n';
    return ExitCode::success;
  }
  KokkosSession const kokkos(for_kokkos, said_before_main);
  Activity const working("working");
  return body();
}

}  // namespace

std::string nearest_option(CLI::App const& app, std::string const& name, bool in_files) {
  std::string nearest;
  std::size_t distance = 3;
  for (CLI::Option const* option : app.get_options()) {
    if (in_files && !option->get_configurable()) continue;
    for (std::string const& known : option->get_lnames())
      if (std::size_t const d = edit_distance(name, "--" + known); d < distance) {
        nearest = "--" + known;
        distance = d;
      }
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
  auto const extras = app.remaining();
  if (dynamic_cast<CLI::ExtrasError const*>(&error) && !extras.empty())
    return unknown_argument(app, extras.front());
  return std::string(error.what()) + "; see " + app.get_name() + " --help";
}

int run(CLI::App& app, int argc, char** argv, std::function<ExitCode()> const& body) {
  std::string const said_before_main = errors_before_main();
  open_standard_streams();
  answer_signals(app.get_name());
  std::signal(SIGXFSZ,
              SIG_IGN);  // a limit on file sizes is then an error of the write, like a full disk
  app.get_option("--help")->description("Print this help and exit");
  app.set_version_flag("--version", version_text(app.get_name()), "Print the version and exit");
  try {
    ExitCode const code = run_unguarded(app, argc, argv, said_before_main, body);
    flush_output();
    settle(static_cast<int>(code));
    if (interrupted())
      throw Failure(ExitCode::interrupted, "stopped when all was done; what was written is whole");
    return static_cast<int>(code);
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

}  // namespace coir::apps
