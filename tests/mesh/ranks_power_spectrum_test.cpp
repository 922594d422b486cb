#include <coir/mesh/power_multipoles.hpp>
#include <coir/mesh/power_spectrum.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/typed_suite.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using coir::distributed::Group;
using coir::mesh::Assignment;
using coir::mesh::PowerSpectrum;
using coir::mesh::PowerSpectrumOptions;
using coir::testing::world;
using Points = std::vector<std::array<double, 3>>;

COIR_RANKS_SUITE(RanksPowerSpectrum);

constexpr double box = 10;

/// Every third particle is some rank's that doesn't have its plane; the others are where they
/// belong.
Points of_this_rank(Points const& all) {
  Points mine;
  int const ranks = world().size();
  for (std::size_t p = 0; p < all.size(); ++p) {
    double const x = all[p][0] / box - std::floor(all[p][0] / box);
    int const there = static_cast<int>(x * ranks) % ranks;
    int const owner = p % 3 == 0 ? static_cast<int>(p) % ranks : there;
    if (owner == world().rank()) mine.push_back(all[p]);
  }
  return mine;
}

void expect_same_bits(PowerSpectrum const& found, PowerSpectrum const& expected,
                      std::string const& what) {
  ASSERT_FALSE(expected.k.empty());
  EXPECT_EQ(found.k, expected.k) << what;
  EXPECT_EQ(found.power, expected.power) << what;
  EXPECT_EQ(found.modes, expected.modes) << what;
  EXPECT_EQ(found.shot_noise, expected.shot_noise) << what;
}
[[maybe_unused]] void expect_near(PowerSpectrum const& found, PowerSpectrum const& expected,
                                  double tolerance, std::string const& what) {
  ASSERT_EQ(found.power.size(), expected.power.size()) << what;
  EXPECT_EQ(found.modes, expected.modes) << what;
  for (std::size_t b = 0; b < expected.power.size(); ++b) {
    EXPECT_NEAR(found.k[b], expected.k[b], 1e-12 * expected.k[b]) << what;
    EXPECT_NEAR(found.power[b], expected.power[b], tolerance * std::abs(expected.power[b])) << what;
  }
}

/// In bits on hosts.
template <class Case>
void expect_equal(PowerSpectrum const& found, PowerSpectrum const& expected,
                  std::string const& what) {
  if constexpr (coir::runs_on_host<typename Case::Exec>)
    expect_same_bits(found, expected, what);
  else
    expect_near(found, expected, sizeof(typename Case::Real) == 4 ? 2e-5 : 1e-12, what);
}

TYPED_TEST(RanksPowerSpectrum, IsThatOfOneRank) {
  TYPES_OF_CASE;
  auto const all = coir::testing::scattered(1500, box, 1);
  auto const mine = coir::testing::to_view<Exec, T>(of_this_rank(all));
  auto const whole = coir::testing::to_view<Exec, T>(all);
  for (Assignment const assignment : coir::testing::assignments)
    for (bool const interlace : {false, true})
      for (std::int64_t const cells : {16, 7}) {
        PowerSpectrumOptions options;
        options.assignment = assignment;
        options.interlace = interlace;
        options.subtract_shot_noise = interlace;
        std::string const what = std::string(name_of(assignment)) + ", " + std::to_string(cells) +
                                 " cells" + (interlace ? ", interlaced" : "");
        auto const found = coir::mesh::power_spectrum(Exec(), world(), mine, box, cells, options);
        auto const one =
            coir::mesh::power_spectrum(Exec(), Group::self(), whole, box, cells, options);
        expect_equal<TypeParam>(found, one, what);
      }
}

