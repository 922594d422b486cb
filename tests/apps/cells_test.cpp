// coir-cells as a user runs it.

#include "app_fixture.hpp"

#include <cmath>
#include <cstring>
#include <sstream>

namespace {

using coir::testing::contains;
using coir::testing::read_text;

char const small[] =
    "--counts-z 0.5 --counts-bias 2 --counts-density 1 --shapes-z 1 --shapes-density 1 --bins 4 ";

class Cells : public coir::testing::AppTest {
 protected:
  /// The numbers of a file's rows that aren't comments.
  std::vector<std::vector<double>> rows_of(std::string const& name) const {
    std::vector<std::vector<double>> rows;
    std::istringstream text(read_text(folder / name));
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("#")) continue;
      std::istringstream words(line);
      rows.emplace_back();
      for (double x; words >> x;) rows.back().push_back(x);
    }
    return rows;
  }
};

TEST_F(Cells, WritesSpectraTheFisherMatrixAndPictures) {
  run_quietly(std::string(small) + "--free sigma8 bias1 --report r.json");
  auto const spectra = rows_of("cells/spectra.txt");
  ASSERT_EQ(spectra.size(), 4);
  ASSERT_EQ(spectra[0].size(), 1 + 3);
  // Four bins from 20 to 3000, equal in ln l
  EXPECT_NEAR(spectra[0][0], 20 * std::pow(150, 1 / 8.0), 1e-9);
  auto const fisher = rows_of("cells/fisher.txt");
  ASSERT_EQ(fisher.size(), 2);
  auto const report = nlohmann::ordered_json::parse(read_text(folder / "r.json"));
  EXPECT_EQ(coir::testing::keys_of(report),
            "application version tracers l seconds parameters values covariance");
  double const determinant = fisher[0][0] * fisher[1][1] - fisher[0][1] * fisher[1][0];
  EXPECT_NEAR(report["covariance"][0][0].get<double>(), fisher[1][1] / determinant,
              1e-9 * fisher[1][1] / determinant);
  // C of counts goes with the square of the bias
  auto const text = read_text(folder / "cells/derivatives.txt");
  std::istringstream row(text.substr(text.find("counts1 counts1")));
  std::string word;
  double by_sigma8, by_bias;
  row >> word >> word >> by_sigma8 >> by_bias;
  EXPECT_NEAR(by_bias, spectra[0][1] * 2 / 2, 1e-12 * by_bias);
  for (char const* const picture : {"cells/spectra.svg", "cells/triangle.svg"}) {
    auto const svg = read_text(folder / picture);
    EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    EXPECT_FALSE(contains(svg, "nan") || contains(svg, "inf")) << picture;
  }
}

TEST_F(Cells, DrawsNoSpectrumOfTracersThatSeeNothing) {
  run_quietly(
      "--counts-z 0.5 --counts-bias 0 --counts-density 1 --shapes-z 1 --shapes-m -1 "
      "--shapes-density 1 --bins 4 --matter linear --free sigma8 --prior sigma8=0.1");
  auto const svg = read_text(folder / "cells/spectra.svg");
  EXPECT_FALSE(contains(svg, "nan") || contains(svg, "inf")) << svg;
}

TEST_F(Cells, TakesPriors) {
  run_quietly(std::string(small) + "--free h --report without.json");
  run_quietly(std::string(small) + "--free h --prior h=0.001 --report with.json");
  auto const variance = [&](char const* name) {
    return nlohmann::json::parse(read_text(folder / name))["covariance"][0][0].get<double>();
  };
  EXPECT_NEAR(1 / variance("with.json"), 1 / variance("without.json") + 1e6, 1e-3);
}

TEST_F(Cells, ReadsTheFileThatItComesWith) {
  run_quietly("--config " COIR_CELLS_FILE " --bins 5 --report r.json");
  auto const report = nlohmann::json::parse(read_text(folder / "r.json"));
  EXPECT_EQ(report["parameters"].size(), 21);
  EXPECT_EQ(report["tracers"].size(), 9);
  EXPECT_TRUE(std::filesystem::exists(folder / "des_y1/triangle.svg"));
}

