// How long steps of shallow water take over ranks, with viscosity:
//
//     mpirun -n 2 shallow_table [--columns 7200] [--rows 3600] [--steps 20] [--host] [--json]
//
// Each rank has so many rows of floats. The line has the time of a step, the cells of all ranks
// that are stepped in a second, and the share of the ranks' triad bandwidth at 64 bytes a cell.

#include "start.hpp"

#include <support/ranks.hpp>

#include <cstdint>
#include <type_traits>

namespace {

using namespace coir;

template <class Exec>
void print_row(Exec const& exec, bench::Options const& options, distributed::Group const& world) {
  std::int64_t const columns = options.number("--columns", 2, 1'000'000),
                     rows = options.number("--rows", 2, 1'000'000) * world.size(),
                     steps = options.number("--steps", 1, 1'000'000);
  auto const parameters = bench::parameters_of(int(columns), int(rows));
  using Model = shallow::Model<Exec, float>;
  bench::Row row("shallow step");
  row.add("columns", columns).add("rows", rows);
  // The start has three fields more.
  if (bench::fits<Exec>(world, Model::bytes(world, parameters) / 9 * 12, row)) {
    Model model(exec, world, parameters);
    bench::start(exec, model);
    double const seconds = bench::add_seconds(row, world, steps, [&] {
      model.advance(steps);
      exec.fence();
    });
    double const rate = double(rows) * double(columns) / seconds;
    row.add("cells_per_second", rate);
    double const triad = world.sum(measure_triad_bandwidth(exec).value_or(0));
    row.add("triad", triad).add("share", triad > 0 ? 64 * rate / triad : 0);
  }
  if (world.is_first()) row.print(options.is_on("--json"));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_on_ranks(
      argc, argv, {{"--columns", "7200"}, {"--rows", "3600"}, {"--steps", "20"}},
      [](auto const& exec, bench::Options const& options, distributed::Group const& world) {
        print_row(exec, options, world);
      });
}
