// Sends SIGINT, SIGTERM and SIGHUP to a program at random moments of its run, and checks how it ends: within a second,
// with one line and the signal's exit code, and with files that are whole or weren't touched.
//
//   signal_storm [--count N] [--seed N] [--seconds X] [--scratch FOLDER] [--output FILE]... [--before COMMAND]
//                [--verbose] -- PROGRAM ARGUMENT...
//
// PROGRAM runs in an empty folder, once to its end, then N times with a signal. Each FILE is one that it writes there.
// COMMAND runs in that folder before, for what PROGRAM reads.

#include <support/command.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using coir::testing::read_text;
using Clock = std::chrono::steady_clock;

struct Settings {
  int count = 10;
  unsigned seed = 1;
  double seconds = 1;  // that an answer may take
  std::vector<std::string> outputs;
  std::string before;
  std::string scratch;
  bool verbose = false;
  std::vector<std::string> command;
};

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Starts the command in a folder, with its errors in `errors` and no output.
pid_t start(Settings const& settings, fs::path const& folder, fs::path const& errors) {
  pid_t const child = fork();
  if (child != 0) return child;
  for (int const signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  std::vector<char*> arguments;
  for (auto const& word : settings.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (chdir(folder.c_str()) == 0 && dup2(open("/dev/null", O_RDWR), STDOUT_FILENO) != -1 &&
      dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO) != -1)
    execv(arguments[0], arguments.data());
  _exit(127);
}

/// True if the process catches a signal by now: before its first line of code there is nobody to answer.
bool catches(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigCgt:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  return false;
}

/// True once a process has ended, without taking its status away.
bool has_ended(pid_t process) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == process;
}

class Storm {
 public:
  explicit Storm(Settings settings) : settings_(std::move(settings)), random_(settings_.seed) {
    base_ = settings_.scratch.empty() ? scratch_.path() : fs::path(settings_.scratch);
    folder_ = base_ / "run";
    fs::create_directory(folder_);
    errors_ = base_ / "errors";
    settings_.command[0] = fs::absolute(settings_.command[0]).string();
  }

  /// Runs the program to its end; false if that fails.
  bool rehearse() {
    if (!settings_.before.empty()) {
      std::string const command = "cd '" + folder_.string() + "' && " + settings_.before;
      if (std::system(command.c_str()) != 0) return complain("the command before failed");
    }
    for (auto const& entry : fs::directory_iterator(folder_))
      inputs_.insert(entry.path().filename());
    for (int round = 0; round < 3; ++round) {  // the first one finds caches cold
      clean();
      auto const begin = Clock::now();
      int status = 0;
      waitpid(start(settings_, folder_, errors_), &status, 0);
      if (round > 0) length_ += since(begin) / 2;
      if (status != 0) return complain("undisturbed, it failed: " + read_text(errors_));
    }
    for (auto const& output : settings_.outputs) {
      if (!fs::exists(folder_ / output)) return complain("undisturbed, it didn't write " + output);
      whole_[output] = read_text(folder_ / output);
    }
    std::printf("one run takes %.2f s\n", length_);
    return true;
  }

  void strike(int number) {
    clean();
    bool const has_old = number % 2 == 1;  // whether there is something to lose
    if (has_old)
      for (auto const& output : settings_.outputs) {
        fs::create_directories((folder_ / output).parent_path());
        std::ofstream(folder_ / output) << "old";
      }
    int const signal = std::array{SIGINT, SIGTERM, SIGHUP}[static_cast<std::size_t>(number % 3)];
    double const delay = std::uniform_real_distribution<double>(0, 1.02 * length_)(random_);

    pid_t const child = start(settings_, folder_, errors_);
    std::this_thread::sleep_for(std::chrono::duration<double>(delay));
    bool const was_over = has_ended(child);
    bool const was_answering = catches(child, signal);
    auto const sent = Clock::now();
    kill(child, signal);
    if (number % 5 == 4) kill(child, signal);  // who is impatient sends it twice
    int status = 0;
    waitpid(child, &status, 0);
    double const seconds = since(sent);

    std::string const errors = read_text(errors_);
    bool const was_late = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    std::string wrong = check_files(has_old, was_late);
    if (seconds > settings_.seconds) wrong += "it took " + std::to_string(seconds) + " s; ";
    if (was_late) {
      // All was done. It must not have gone on with its work, though.
      if (!errors.empty()) wrong += "success with errors; ";
      if (seconds > 0.5) wrong += "it swallowed the signal; ";
      ++late_;
    } else if (WIFSIGNALED(status)) {
      if (was_answering || WTERMSIG(status) != signal) wrong += "it died by the signal; ";
      if (!errors.empty()) wrong += "it died by the signal, with errors; ";
      ++early_;
    } else {
      bool const is_a_line = std::count(errors.begin(), errors.end(), '\n') == 1 &&
                             errors.find(": error: stopped ") != std::string::npos;
      if (WEXITSTATUS(status) != 128 + signal) wrong += "exit code; ";
      if (!is_a_line) wrong += "not one line; ";
      longest_ = std::max(longest_, seconds);
      auto const begin = errors.find("stopped ");
      std::string const where = begin == std::string::npos
                                    ? errors
                                    : generic(errors.substr(begin, errors.find(';') - begin));
      auto& [times, most] = answers_[where];
      ++times;
      most = std::max(most, seconds);
    }
    if (wrong.empty() && !settings_.verbose) return;
    std::printf("%s run %d: signal %d after %.3f s%s, status %x after %.3f s: %s%s",
                wrong.empty() ? "      " : "FAILED", number, signal, delay,
                was_over ? " (it was over)" : "", static_cast<unsigned>(status), seconds,
                wrong.c_str(), errors.empty() ? "\n" : errors.c_str());
    if (!wrong.empty()) ++failures_;
  }

