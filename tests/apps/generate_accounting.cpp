// Writes made-up accounting text as sacct -P does, of jobs that no cluster has run: for tests and for timing coir-queue.
//
// usage: generate_accounting JOBS [SEED] [steps] > FILE     by `steps` each job has two more rows

#include "generated_accounting.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  using namespace coir::testing;
  if (argc < 2) {
    std::fprintf(stderr, "usage: generate_accounting JOBS [SEED] [steps] > FILE\n");
    return 2;
  }
  std::int64_t const jobs = std::atoll(argv[1]);
  Dice dice(argc > 2 ? static_cast<std::uint64_t>(std::atoll(argv[2])) : 1);
  bool const steps = argc > 3 && std::string_view(argv[3]) == "steps";
  std::string text = made_up_columns;
  for (std::int64_t n = 0; n < jobs; ++n) {
    append_rows(text, made_up_job(dice, n, jobs), steps);
    if (text.size() > 1 << 20 || n == jobs - 1) {
      if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) return 1;
      text.clear();
    }
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
