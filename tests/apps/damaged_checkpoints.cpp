// Damages a checkpoint in as many ways as asked for, the same ones for the same seed:
//
//   damaged_checkpoints COUNT [RUNS [SEED]]
//
// Each damaged file must be refused in one line, or be read as the whole one. So must each forged
// one, whose checksum is made to fit again; what is wrong with that may be no more than that values
// differ, and then it is read. RUNS of the files, spread over all, are given to coir-nbody itself,
// which must end with 3 or in the bytes of the whole one's run. Ends with 0 if all did, and with 1
// and the number of the case if not, or if one crashed or took a minute.

#include <nbody/checkpoint.hpp>
#include <nbody/options.hpp>
#include <nbody/setting_list.hpp>
#include <support/command.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/io/checksum.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace coir::apps::nbody;
using coir::testing::Outcome;
using coir::testing::read_text;
using coir::testing::run_command;
using Exec = Kokkos::DefaultExecutionSpace;

// What the program is at, for whoever ends it.
char volatile place[160] = "the start";

void set_place(std::string const& text) {
  for (std::size_t n = 0; n < std::min(text.size() + 1, sizeof place - 1); ++n)
    place[n] = text.c_str()[n];
}

extern "C" void report_crash(int signal) {
  char text[240];
  int const length = std::snprintf(text, sizeof text, "damaged_checkpoints: signal %d in %s\n",
                                   signal, const_cast<char const*>(place));
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) _exit(2);
  _exit(1);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// From 0 to below n.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : engine_() % n; }

 private:
  std::mt19937_64 engine_;
};

/// One damage of one of the kinds that disks, networks and editors make.
std::string damaged(std::string bytes, Random& random, std::string& what) {
  std::size_t const length = bytes.size(), at = random.below(length);
  std::size_t const size =
      std::min<std::size_t>(1 + random.below(1 + random.below(600)), length - at);
  switch (random.below(8)) {
    case 0:
    case 1:
      what = "a bit";
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 2:
      what = "some bits";
      for (std::size_t n = 2 + random.below(30); n > 0; --n) {
        char& byte = bytes[random.below(length)];
        byte = static_cast<char>(byte ^ (1 << random.below(8)));
      }
      break;
    case 3:
      what = "a burst";
      for (std::size_t n = 0; n < size; ++n) bytes[at + n] = static_cast<char>(random.below(256));
      break;
    case 4:
      what = "a truncation";
      bytes.resize(at);
      break;
    case 5:
      what = "a block of zeros";
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, '\0');
      break;
    case 6: {
      what = "a block from elsewhere";
      std::string const block = bytes.substr(random.below(length - size + 1), size);
      bytes.replace(at, size, block);
      break;
    }
    default:
      what = "a number";
      for (std::size_t n = 0; n < std::min<std::size_t>(8, length - at); ++n)
        bytes[at + n] = static_cast<char>(random.below(2) == 0 ? 0xff : 0);
  }
  return bytes;
}

/// What a checkpoint is read as, all of it, or "" if it is refused as it must be.
std::string content_of(fs::path const& path) {
  try {
    coir::apps::CommandLine line("coir-nbody");
    Settings given;
    add_options(line, given);
    Checkpoint checkpoint = read_checkpoint(coir::distributed::Group::self(), path);
    Settings const settings = settings_to_go_on(line, given, checkpoint);
    auto const particles =
        read_particles<Exec, float>(coir::distributed::Group::self(), checkpoint, settings);
    std::string content = all_texts(settings) + std::to_string(checkpoint.steps_done);
    auto const add = [&](auto const* data, std::size_t count) {
      content.append(reinterpret_cast<char const*>(data), count * sizeof *data);
    };
    add(checkpoint.scale_factors.data(), checkpoint.scale_factors.size());
    for (auto const& vectors : {particles.position, particles.momentum}) {
      auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, vectors);
      add(host.data(), host.size());
    }
    return content;
  } catch (coir::InputError const& error) {
    std::string const text = error.what();
    if (text.empty() || text.size() > 1000 || !text.starts_with(path.string()))
      throw std::runtime_error("not a good line: " + text);
    return "";
  }
}

