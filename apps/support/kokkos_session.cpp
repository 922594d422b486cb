#include <device/leave_device_out.hpp>
#include <support/kokkos_session.hpp>
#include <support/options.hpp>
#include <support/thread_choice.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/threads.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace coir::apps {

namespace {

constexpr int most_threads = 512;  // that Kokkos has room for on hosts

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
    std::string const name = text.substr(0, text.find('='));
    std::string const value = text.substr(std::min(name.size() + 1, text.size()));
    if (rest.empty() || !text.starts_with("--kokkos-"))
      rest.push_back(text);
    else if (name == "--kokkos-threads" || name == "--kokkos-num-threads")
      taken.threads = static_cast<int>(parse_whole_number(name, value, 1, most_threads));
    else if (name == "--kokkos-device-id")
      taken.device =
          static_cast<int>(parse_whole_number(name, value, 0, std::numeric_limits<int>::max()));
    else
      throw PreconditionError("unknown option " + name +
                              ": those of Kokkos are --kokkos-num-threads and --kokkos-device-id");
  }
  arguments = rest;
  return taken;
}

KokkosSession::KokkosSession(KokkosArguments const& arguments, Backend backend)
    : choice_(choose(backend)) {
  if (choice_.place == Place::cores) leave_device_out();
  fix_thread_count();
  // Named in this way, all versions of Kokkos understand them.
  ThreadChoice const& choice = thread_choice(arguments.threads);
  if (choice.threads > 0)
    setenv("KOKKOS_NUM_THREADS", std::to_string(choice.threads).c_str(), /*overwrite=*/1);
  if (arguments.device >= 0)
    setenv("KOKKOS_DEVICE_ID", std::to_string(arguments.device).c_str(), /*overwrite=*/1);
  setenv("KOKKOS_DISABLE_WARNINGS", "true", /*overwrite=*/1);
  // Threads that OpenMP doesn't bind are bound below.
  bool const user_decides = std::getenv("OMP_PROC_BIND") != nullptr;
  setenv("OMP_PROC_BIND", "false", /*overwrite=*/0);
  char program[] = "coir";
  char* words[] = {program, nullptr};
  int count = 1;
  try {
    Kokkos::initialize(count, words);
  } catch (std::exception const& error) {
    throw EnvironmentError("Kokkos can't start: " + without_code(error.what()));
  }
  if (!user_decides)
    bind_host_threads(choice.processors.empty() ? usable_processors() : choice.processors);
}

KokkosSession::~KokkosSession() { Kokkos::finalize(); }

}  // namespace coir::apps