TEST_F(Cells, DrawsFromThePosterior) {
  // One bias alone: C_l, and not ln C_l, is quadratic in it, so that its posterior is nearly
  // Gaussian where it is measured to some percent.
  auto const outcome =
      run(std::string(small) + "--matter linear --free bias1 --chains 2 --warmup 30 --draws 50");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "worst effective sample size")) << outcome.output;
  auto const bytes = read_text(folder / "cells/draws.npy");
  EXPECT_TRUE(contains(bytes.substr(0, 128), "(2, 50, 1)"));
  double sum = 0, squares = 0;
  for (std::size_t k = 0; k < 100; ++k) {
    double x = 0;
    std::memcpy(&x, bytes.data() + bytes.size() - 8 * (100 - k), 8);
    sum += x - 2;
    squares += (x - 2) * (x - 2);
  }
  double const variance = 1 / rows_of("cells/fisher.txt")[0][0];
  // Of 100 draws, 30 of which count at least: five standard errors of the mean, and of the variance
  EXPECT_NEAR(sum / 100, 0, 5 * std::sqrt(variance / 30));
  EXPECT_NEAR(squares / 100 / variance, 1, 5 * std::sqrt(2 / 30.0));
}

TEST_F(Cells, DrawsTheSameAgain) {
  std::string const command =
      std::string(small) + "--matter linear --free bias1 sigma8 --chains 2 --warmup 10 --draws 4";
  run_quietly(command + " --output a");
  run_quietly(command + " --output b", "OMP_NUM_THREADS=1");
  run_quietly(command + " --output c --seed 2");
  EXPECT_EQ(read_text(folder / "a/draws.npy"), read_text(folder / "b/draws.npy"));
  EXPECT_NE(read_text(folder / "a/draws.npy"), read_text(folder / "c/draws.npy"));
  EXPECT_TRUE(contains(read_text(folder / "a/triangle.svg"), "h1.5M"));
}

TEST_F(Cells, GoesOnWithTheBitsOfARunWithoutAStop) {
  for (std::string const sampler : {"nuts", "chees"}) {
    std::string const command = std::string(small) + "--matter linear --free bias1 --chains 2 " +
                                "--warmup 10 --sampler " + sampler + " --draws ";
    auto const stopped =
        run_until([](std::string const& errors) { return contains(errors, "drawing"); },
                  command + "20000 --output part --progress");
    EXPECT_EQ(stopped.code, 130) << stopped.errors;
    EXPECT_TRUE(contains(stopped.errors, "--restart part goes on")) << stopped.errors;
    // The draws until then: the second number of the shape.
    auto const place = read_text(folder / "part/chains/newest.txt").substr(0, 1);
    auto const header = read_text(folder / ("part/chains/" + place + "/draws.npy")).substr(0, 128);
    int const draws = std::stoi(header.substr(header.find("(2, ") + 4));
    EXPECT_LT(draws, 20000);
    std::string const longer = command + std::to_string(draws + 5);
    run_quietly(longer + " --output part --restart part");
    run_quietly(longer + " --output whole");
    EXPECT_EQ(read_text(folder / "part/draws.npy"), read_text(folder / "whole/draws.npy"));
    // Chains that have all of their draws, and what isn't theirs
    run_quietly(longer + " --output again --restart whole");
    EXPECT_EQ(read_text(folder / "again/draws.npy"), read_text(folder / "whole/draws.npy"));
    expect_failure(2, command + "4 --output part --restart whole", {"--draws must be at least"});
    expect_failure(2, longer + " --restart whole --seed 2", {"chains, warmup, seed 2 10 1"});
  }
  expect_failure(2, std::string(small) + "--restart whole", {"give --chains, too"});
  expect_failure(3, std::string(small) + "--chains 2 --restart nowhere",
                 {"no chains to go on with"});
  // A folder in the place of a file is found before the work.
  std::filesystem::remove(folder / "whole/chains/0/state.npy");
  std::filesystem::create_directory(folder / "whole/chains/0/state.npy");
  expect_failure(4, std::string(small) + "--free bias1 --chains 2 --output whole",
                 {"chains/0/state.npy"});
}

