// An application that fails in every way an application can, for run_test.

#include <support/command_line.hpp>
#include <support/options.hpp>
#include <support/run.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>

#include <csignal>
#include <iostream>
#include <new>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  using coir::apps::ExitCode;
  coir::apps::CommandLine line("failing-app", "Fails as asked.");
  std::string input;
  std::string kind = "nothing";
  int count = 3;
  double tolerance = 1;
  line.add_option("INPUT", input, "Anything").required();
  bool loud = false;
  line.add_flag("--loud", loud, "Say it with a mark");
  line.add_option("--throw", kind, "What to throw");
  std::vector<std::string> corner, pair;
  auto const three =
      line.add_list("--corner", corner, "Three values").expected(3, 3).type_name("X Y Z");
  line.add_list("--pair", pair, "One or two").expected(1, 2).type_name("A or A B").excludes(three);
  coir::apps::add_whole_number(line, "--count", count, "How many", 1, 100);
  coir::apps::add_positive_number(line, "--tolerance", tolerance, "How well");

  return coir::apps::run(line, argc, argv, [&](coir::apps::Place) -> ExitCode {
    if (kind == "precondition") throw coir::PreconditionError("n must be positive, not -1");
    if (kind == "input") throw coir::InputError("no such file\nas this\x1b[31m one");
    if (kind == "resource") throw coir::ResourceError("the disk is full");
    if (kind == "environment") throw coir::EnvironmentError("no device");
    if (kind == "bad_alloc") throw std::bad_alloc();
    if (kind == "huge")
      Kokkos::View<double*, Kokkos::HostSpace> const view("huge", std::size_t(1) << 56);
    if (kind == "numerical") throw coir::apps::Failure(ExitCode::numerical, "not finite");
    if (kind == "other") throw std::logic_error("a defect");
    if (kind == "terminated") std::raise(SIGTERM);
    std::cout << input << ' ' << count << ' ' << tolerance << (loud ? "!\n" : "\n");
    return ExitCode::success;
  });
}
