#include "child.hpp"

#include <support/interrupt.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#include <cstdlib>  // says whether this is glibc
#if defined(__linux__) && defined(__GLIBC__)
#include <sched.h>
#endif

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace coir::apps::compare {

namespace {

#if defined(__linux__) && defined(__GLIBC__)

// The cores that this program was started on. OpenMP's runtime binds the thread that loads it to
// one core if OMP_PROC_BIND is set, and programs that are started would inherit that. Before main()
// no constructor has run, so that this is plain data.
constinit cpu_set_t cores = {};
constinit bool are_known = false;

void remember_cores(int, char**, char**) {
  are_known = sched_getaffinity(0, sizeof cores, &cores) == 0;
}

// Functions in this section of a program run before the constructors of its libraries.
__attribute__((section(".preinit_array"),
               used)) void (*const before_libraries)(int, char**, char**) = remember_cores;

void return_to_cores_at_start() {
  if (are_known) sched_setaffinity(0, sizeof cores, &cores);
}

#else

void return_to_cores_at_start() {}

#endif

struct Pipe {
  int end = -1;    // to read from
  int start = -1;  // to write to

  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw ResourceError("can't make a pipe: " + std::string(std::strerror(errno)) +
                          ": close other programs, or raise ulimit -n");
    end = ends[0], start = ends[1];
  }
  ~Pipe() {
    close_end();
    close_start();
  }
  Pipe(Pipe const&) = delete;
  Pipe& operator=(Pipe const&) = delete;

  void close_end() {
    if (end >= 0) close(end);
    end = -1;
  }
  void close_start() {
    if (start >= 0) close(start);
    start = -1;
  }
};

// Between fork() and exec() nothing may allocate.
[[noreturn]] void become(char* const* arguments, int output, int errors, pid_t parent) {
  return_to_cores_at_start();
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever ends this program ends the other, too
  if (getppid() != parent) _exit(127);
#else
  (void)parent;
#endif
  std::signal(SIGXFSZ, SIG_DFL);
  int const nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execv(arguments[0], arguments);
  char const* const why = std::strerror(errno);
  (void)!write(STDERR_FILENO, why, std::strlen(why));
  _exit(127);
}

/// A process, ended when this goes unless it was waited for.
struct Process {
  pid_t id;
  int status = 0;
  ~Process() {
    if (id <= 0) return;
    kill(id, SIGKILL);
    wait();
  }
  int wait() {
    while (id > 0 && waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    id = 0;
    return status;
  }
};

/// Reads what is there. False at the end.
bool read_some(int from, std::string& text) {
  std::array<char, 65536> buffer;
  ssize_t const count = read(from, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

std::string last_line(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return one_line(text.substr(text.rfind('\n') + 1));  // npos + 1 is 0
}

}  // namespace

std::string ChildOutcome::how_it_ended() const {
  if (WIFSIGNALED(status)) {
    int const signal = WTERMSIG(status);
    std::string const cause =
        signal == SIGKILL ? "; the system does that when memory is short" : "";
    return "was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")" + cause;
  }
  std::string const said = last_line(errors);
  return "ended with code " + std::to_string(WEXITSTATUS(status)) +
         (said.empty() ? "" : ": " + said);
}

ChildOutcome run_child(std::vector<std::string> const& command,
                       std::function<void(std::string const&)> const& watch) {
  stop_if_interrupted();
  std::vector<char*> arguments;
  for (auto const& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  Pipe output, errors;
  pid_t const parent = getpid();
  Process process{fork()};
  if (process.id == 0) become(arguments.data(), output.start, errors.start, parent);
  if (process.id < 0)
    throw ResourceError("can't start " + command.front() + ": " +
                        std::string(std::strerror(errno)) + ": close other programs");
  output.close_start();
  errors.close_start();

  ChildOutcome outcome;
  while (output.end >= 0 || errors.end >= 0) {
    std::array<pollfd, 2> ends{{{output.end, POLLIN, 0}, {errors.end, POLLIN, 0}}};
    constexpr int milliseconds = 100;
    poll(ends.data(), ends.size(), milliseconds);  // negative ones are passed over
    stop_if_interrupted();
    if (ends[0].revents != 0 && !read_some(output.end, outcome.output)) output.close_end();
    if (ends[1].revents != 0 && !read_some(errors.end, outcome.errors)) errors.close_end();
    if (watch) watch(outcome.output);
  }
  outcome.status = process.wait();
  stop_if_interrupted();  // Ctrl-C on a terminal ends the other program, too
  return outcome;
}

}  // namespace coir::apps::compare
