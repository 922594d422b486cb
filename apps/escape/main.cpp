// coir-escape: pictures of the Mandelbrot set and of Julia sets.

#include "compute.hpp"
#include "picture.hpp"
#include "present.hpp"
#include "settings.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/io/format.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>

#include <support/command_line.hpp>
#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/options.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>
#include <support/text.hpp>

#include <array>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::escape {

namespace {

char const description[] =
    "Draws the Mandelbrot set or a Julia set: how many steps of z -> z^2 + c it takes until\n"
    "|z| > 2, for every pixel. Of the Mandelbrot set the pixel is c, and z begins at 0; of a\n"
    "Julia set the pixel is where z begins, and c is the same everywhere.";

char const examples[] =
    "Examples:\n"
    "  coir-escape --size 1920x1080 --output mandelbrot.png\n"
    "  coir-escape --center -0.743643887 0.131825904 --width 1e-5 --iterations 5000 \\\n"
    "              --precision double --output valley.png\n"
    "  coir-escape --set julia --constant -0.8 0.156 --output julia.png\n"
    "  coir-escape --size 2048x2048 --scheme arrays --report run.json\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, 4 memory or disk short, 5 pixels too small for the\n"
    "precision, 6 no usable device, 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

constexpr int most_pixels = 1'000'000;  // along a side

/// A coordinate in the complex plane: what lies farther out leaves at once.
double parse_coordinate(std::string const& option, std::string const& text) {
  double const number = parse_number(option, text);
  expects(number >= -1000 && number <= 1000, option + " must be numbers from -1000 to 1000",
          number);
  return number;
}

/// An option that takes several numbers.
///
/// \param words  what they are, as many as the option takes: "X Y"
template <std::size_t count>
Option add_coordinates(CommandLine& line, std::string const& name, std::string const& words,
                       std::function<void(std::array<double, count> const&)> const& set,
                       std::string const& help) {
  auto const parse = [=](std::vector<std::string> const& texts) {
    std::string const found = joined(texts, " ");
    expects(texts.size() == count, name + " takes " + std::to_string(count) + " numbers, " + words,
            in_quotes(found));
    std::array<double, count> numbers;
    for (std::size_t n = 0; n < count; ++n) numbers[n] = parse_coordinate(name, texts[n]);
    set(numbers);
  };
  return line.add_list(name, parse, help)
      .expected(static_cast<int>(count), static_cast<int>(count))
      .type_name(words);
}

/// "1920 1080", "1920x1080" or "1920X1080"
void parse_size(std::vector<std::string> texts, EscapeSettings& settings) {
  std::string const given = joined(texts, " ");
  if (texts.size() == 1)
    if (auto const x = texts[0].find_first_of("xX"); x != std::string::npos)
      texts = {texts[0].substr(0, x), texts[0].substr(x + 1)};
  expects(texts.size() == 2, "--size takes columns and rows, as in 1920x1080", in_quotes(given));
  settings.columns =
      static_cast<int>(parse_whole_number("--size: columns", texts[0], 1, most_pixels));
  settings.rows = static_cast<int>(parse_whole_number("--size: rows", texts[1], 1, most_pixels));
}

void add_options(CommandLine& line, EscapeSettings& settings) {
  add_choice(line, "--set", settings.set,
             std::vector<std::pair<std::string, Set>>{{"mandelbrot", Set::mandelbrot},
                                                      {"julia", Set::julia}},
             "What to draw (default mandelbrot)");
  add_coordinates<2>(
      line, "--constant", "RE IM", [&settings](auto const& c) { settings.constant = c; },
      "With --set julia: c (default -0.8 0.156)");
  auto const region = add_coordinates<4>(
      line, "--region", "X0 X1 Y0 Y1",
      [&settings](auto const& r) { settings.region = Region{r[0], r[1], r[2], r[3]}; },
      "Real parts from X0 to X1, imaginary ones from Y0 to Y1 (default -2 1 -1.5 1.5,\n"
      "of Julia sets -1.5 1.5 -1.5 1.5, more along the longer side of the picture)");
  add_coordinates<2>(
      line, "--center", "X Y", [&settings](auto const& c) { settings.center = c; },
      "The middle of the picture")
      .excludes(region);
  add_positive_number(line, "--width", settings.width,
                      "How much of the real axis it shows, at most 1000 (default 3)")
      .excludes(region);
  line.add_list(
          "--size", [&settings](auto const& texts) { parse_size(texts, settings); },
          "Pixels (default 1024x1024)")
      .expected(1, 2)
      .type_name("COLUMNS ROWS or COLUMNSxROWS");
  add_whole_number(line, "--iterations", settings.iterations, "The most steps (default 256)", 1,
                   10'000'000);
  add_choice(line, "--precision", settings.precision,
             std::vector<std::pair<std::string, Precision>>{{"float", Precision::float32},
                                                            {"double", Precision::float64}},
             "Kind of number (default float)");
  add_choice(line, "--scheme", settings.scheme,
             std::vector<std::pair<std::string, Scheme>>{{"arrays", Scheme::arrays},
                                                         {"kernel", Scheme::kernel}},
             "Statements over whole arrays, or one kernel (default kernel)");
  auto const smooth = line.add_flag(
      "--smooth", [&settings](bool on) { settings.smooth = on; },
      "Colours and values that blend from one count to the next (default)");
  line.add_flag(
          "--no-smooth", [&settings](bool off) { settings.smooth = !off; },
          "Colours of counts, and counts")
      .excludes(smooth);
  add_file(line, "--output", settings.output,
           "Write the picture (.png), or the numbers (.npy): smooth values, or counts");
  add_file(line, "--report", settings.report, "Write figures as JSON");
  add_whole_number(line, "--repeat", settings.repeat,
                   "Timed runs, of which the median counts (default 1)", 1, 1'000'000);
  add_progress_and_quiet(line, settings.progress, settings.quiet);
}

/// Options that contradict each other, and outputs that can't be written, found before any work.
void expects_consistent(EscapeSettings const& settings) {
  expects(!settings.constant || settings.set == Set::julia,
          "--constant is for Julia sets: add --set julia, or leave it out");
  if (settings.region) {
    auto const [left, right, bottom, top] = *settings.region;
    expects(left < right && bottom < top,
            "--region takes X0 X1 Y0 Y1 with X0 below X1 and Y0 below Y1",
            joined({in_words(left), in_words(right), in_words(bottom), in_words(top)}, " "));
  }
  expects(settings.width.value_or(3) <= 1000, "--width must be at most 1000",
          settings.width.value_or(3));
  if (!settings.output.empty()) {
    auto const format = io::format_of_name(settings.output);
    expects(format == io::Format::png || format == io::Format::npy,
            "--output must name a file that ends in .png or .npy",
            in_quotes(settings.output.string()));
  }
  expects_good_files({{"--output", settings.output}, {"--report", settings.report}});
}

/// A View's elements on the host.
template <class T>
std::span<T const> elements(Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> const& view) {
  return {view.data(), view.size()};
}

template <class Exec, class T>
void write_output(EscapeSettings const& settings, EscapeOutcome<Exec, T> const& outcome) {
  Activity const writing("writing " + settings.output.string());
  stop_if_interrupted();
  say_of_files("what was written is whole");
  if (io::format_of_name(settings.output) == io::Format::npy) {
    if (outcome.values.size() > 0)
      io::write_npy(settings.output, outcome.values);
    else
      io::write_npy(settings.output, outcome.counts);
    return;
  }
  auto const counts = host_view_of(outcome.counts);
  auto const values = host_view_of(outcome.values);
  io::write_png(settings.output, settings.rows, settings.columns,
                picture_of<T>(elements(counts), elements(values), settings.iterations));
}

template <class T, class Exec>
ExitCode draw(Exec const& exec, EscapeSettings const& settings) {
  say_of_files("nothing was written");
  Problem<T> const problem = problem_of<T>(settings);
  EscapeOutcome<Exec, T> const outcome = compute(exec, problem, settings);
  if (!settings.output.empty()) write_output(settings, outcome);
  EscapeFigures const figures{outcome.seconds, outcome.steps, outcome.inside, hardware_of(exec)};
  if (!settings.report.empty()) {
    Activity const writing("writing " + settings.report.string());
    write_report(settings.report, escape_report(figures, settings));
    say_of_files("what was written is whole");
  }
  if (!settings.quiet) std::cout << summary_of(figures, settings);
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::escape

int main(int argc, char** argv) {
  using namespace coir::apps::escape;
  coir::apps::CommandLine line("coir-escape", description, examples);
  EscapeSettings settings;
  add_options(line, settings);

  return coir::apps::run(line, argc, argv, [&](coir::apps::Place place) {
    expects_consistent(settings);
    return compute_on(place, settings.precision,
                      [&]<class T>(auto const& exec, T) { return draw<T>(exec, settings); });
  });
}
