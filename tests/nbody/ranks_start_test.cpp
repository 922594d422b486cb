#include <coir/core/pool.hpp>
#include <coir/io/npy.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <support/command.hpp>
#include <support/held_memory.hpp>
#include <support/message_of.hpp>
#include <support/numbers.hpp>
#include <support/ranks.hpp>
#include <support/typed_suite.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace {

using coir::distributed::Group;
using coir::nbody::LptOptions;
using coir::testing::numbers_of;
using coir::testing::world;

coir::cosmology::LinearPower<double> linear_power() {
  return coir::cosmology::LinearPower<double>(coir::cosmology::planck15());
}

COIR_RANKS_SUITE(RanksStart);

/// Compares this rank's particles with those of the whole lattice: in bits on hosts.
template <class Exec, class T>
void compare(std::int64_t side, LptOptions const& options) {
  double const box = 100, a = 0.1;
  auto const power = linear_power();
  auto const all = coir::nbody::initial_conditions<Exec, T>(Exec(), side, box, power, a, options);
  auto const here =
      coir::nbody::initial_conditions<Exec, T>(Exec(), world(), side, box, power, a, options);
  auto const planes = coir::distributed::share_of(side, world().rank(), world().size());
  ASSERT_EQ(here.sites,
            (coir::distributed::Share{planes.first * side * side, planes.count * side * side}));
  ASSERT_EQ(here.total(), side * side * side);
  ASSERT_EQ(static_cast<std::int64_t>(here.position.extent(0)), here.count());
  auto const first = static_cast<std::size_t>(3 * here.sites.first);
  for (auto const& [whole, part] : {std::pair(numbers_of(all.position), numbers_of(here.position)),
                                    std::pair(numbers_of(all.momentum), numbers_of(here.momentum))})
    for (std::size_t n = 0; n < part.size(); ++n) {
      if (coir::runs_on_host<Exec>)
        ASSERT_EQ(part[n], whole[first + n]) << "number " << n << " of " << side;
      else
        ASSERT_NEAR(part[n], whole[first + n], 1e-5 * box) << "number " << n << " of " << side;
    }
}

TYPED_TEST(RanksStart, IsThatOfOneRank) {
  for (std::int64_t const side : {1, 5, 8, 16, 33})
    for (int const order : {1, 2})
      compare<typename TypeParam::Exec, typename TypeParam::Real>(side, {.order = order});
}

TYPED_TEST(RanksStart, ReadsItsPlanesOfANoiseFile) {
  TYPES_OF_CASE;
  std::size_t const n = 9;
  Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> const in_c("noise", n, n, n);
  Kokkos::View<double***, Kokkos::LayoutLeft, Kokkos::HostSpace> const in_fortran("noise", n, n, n);
  for (std::size_t i = 0; i < in_c.size(); ++i)
    in_c.data()[i] = static_cast<double>((i * 7919) % 101) / 50 - 1;
  Kokkos::deep_copy(in_fortran, in_c);
  coir::testing::TemporaryFolder const folder;
  coir::io::write_npy(folder / "c.npy", in_c);
  coir::io::write_npy(folder / "fortran.npy", in_fortran);
  compare<Exec, T>(9, {.noise_file = (folder / "c.npy").string()});
  compare<Exec, T>(9, {.noise_file = (folder / "fortran.npy").string()});
  in_c(n - 1, 0, 2) = std::nan("");  // which one rank reads
  Kokkos::deep_copy(in_fortran, in_c);
  coir::io::write_npy(folder / "c.npy", in_c);
  coir::io::write_npy(folder / "fortran.npy", in_fortran);
  for (std::string const name : {"c.npy", "fortran.npy"}) {
    LptOptions const options{.noise_file = (folder / name).string()};
    EXPECT_EQ(coir::testing::message_of<coir::InputError>([&] {
                coir::nbody::initial_conditions<Exec, T>(Exec(), world(), 9, 100, linear_power(),
                                                         0.1, options);
              }).substr(options.noise_file.size()),
              ": element [8, 0, 2] is nan, every element must be finite: replace it "
              "(numpy.nan_to_num does)");
  }
}

TYPED_TEST(RanksStart, HoldsTheMemoryThatItPredicts) {
  TYPES_OF_CASE;
  for (std::int64_t const side : {48, 33}) {
    auto const make = [&] {
      coir::nbody::initial_conditions<Exec, T>(Exec(), world(), side, 100, linear_power(), 0.1);
    };
    make();  // plans are kept for the next one
    auto const predicted = coir::nbody::initial_conditions_bytes<Exec, T>(Exec(), world(), side);
    coir::MemoryPool<typename Exec::memory_space>::release();
    coir::testing::HeldMemory const held;
    make();
    EXPECT_LE(held.peak(), predicted + 8192 * 8 + 4096);  // with the table of amplitudes
    EXPECT_GE(held.peak(), predicted * 8 / 10);
  }
}

TYPED_TEST(RanksStart, TellsOnAllRanksWhatIsWrong) {
  TYPES_OF_CASE;
  auto const made = [&](std::int64_t side, LptOptions const& options) {
    coir::nbody::initial_conditions<Exec, T>(Exec(), world(), side, 100, linear_power(), 0.1,
                                             options);
  };
  EXPECT_EQ(coir::testing::message_of([&] { made(0, {}); }),
            "the particles along a side must be from 1 to 2^18, not 0");
  EXPECT_THROW(made(8, {.noise_file = "/nowhere/noise.npy"}), coir::InputError);
  if (world().size() == 1) return;
  int const last = world().size() - 1;
  std::uint64_t const seed = world().rank() == last ? 7 : 1;
  EXPECT_EQ(coir::testing::message_of([&] { made(8, {.noise = {.seed = seed}}); }),
            "all ranks must be given the same seed: it is 1 on rank 0 and 7 on rank " +
                std::to_string(last));
}

}  // namespace
