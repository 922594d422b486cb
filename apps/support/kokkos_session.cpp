#include <device/leave_device_out.hpp>
#include <support/kokkos_session.hpp>
#include <support/options.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/threads.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

namespace coir::apps {

namespace {

constexpr int most_threads = 512;  // that Kokkos has room for on hosts

std::set<std::string> const kokkos_arguments{
    "--kokkos-threads",        "--kokkos-num-threads",     "--kokkos-device-id",
    "--kokkos-tools-libs",     "--kokkos-tools-library",   "--kokkos-tools-args",
    "--kokkos-tune-internals", "--kokkos-disable-warnings"};

/// A message of Kokkos without the names of the functions that it came through.
std::string without_code(std::string text) {
  for (char const* const end : {" Raised by", "Traceback"})
    text.resize(std::min(text.find(end), text.size()));
  return text.starts_with("Error: ") ? text.substr(7) : text;
}

}  // namespace

KokkosArguments take_kokkos_arguments(std::vector<std::string>& arguments) {
  KokkosArguments taken;
  std::vector<std::string> rest;
  for (std::string const& text : arguments) {
    if (rest.empty() || !text.starts_with("--kokkos-")) {
      rest.push_back(text);
      continue;
    }
    std::string const name = text.substr(0, text.find('='));
    std::string const value = text.substr(std::min(name.size() + 1, text.size()));
    expects(kokkos_arguments.contains(name),
            "unknown option " + name + ": what is passed on to Kokkos is " +
                joined({kokkos_arguments.begin(), kokkos_arguments.end()}, ", "));
    if (name == "--kokkos-threads" || name == "--kokkos-num-threads") {
      taken.threads = static_cast<int>(parse_whole_number(name, value, 1, most_threads));
    } else if (name.starts_with("--kokkos-tools-lib")) {
      taken.passed_on.push_back(kokkos_option_for_tools + ("=" + value));
    } else if (name != "--kokkos-disable-warnings") {  // which are always
      if (name == "--kokkos-device-id")
        parse_whole_number(name, value, 0, std::numeric_limits<int>::max());
      taken.passed_on.push_back(text);
    }
  }
  arguments = rest;
  return taken;
}

KokkosSession::KokkosSession(KokkosArguments const& arguments, Backend backend)
    : choice_(choose(backend)) {
  if (choice_.place == Place::cores) leave_device_out();
  fix_thread_count();
  // Named in this way, all versions of Kokkos understand it.
  if (arguments.threads > 0)
    setenv("KOKKOS_NUM_THREADS", std::to_string(arguments.threads).c_str(), /*overwrite=*/1);
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

}  // namespace coir::apps