TYPED_TEST(RanksPowerSpectrum, OfTwoSetsIsThatOfOneRank) {
  TYPES_OF_CASE;
  auto const all = coir::testing::scattered(1500, box, 1);
  // Of three particles most ranks have none.
  for (std::size_t const count : {std::size_t(900), std::size_t(3)}) {
    Points const some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    auto const a = coir::testing::to_view<Exec, T>(all), b = coir::testing::to_view<Exec, T>(some);
    auto const my_a = coir::testing::to_view<Exec, T>(of_this_rank(all)),
               my_b = coir::testing::to_view<Exec, T>(of_this_rank(some));
    for (bool const interlace : {false, true})
      for (std::int64_t const cells : {16, 7}) {
        PowerSpectrumOptions options;
        options.assignment = Assignment::tsc;
        options.interlace = interlace;
        std::string const what = std::to_string(count) + " particles, " + std::to_string(cells) +
                                 " cells" + (interlace ? ", interlaced" : "");
        auto const alone = coir::mesh::cross_power_spectrum(Exec(), a, b, box, cells, options);
        expect_equal<TypeParam>(
            coir::mesh::cross_power_spectrum(Exec(), world(), my_a, my_b, box, cells, options),
            alone, what);
        expect_equal<TypeParam>(
            coir::mesh::cross_power_spectrum(Exec(), world(), my_b, my_a, box, cells, options),
            alone, what + ", the other way round");
      }
  }
}

TYPED_TEST(RanksPowerSpectrum, HasTheMultipolesOfOneRank) {
  TYPES_OF_CASE;
  auto const all = coir::testing::scattered(1500, box, 1);
  auto const mine = coir::testing::to_view<Exec, T>(of_this_rank(all));
  auto const whole = coir::testing::to_view<Exec, T>(all);
  for (bool const interlace : {false, true})
    for (std::int64_t const cells : {16, 7}) {
      PowerSpectrumOptions options;
      options.assignment = Assignment::pcs;
      options.interlace = interlace;
      options.subtract_shot_noise = interlace;
      auto const found = coir::mesh::power_multipoles(Exec(), world(), mine, box, cells, options);
      auto const alone = coir::mesh::power_multipoles(Exec(), whole, box, cells, options);
      // Columns in the place of a spectrum's, of which the monopole is the largest.
      auto const spectrum = [](auto const& multipoles, auto const& column) {
        PowerSpectrum result{multipoles.k, multipoles.monopole, multipoles.modes,
                             multipoles.shot_noise};
        for (std::size_t b = 0; b < column.size(); ++b) result.power[b] += column[b];
        return result;
      };
      std::string const what = std::to_string(cells) + " cells";
      expect_equal<TypeParam>(spectrum(found, found.monopole), spectrum(alone, alone.monopole),
                              what);
      expect_equal<TypeParam>(spectrum(found, found.quadrupole), spectrum(alone, alone.quadrupole),
                              what);
      expect_equal<TypeParam>(spectrum(found, found.hexadecapole),
                              spectrum(alone, alone.hexadecapole), what);
    }
}

TYPED_TEST(RanksPowerSpectrum, RefusesWhatOneRankRefuses) {
  TYPES_OF_CASE;
  auto const none = coir::testing::to_view<Exec, T>({});
  EXPECT_EQ(
      coir::testing::message_of([&] { coir::mesh::power_spectrum(Exec(), world(), none, box, 8); }),
      "a power spectrum must be of at least one particle, not 0");
  auto const one = coir::testing::to_view<Exec, T>({{1, 1, 1}});
  EXPECT_EQ(coir::testing::message_of(
                [&] { coir::mesh::cross_power_spectrum(Exec(), world(), one, none, box, 8); }),
            "a power spectrum must be of at least one particle, not 0");
  EXPECT_EQ(
      coir::testing::message_of([&] { coir::mesh::power_spectrum(Exec(), world(), one, box, 0); }),
      "cells of a power spectrum's mesh must be from 1 to 32768 along an axis, not 0");
  // On one rank alone.
  double const x = world().is_first() ? std::numeric_limits<double>::quiet_NaN() : 1;
  auto const wrong = coir::testing::to_view<Exec, T>({{1, x, 1}});
  EXPECT_NE(coir::testing::message_of([&] {
              coir::mesh::power_spectrum(Exec(), world(), wrong, box, 8);
            }).find("positions must be finite, and that of particle 0 isn't"),
            std::string::npos);
  if (world().size() == 1) return;
  PowerSpectrumOptions options;
  options.interlace = world().rank() == world().size() - 1;
  EXPECT_EQ(coir::testing::message_of(
                [&] { coir::mesh::power_spectrum(Exec(), world(), one, box, 8, options); }),
            "all ranks must be given the same choice to interlace: it is off on rank 0 and on on "
            "rank " +
                std::to_string(world().size() - 1));
}

}  // namespace
