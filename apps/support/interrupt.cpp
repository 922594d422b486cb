#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/text.hpp>

#include <coir/io/atomic_path.hpp>

#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <set>

namespace coir::apps {

namespace {

// The rest of the second is for the system, which takes back the program's memory.
constexpr suseconds_t microseconds_to_end_by_itself = 500'000;
constexpr suseconds_t microseconds_to_write_a_line = 200'000;

constexpr std::array answered = {SIGINT, SIGTERM, SIGHUP};

// Signal handlers read and write these, so they must be free of locks and of destructors.
std::atomic<int> first_signal{0};
std::atomic<bool> line_is_claimed{false};
std::atomic<bool> ends_silently{false};
std::atomic<int> final_code{-1};  // at least 0 once the program is over
std::atomic<int> calls_to_end{0};
std::atomic<char const*> program_name{"coir"};
std::atomic<char const*> activity{"starting"};
std::atomic<char const*> new_folder{nullptr};
std::atomic<char const*> of_files{"what was written is whole"};
static_assert(decltype(activity)::is_always_lock_free &&
              decltype(first_signal)::is_always_lock_free);

/// A copy of a text that lives as long as the program.
char const* kept(std::string const& text) {
  static std::mutex mutex;
  static auto* const texts = new std::set<std::string>;
  std::lock_guard const lock(mutex);
  return texts->insert(one_line(text)).first->c_str();
}

void call_me_in(suseconds_t microseconds) {
  itimerval timer = {};
  timer.it_value.tv_usec = microseconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void put(char*& at, char const* last, char const* text) {
  while (*text != '\0' && at < last) *at++ = *text++;
}

// The handler of the alarm: nobody has ended the program in time.
void end_now(int) {
  int const code = final_code >= 0 ? final_code.load() : interrupt_code();
  if (calls_to_end++ == 0) {
    call_me_in(microseconds_to_write_a_line);  // stderr may be a pipe that nobody reads
    // First the line, so that nobody tells of files that can't be written because they are removed
    // here.
    bool const is_over = final_code >= 0, line_is_mine = !is_over && claim_last_line();
    if (!is_over) {
      io::remove_unfinished();
      if (char const* const folder = new_folder) rmdir(folder);  // which fails if it holds files
    }
    if (!is_over && !line_is_mine)
      return;  // whoever writes it ends the program, or the next alarm does
    if (line_is_mine && !ends_silently) {
      std::array<char, 4096> line;
      char* at = line.data();
      char const* const last = line.data() + line.size() - 1;
      put(at, last, isatty(STDERR_FILENO) == 1 ? "\n" : "");  // below a line of progress
      for (char const* const part :
           {program_name.load(), ": error: stopped while ", activity.load(), "; ", of_files.load()})
        put(at, last, part);
      *at++ = '\n';
      (void)!write(STDERR_FILENO, line.data(), static_cast<std::size_t>(at - line.data()));
    }
  }
  _exit(code);
}

void remember(int signal) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal)) call_me_in(microseconds_to_end_by_itself);
}

}  // namespace

void answer_signals(std::string const& program) {
  program_name = kept(program);
  struct sigaction action = {};
  action.sa_handler = end_now;
  // For the second call, if the first waits for its line to be read; who writes a line meanwhile
  // goes on with it.
  action.sa_flags = SA_NODEFER | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;  // which the parent of this program may have blocked
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);

  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  for (int const signal : answered) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

void be_silent_when_stopped(bool silent) { ends_silently = silent; }

bool interrupted() { return first_signal != 0; }

int signal_that_came() { return first_signal; }

void be_interrupted_by(int signal) { remember(signal); }

int interrupt_code() { return 128 + (interrupted() ? first_signal.load() : SIGINT); }

Activity::Activity(std::string const& doing) : before_(activity.exchange(kept(doing))) {}

Activity::~Activity() {
  if (!interrupted()) activity = before_;  // else this is where the program is being stopped
}

void remove_empty_folder_when_stopped(std::filesystem::path const& folder) {
  static auto* const name = new std::string;
  *name = folder.string();
  new_folder = name->c_str();
}

void say_of_files(std::string const& text) { of_files = kept(text); }

void stop_if_interrupted() {
  if (interrupted())
    throw Failure(ExitCode::interrupted,
                  std::string("stopped while ") + activity.load() + "; " + of_files.load());
}

bool claim_last_line() { return !line_is_claimed.exchange(true); }

void write_last_line(std::string_view line) {
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

void settle(int code) { final_code = code; }

}  // namespace coir::apps