TEST_F(Cells, TakesDistributionsFromAFile) {
  // A Gaussian in steps of a twelfth of its deviation
  std::string rows = "# z, counts1, counts2\n";
  for (int i = 0; i <= 240; ++i) {
    double const z = i / 120.0;
    auto const n = [&](double mean) {
      double const x = (z - mean) / 0.1;
      return i == 0 || i == 240 ? 0 : std::exp(-x * x / 2);
    };
    rows += std::to_string(z) + " " + std::to_string(n(0.6)) + " " + std::to_string(n(1)) + "\n";
  }
  std::filesystem::create_directory(folder / "survey");
  write("survey/n.txt", rows);
  write("survey/survey.toml",
        "counts-table = \"n.txt\"\ncounts-bias = 2\ncounts-density = 1\nbins = 3\n"
        "free = [\"sigma8\"]\n");
  run_quietly("--config survey/survey.toml --output table");
  run_quietly(
      "--counts-z 0.6 1 --counts-width 0.1 --counts-bias 2 --counts-density 1 --bins 3 "
      "--free sigma8 --output gaussian");
  auto const table = rows_of("table/spectra.txt"), gaussian = rows_of("gaussian/spectra.txt");
  ASSERT_EQ(table.size(), 3);
  ASSERT_EQ(table[0].size(), 1 + 3);
  // Six digits of n, and cubics through a row for each twelfth of a deviation
  for (std::size_t at = 0; at < 3; ++at)
    for (std::size_t k : {1, 3}) EXPECT_NEAR(table[at][k] / gaussian[at][k], 1, 1e-4);

  auto const refuses = [&](std::string const& text, std::vector<std::string> const& words,
                           std::string const& other = "") {
    write("bad.txt", text);
    expect_failure(3, "--counts-table bad.txt --counts-bias 2 --counts-density 1 " + other, words);
  };
  refuses("0 0\n1 -1\n2 0\n", {"bad.txt: line 2", "n of bin 1 must be at least 0", "-1"});
  refuses("0 0\n#\n1 1\n1 2\n2 0\n", {"bad.txt: line 4", "z = 1 follows z = 1"});
  refuses("-1 0\n1 1\n2 0\n", {"bad.txt: line 1", "z must be at least 0", "-1"});
  refuses("0 0\n1 x\n2 0\n", {"bad.txt: line 2", "column 2 is not a number"});
  refuses("0 0\n1 1 1\n2 0\n", {"bad.txt: line 2", "columns must be 2", "not 3"});
  refuses("0 0 0\n1 1 0\n2 0 0\n", {"bad.txt: bin 2", "n must be above 0"});
  refuses("0 0\n1 1\n2 1\n", {"bad.txt: bin 1", "in the last row"});
  refuses("# nothing\n", {"bad.txt", "at least 3, not 0"});
  refuses("0,0\n1,1\n2,0\n", {"bad.txt: line 1", "separate columns by blanks"});
  refuses("0\n1\n2\n", {"bad.txt: line 1", "at least 2, not 1: separate columns by blanks"});
  refuses("0 0 0\n1 1\n2 0 0\n", {"bad.txt: line 2", "columns must be 3", "first row, not 2: sep"});
  std::string wide;
  for (char const* const z : {"0", "1", "2"}) {
    wide += z;
    for (int bin = 0; bin < 65; ++bin) wide += *z == '1' ? " 1" : " 0";
    wide += "\n";
  }
  refuses(wide, {"bad.txt: line 1", "bins must be at most 64, not 65"});
  expect_failure(2, "--counts-table bad.txt --counts-z 1", {"leave --counts-z out"});

  // The command line's bins overrule the configuration's.
  std::string const rest = "counts-bias = 2\ncounts-density = 1\nbins = 3\nfree = [\"sigma8\"]\n";
  write("list.toml", "counts-z = [0.3]\ncounts-width = 0.1\n" + rest);
  run_quietly("--config list.toml --counts-table survey/n.txt --output overruled");
  EXPECT_EQ(read_text(folder / "overruled/spectra.txt"), read_text(folder / "table/spectra.txt"));
  run_quietly("--config survey/survey.toml --counts-z 0.6 1 --counts-width 0.1 --output overruled");
  EXPECT_EQ(read_text(folder / "overruled/spectra.txt"),
            read_text(folder / "gaussian/spectra.txt"));
  write("both.toml", "counts-z = [0.3]\ncounts-table = \"survey/n.txt\"\n" + rest);
  expect_failure(2, "--config both.toml", {"leave --counts-z out"});
}