  int report() const {
    for (auto const& [where, how] : answers_)
      std::printf("%4d  %.3f s at most  %s\n", how.first, how.second, where.c_str());
    std::printf(
        "%d signals: %d before it began, %d when all was done; the others answered in %.3f s "
        "at most; %d failures\n",
        settings_.count, early_, late_, longest_, failures_);
    return failures_ == 0 ? 0 : 1;
  }

  int count() const { return settings_.count; }

 private:
  bool complain(std::string const& text) const {
    std::fprintf(stderr, "%s\n", text.c_str());
    return false;
  }

  /// Leaves nothing but what the program reads.
  void clean() const {
    std::vector<fs::path> others;
    for (auto const& entry : fs::directory_iterator(folder_))
      if (inputs_.count(entry.path().filename()) == 0) others.push_back(entry.path());
    for (auto const& path : others) fs::remove_all(path);
    fs::remove(
        errors_);  // else those of the run before count if this one is ended before its first line
  }

  /// Numbers as "N", so that equal places count together.
  static std::string generic(std::string const& text) {
    std::string result;
    for (char const c : text) {
      bool const is_digit = c >= '0' && c <= '9';
      if (!is_digit)
        result += c;
      else if (!result.ends_with('N'))
        result += 'N';
    }
    return result;
  }

  std::string check_files(bool has_old, bool must_be_new) const {
    std::string wrong;
    std::set<fs::path> known = inputs_;
    for (auto const& output : settings_.outputs) {
      known.insert(output);
      for (fs::path part = fs::path(output).parent_path(); !part.empty(); part = part.parent_path())
        known.insert(part);
      fs::path const path = folder_ / output;
      if (!fs::exists(path)) {
        if (has_old) wrong += output + " is lost; ";
        if (must_be_new) wrong += output + " isn't there; ";
        continue;
      }
      std::string const content = read_text(path);
      if (has_old && content == "old") {
        if (must_be_new) wrong += output + " isn't new; ";
        continue;
      }
      if (!is_whole(output, content)) wrong += output + " isn't whole; ";
    }
    for (auto const& entry : fs::recursive_directory_iterator(folder_))
      if (known.count(entry.path().lexically_relative(folder_)) == 0)
        wrong += "there is " + entry.path().filename().string() + "; ";
    return wrong;
  }

  /// Reports hold times, which differ; checkpoints are those of any step, and say where they end.
  bool is_whole(std::string const& output, std::string const& content) const {
    if (output.ends_with(".json")) return nlohmann::json::accept(content);
    if (output.ends_with(".hdf5")) {
      if (content.size() < 48 || !content.starts_with("\x89HDF\r\n\x1a\n")) return false;
      std::uint64_t end = 0;
      std::memcpy(&end, content.data() + (content[8] < 2 ? 40 : 28), sizeof end);
      return content.size() >= end;
    }
    // The best start so far, which coir-field writes again and again.
    if (output.ends_with("noise.npy")) return content.size() == whole_.at(output).size();
    return content == whole_.at(output);
  }

  coir::testing::TemporaryFolder scratch_;
  Settings settings_;
  std::mt19937 random_;
  fs::path base_, folder_, errors_;
  std::set<fs::path> inputs_;
  std::map<std::string, std::string> whole_;
  std::map<std::string, std::pair<int, double>> answers_;
  double length_ = 0, longest_ = 0;
  int early_ = 0, late_ = 0, failures_ = 0;
};

Settings read(int argc, char** argv) {
  Settings settings;
  int n = 1;
  auto const value = [&] { return std::string(n + 1 < argc ? argv[++n] : ""); };
  for (; n < argc; ++n) {
    std::string const word = argv[n];
    if (word == "--count")
      settings.count = std::stoi(value());
    else if (word == "--seed")
      settings.seed = static_cast<unsigned>(std::stoul(value()));
    else if (word == "--seconds")
      settings.seconds = std::stod(value());
    else if (word == "--output")
      settings.outputs.push_back(value());
    else if (word == "--before")
      settings.before = value();
    else if (word == "--scratch")
      settings.scratch = value();
    else if (word == "--verbose")
      settings.verbose = true;
    else
      break;
  }
  if (n < argc && std::string(argv[n]) == "--") ++n;
  settings.command.assign(argv + n, argv + argc);
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Settings const settings = read(argc, argv);
  if (settings.command.empty()) {
    std::fprintf(stderr, "usage: signal_storm [OPTIONS] -- PROGRAM ARGUMENT...; see the source\n");
    return 2;
  }
  Storm storm(settings);
  if (!storm.rehearse()) return 1;
  for (int number = 0; number < storm.count(); ++number) storm.strike(number);
  return storm.report();
}
