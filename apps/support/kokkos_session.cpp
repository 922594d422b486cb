#include <support/captured_errors.hpp>
#include <support/kokkos_session.hpp>
#include <support/options.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/threads.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>

namespace coir::apps {

namespace {

constexpr int most_threads = 1'000'000;  // more than any limit, which is told when they are started

struct KokkosOption {
  enum Kind { number, text, flag };
  std::string_view name;
  Kind kind;
};

constexpr KokkosOption kokkos_options[] = {{"--kokkos-threads", KokkosOption::number},
                                           {"--kokkos-num-threads", KokkosOption::number},
                                           {"--kokkos-device-id", KokkosOption::number},
                                           {"--kokkos-tools-library", KokkosOption::text},
                                           {"--kokkos-tools-libs", KokkosOption::text},
                                           {"--kokkos-tools-args", KokkosOption::text},
                                           {"--kokkos-tune-internals", KokkosOption::flag},
                                           {"--kokkos-disable-warnings", KokkosOption::flag}};

KokkosOption const& kokkos_option_named(std::string const& name) {
  std::string known;
  for (auto const& option : kokkos_options) {
    if (option.name == name) return option;
    known += (known.empty() ? "" : ", ") + std::string(option.name);
  }
  throw PreconditionError("unknown option " + name + ": what is passed on to Kokkos is " + known);
}

/// \throws EnvironmentError unless each library of a list with semicolons can be loaded
void expects_loadable_tools(std::string const& libraries) {
  std::istringstream rest(libraries);
  for (std::string library; std::getline(rest, library, ';');)
    if (!library.empty() && dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
      throw EnvironmentError("the tool for Kokkos can't be loaded (" + std::string(dlerror()) +
                             "): name a library that is there, or none");
}

/// \throws EnvironmentError if there are environment variables that Kokkos would refuse in words for programmers, or
///                          more threads than OpenMP's runtime counts without an overflow
void expects_usable_variables() {
  if (char const* const text = std::getenv("OMP_NUM_THREADS"))
    if (std::strtod(text, nullptr) > most_threads)
      throw EnvironmentError("OMP_NUM_THREADS is far above what any machine can start, '" +
                             std::string(text) + "': ask for fewer threads");
  for (std::string const name :
       {"KOKKOS_NUM_THREADS", "KOKKOS_NUMA", "KOKKOS_DEVICE_ID", "KOKKOS_NUM_DEVICES",
        "KOKKOS_SKIP_DEVICE", "KOKKOS_RAND_DEVICES", "OMPI_COMM_WORLD_LOCAL_RANK",
        "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"})
    if (char const* const value = std::getenv(name.c_str())) try {
        parse_whole_number("the environment variable " + name, value,
                           name == "KOKKOS_NUM_THREADS" ? 1 : 0, most_threads);
      } catch (PreconditionError const& error) {
        throw EnvironmentError(std::string(error.what()) + ": correct it, or unset it");
      }
  // Kokkos 3.4 looks for a device other than the only one for ever.
  if (std::getenv("KOKKOS_RAND_DEVICES") != nullptr)
    for (char const* const name : {"KOKKOS_NUM_DEVICES", "KOKKOS_SKIP_DEVICE"})
      if (std::getenv(name) != nullptr)
        throw EnvironmentError("the environment variables KOKKOS_RAND_DEVICES and " +
                               std::string(name) + " exclude each other: unset one");
  for (char const* const name : {"KOKKOS_PROFILE_LIBRARY", "KOKKOS_TOOLS_LIBS"})
    if (char const* const libraries = std::getenv(name)) expects_loadable_tools(libraries);
}

/// The environment variable for OpenMP that a line speaks of; empty if there is none.
std::string variable_named_in(std::string const& line) {
  std::string found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view const setting = *entry;
    std::string const name(setting.substr(0, setting.find('=')));
    bool const is_for_openmp =
        name.starts_with("OMP_") || name.starts_with("GOMP_") || name.starts_with("KMP_");
    // The longest, since OMP_NUM_TEAMS is part of OMP_NUM_TEAMS_MAX.
    if (is_for_openmp && name.size() > found.size() && line.find(name) != std::string::npos)
      found = name;
  }
  return found;
}

/// A message of Kokkos without the names of the functions that it came through.
std::string without_code(std::string text) {
  for (char const* const end : {" Raised by", "Traceback"})
    text.resize(std::min(text.find(end), text.size()));
  return text.starts_with("Error: ") ? text.substr(7) : text;
}

int wanted_threads(KokkosArguments const& arguments) {
  if (arguments.threads > 0) return arguments.threads;
  char const* const variable = std::getenv("KOKKOS_NUM_THREADS");
  return variable == nullptr ? 0 : std::atoi(variable);
}

void expects_usable_threads(int threads) {
  // Some runtimes read their variables when they are first called.
  CapturedErrors captured;
  expects_startable_threads(threads);
  expects_no_complaint(captured.text());
}

}  // namespace

KokkosArguments take_kokkos_arguments(std::vector<std::string>& arguments) {
  KokkosArguments taken;
  std::set<std::string> seen;
  std::vector<std::string> rest;
  for (std::string const& text : arguments) {
    if (rest.empty() || !text.starts_with("--kokkos-")) {
      rest.push_back(text);
      continue;
    }
    std::string const name = text.substr(0, text.find('='));
    KokkosOption const& option = kokkos_option_named(name);
    expects(seen.insert(name).second, name + " was given twice: give it once");
    bool const has_value = name.size() < text.size();
    expects(has_value == (option.kind != KokkosOption::flag),
            name + (has_value ? " takes no value" : " takes a value: write " + name + "=..."));
    std::string const value = has_value ? text.substr(name.size() + 1) : "";
    if (name == "--kokkos-threads" || name == "--kokkos-num-threads")
      taken.threads = static_cast<int>(parse_whole_number(name, value, 1, most_threads));
    else if (name == "--kokkos-tools-library" || name == "--kokkos-tools-libs")
      taken.passed_on.push_back(kokkos_option_for_tools + ("=" + value));
    else if (name != "--kokkos-disable-warnings")
      taken.passed_on.push_back(text);
    if (name == "--kokkos-device-id")
      parse_whole_number(name, value, 0, std::numeric_limits<int>::max());
    if (name.starts_with("--kokkos-tools-lib")) expects_loadable_tools(value);
  }
  arguments = rest;
  return taken;
}

KokkosSession::KokkosSession(KokkosArguments const& arguments, Backend backend,
                             std::string const& said_before_main) {
  expects_no_complaint(said_before_main);
  expects_usable_variables();
  int const threads = wanted_threads(arguments);
  expects_usable_threads(threads);
  // Behind the threads, which are tried in a child process: drivers start some of their own.
  choice_ = choose(backend);
  if (choice_.place == Place::cores) leave_device_out();
  // Named in this way, all versions of Kokkos understand it.
  if (threads > 0) setenv("KOKKOS_NUM_THREADS", std::to_string(threads).c_str(), /*overwrite=*/1);
  setenv("KOKKOS_DISABLE_WARNINGS", "true", /*overwrite=*/1);
  // Threads that OpenMP doesn't bind are bound below.
  bool const user_decides = std::getenv("OMP_PROC_BIND") != nullptr;
  setenv("OMP_PROC_BIND", "false", /*overwrite=*/0);

  std::vector<std::string> words = arguments.passed_on;
  words.insert(words.begin(), "coir");
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(words.size());
  try {
    Kokkos::initialize(count, pointers.data());
  } catch (std::exception const& error) {
    throw EnvironmentError("Kokkos can't start: " + without_code(error.what()));
  }
  if (!user_decides) bind_host_threads();
}

KokkosSession::~KokkosSession() { Kokkos::finalize(); }

void expects_no_complaint(std::string const& said) {
  std::istringstream lines(said);
  std::string others;
  for (std::string line; std::getline(lines, line);) {
    bool const by_gnu = line.starts_with("libgomp: "), by_llvm = line.starts_with("OMP: ");
    bool const is_warning = by_gnu || line.starts_with("OMP: Warning ");
    std::string const variable = is_warning ? variable_named_in(line) : "";
    if (!variable.empty())
      throw EnvironmentError("the environment variable " + variable +
                             " holds what OpenMP doesn't understand, '" +
                             std::getenv(variable.c_str()) + "': correct it, or unset it");
    if (by_gnu)
      throw EnvironmentError("OpenMP doesn't understand an environment variable of its own (" +
                             line.substr(line.find(' ') + 1) +
                             "): correct those that begin with OMP_ or GOMP_, or unset them");
    // The other lines of LLVM's runtime are advice for programmers, apart from those that KMP_AFFINITY=verbose and
    // OMP_DISPLAY_ENV ask for.
    if (!by_llvm || line.starts_with("OMP: Info ")) others += line + '\n';
  }
  if (others.find_first_not_of('\n') != std::string::npos) std::cerr << others;
}

}  // namespace coir::apps