/// The files of a run, one behind the other.
std::string bytes_of_folder(fs::path const& folder) {
  std::string all;
  std::vector<fs::path> paths;
  for (auto const& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (auto const& path : paths) all += path.filename().string() + ":" + read_text(path);
  return all;
}

class Damages {
 public:
  explicit Damages(std::uint64_t seed) : seed_(seed) {
    // With a setting of each kind, and so little else that damage meets what describes the file.
    std::string const start =
        "--particles 4 --steps 4 --deterministic --snapshots --no-pictures --outputs 0.4,0.55 "
        "--checkpoint 2 "
        "--stepper bullfrog --box 33.3 --stop-after 2 --output parts --quiet";
    Outcome outcome = run(start);
    if (outcome.code == 0) fs::copy_file(folder_ / "parts/checkpoint.hdf5", file_);
    if (outcome.code == 0) outcome = run("--restart file.hdf5 --output whole --quiet");
    if (outcome.code != 0) throw std::runtime_error("the whole run failed: " + outcome.errors);
    whole_ = read_text(file_);
    expected_ = content_of(file_);
    expected_run_ = bytes_of_folder(folder_ / "whole");
  }

  void test(std::int64_t number, bool runs) {
    Random random(seed_ + static_cast<std::uint64_t>(number));
    std::string what;
    std::string const bytes = damaged(whole_, random, what);
    std::string const body =
        damaged(whole_.substr(0, whole_.size() - coir::io::checksum_length), random, what);
    for (bool const is_forged : {false, true}) {
      set_place("case " + std::to_string(number) + (is_forged ? ", forged: " : ": ") + what);
      alarm(60);
      std::ofstream(file_, std::ios::binary | std::ios::trunc) << (is_forged ? body : bytes);
      if (is_forged && coir::io::append_checksum(file_) != 0)
        throw std::runtime_error("no checksum");
      std::string const content = content_of(file_);
      if (content.empty())
        ++(is_forged ? forged_refused : refused);
      else if (content == expected_)
        ++(is_forged ? forged_same : same);
      else if (is_forged)
        ++forged_other;
      else
        fail("read as something else");
      if (runs) run_it(is_forged, content);
    }
    alarm(0);
  }

  std::int64_t refused = 0, same = 0, forged_refused = 0, forged_same = 0, forged_other = 0;
  std::int64_t runs_refused = 0, runs_same = 0, runs_other = 0, runs_lost = 0;

 private:
  Outcome run(std::string const& arguments) const {
    return run_command("cd '" + folder_.path().string() + "' && timeout 50 '" COIR_APP "' " +
                       arguments);
  }

  [[noreturn]] static void fail(std::string const& what) { throw std::runtime_error(what); }

  void run_it(bool is_forged, std::string const& content) {
    fs::remove_all(folder_ / "out");
    Outcome const outcome = run("--restart file.hdf5 --output out --quiet");
    auto const lines = std::count(outcome.errors.begin(), outcome.errors.end(), '\n');
    if (outcome.code == 0 && outcome.errors.empty()) {
      if (bytes_of_folder(folder_ / "out") == expected_run_)
        ++runs_same;
      else if (is_forged && content != expected_)
        ++runs_other;
      else
        fail("another run");
    } else if (outcome.code == 3 && lines == 1 && !fs::exists(folder_ / "out")) {
      ++runs_refused;
    } else if (is_forged && !content.empty() && outcome.code == 5 && lines == 1) {
      ++runs_lost;  // momenta that were made large
    } else {
      fail("exit " + std::to_string(outcome.code) + ": " + outcome.errors);
    }
  }

  std::uint64_t seed_;
  coir::testing::TemporaryFolder folder_;
  fs::path file_ = folder_ / "file.hdf5";
  std::string whole_, expected_, expected_run_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: damaged_checkpoints COUNT [RUNS [SEED]]\n");
    return 2;
  }
  std::int64_t const count = std::atoll(argv[1]),
                     runs = argc > 2 ? std::atoll(argv[2]) : count / 20;
  std::uint64_t const seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  for (int const signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM})
    std::signal(signal, report_crash);
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    Damages damages(seed);
    for (std::int64_t n = 0; n < count; ++n)
      damages.test(n, runs > 0 && (n + 1) * runs / count > n * runs / count);
    std::printf("%lld damaged: %lld refused, %lld read as the whole one\n",
                static_cast<long long>(count), static_cast<long long>(damages.refused),
                static_cast<long long>(damages.same));
    std::printf("%lld forged: %lld refused, %lld read as the whole one, %lld with other values\n",
                static_cast<long long>(count), static_cast<long long>(damages.forged_refused),
                static_cast<long long>(damages.forged_same),
                static_cast<long long>(damages.forged_other));
    std::printf(
        "%lld runs: %lld refused, %lld ended in the same bytes, of the forged %lld in others and "
        "%lld with 5\n",
        static_cast<long long>(2 * runs), static_cast<long long>(damages.runs_refused),
        static_cast<long long>(damages.runs_same), static_cast<long long>(damages.runs_other),
        static_cast<long long>(damages.runs_lost));
    return 0;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "damaged_checkpoints: %s: %s\n", const_cast<char const*>(place),
                 error.what());
    return 1;
  }
}