TEST_F(Cells, TakesMeasuredSpectra) {
  std::string const survey =
      "--counts-z 0.5 --counts-density 1 --shapes-z 1 --shapes-density 1 --bins 4 "
      "--matter linear --free bias1 ";
  std::string const sky = survey + "--counts-bias 2.1 ", run = survey + "--counts-bias 2 ";
  run_quietly(sky + "--output sky");
  run_quietly(sky + "--data sky/spectra.txt --report same.json");
  auto const report = nlohmann::json::parse(read_text(folder / "same.json"));
  EXPECT_NEAR(report["chi_squared"].get<double>(), 0, 1e-9);
  // The posterior is around the bias of the sky, and not around that of the forecast.
  run_quietly(run + "--data sky/spectra.txt --report other.json --chains 2 --warmup 30 --draws 50");
  auto const other = nlohmann::json::parse(read_text(folder / "other.json"));
  double const variance = other["covariance"][0][0].get<double>();
  // C goes with the square of the bias: to first order in its step chi^2 is step^2 / variance.
  EXPECT_NEAR(other["chi_squared"].get<double>() * variance / 0.01, 1, 0.2);
  auto const bytes = read_text(folder / "cells/draws.npy");
  double sum = 0;
  for (std::size_t k = 0; k < 100; ++k) {
    double x = 0;
    std::memcpy(&x, bytes.data() + bytes.size() - 8 * (100 - k), 8);
    sum += x - 2.1;
  }
  EXPECT_NEAR(sum / 100, 0, 5 * std::sqrt(variance / 30));

  write("short.txt", "20 1 1 1\n");
  expect_failure(3, run + "--data short.txt", {"short.txt", "each of the 4 bins of l, not 1"});
  write("other_l.txt", "37 1 1 1\n100 1 1 1\n459 1 1 1\n1600 1 1 1\n");
  expect_failure(3, run + "--data other_l.txt", {"other_l.txt: line 1", "middle of the bin", "37"});
  // Bins of l whose middles are 1000.13, 1000.38, ...
  write("next_l.txt", "1000.38 1 1 1\n1000.63 1 1 1\n1000.88 1 1 1\n1001.13 1 1 1\n");
  expect_failure(3, run + "--l-min 1000 --l-max 1001 --data next_l.txt",
                 {"next_l.txt: line 1", "middle of the bin"});
  expect_failure(3, run + "--data sky/fisher.txt", {"fisher.txt: line 3", "columns must be 4"});
  expect_failure(3, run + "--data nowhere.txt", {"nowhere.txt"});
  std::string large = read_text(folder / "sky/spectra.txt");
  for (auto at = large.find("e-"); at != std::string::npos; at = large.find("e-", at))
    large.replace(at, 2, "e2");
  write("large.txt", large);
  expect_failure(3, run + "--data large.txt", {"large.txt", "chi^2 isn't finite"});
}

TEST_F(Cells, DrawsAPictureThatHoldsTheDraws) {
  std::string const survey =
      "--counts-z 0.5 --counts-density 10 --shapes-z 1 --shapes-density 10 --bins 4 "
      "--matter linear --free bias1 m1 --prior m1=0.02 ";
  run_quietly(survey + "--counts-bias 2.05 --output sky");
  run_quietly(survey + "--counts-bias 2 --data sky/spectra.txt --chains 2 --warmup 50 --draws 50");
  // At most a ninth of draws are further than three deviations from their mean, by Chebyshev, in
  // each of two parameters: of 100 dots 78 are inside.
  auto const svg = read_text(folder / "cells/triangle.svg");
  int dots = 0;
  for (std::size_t at = svg.find("h1.5"); at != std::string::npos; at = svg.find("h1.5", at + 1))
    ++dots;
  EXPECT_GE(dots, 78);
}

TEST_F(Cells, CountsOneSpectrum) {
  auto const outcome = run(
      "--counts-z 0.5 --counts-bias 2 --counts-density 1 --matter linear --bins 2 --free bias1");
  EXPECT_TRUE(contains(outcome.output, "1 spectrum at 2 l")) << outcome.output;
}

TEST_F(Cells, SaysWhatIsWrong) {
  std::string const run = small;
  expect_failure(2, run + "--free nobody", {"--free takes parameters of the survey", "nobody"});
  expect_failure(2, run + "--free h h", {"each parameter once"});
  expect_failure(2, run + "--free h --prior w0=1", {"--prior is for parameters that vary", "w0"});
  expect_failure(2, run + "--prior h", {"NAME=WIDTH", "'h'"});
  expect_failure(2, run + "--l-min 1", {"--l-min must be at least 2", "1"});
  expect_failure(2, run + "--l-max 10", {"--l-max must be above --l-min, 20", "10"});
  expect_failure(2, run + "--f-sky 2", {"f_sky", "(0, 1]", "2"});
  expect_failure(2, run + "--counts-width 0.1 0.2", {"give --counts-width one number", "2"});
  expect_failure(2, run + "--omega-m -1", {"omega_m", "-1"});
  expect_failure(2, run + "--matter linear --sigma8 1e300", {"spectra must be finite", "l = 37"});
  // C goes with the square of bias1 sigma8.
  expect_failure(2,
                 "--counts-z 0.5 --counts-bias 2 --counts-density 1 --matter linear --bins 2 "
                 "--free bias1 sigma8",
                 {"must be positive definite"});
}

}  // namespace
