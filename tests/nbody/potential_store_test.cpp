#include <coir/fft/in_place.hpp>
#include <coir/nbody/detail/potential_store.hpp>

#include <support/held_memory.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include <cstdint>
#include <vector>

using namespace coir;

namespace {

template <class Case>
using StoreOf = nbody::detail::PotentialStore<typename Case::Exec, typename Case::Real>;

template <class Case>
using PotentialOf = typename StoreOf<Case>::Potential;

template <class Case>
void fill(PotentialOf<Case> const& potential, int number) {
  using T = typename Case::Real;
  Kokkos::deep_copy(potential, Kokkos::complex<T>(static_cast<T>(number), T(0)));
}

/// The number that fill() has written to all of it; -1 if it isn't that.
template <class Case>
int number_in(PotentialOf<Case> const& potential) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, potential);
  for (std::size_t c = 1; c < host.size(); ++c)
    if (host.data()[c] != host.data()[0]) return -1;
  return host.size() == 0 ? -1 : static_cast<int>(host.data()[0].real());
}

/// Potentials of kicks with a force each, with the numbers `first`, `first` + 1 ...
template <class Case>
void keep(StoreOf<Case>& store, int kicks, int first = 0) {
  store.begin(kicks);
  for (int k = 0; k < kicks; ++k) {
    fill<Case>(store.next(), first + k);
    store.push();
  }
  store.end();
}

}  // namespace

template <class Case>
class PotentialStores : public ::testing::Test {};
TYPED_TEST_SUITE(PotentialStores, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(PotentialStores, GiveBackTheLastOneFirst) {
  int const block = static_cast<int>(StoreOf<TypeParam>::at_a_time);
  for (Shape<3> const shape : {Shape<3>{1, 1, 1}, Shape<3>{5, 4, 3}, Shape<3>{2, 3, 8}})
    for (int const kicks : {1, block - 1, block, 2 * block + 5}) {
      StoreOf<TypeParam> store(shape);
      keep<TypeParam>(store, kicks);
      EXPECT_EQ(store.size(), kicks);
      EXPECT_EQ(store.held(), kicks);
      for (int k = kicks; k-- > 0;) {
        auto const& potential = store.pop();
        EXPECT_EQ(potential.extent(0), static_cast<std::size_t>(shape[0]));
        EXPECT_EQ(potential.extent(1), static_cast<std::size_t>(shape[1]));
        EXPECT_EQ(potential.extent(2), static_cast<std::size_t>(shape[2] / 2 + 1));
        ASSERT_EQ(number_in<TypeParam>(potential), k);
        EXPECT_EQ(store.present().data(), potential.data());
      }
      EXPECT_EQ(store.size(), 0);
    }
}

TYPED_TEST(PotentialStores, KeepNoneUnlessTheyAreAsked) {
  coir::testing::HeldMemory const held;
  StoreOf<TypeParam> store({4, 4, 4});
  EXPECT_EQ(store.next().data(), nullptr);
  store.push();
  EXPECT_EQ(store.size(), 1);
  EXPECT_EQ(store.held(), 0);
  keep<TypeParam>(store, 1, 7);
  EXPECT_EQ(store.next().data(), nullptr);  // ended
  store.push();
  EXPECT_GT(held.now(), 0);
  EXPECT_EQ(store.pop().data(), nullptr);
  EXPECT_EQ(number_in<TypeParam>(store.pop()), 7);
  EXPECT_EQ(store.pop().data(), nullptr);
  store.end();
  EXPECT_EQ(held.now(), 0);
}

TYPED_TEST(PotentialStores, ShareThePotentialOfKicksInOneForce) {
  Shape<3> const shape{3, 3, 3};
  StoreOf<TypeParam> store(shape);
  keep<TypeParam>(store, 1, 4);  // the closing kick of a call
  store.begin(2);                // whose force the next call finds on the mesh
  store.push();
  EXPECT_EQ(store.size(), 2);
  EXPECT_EQ(store.held(), 1);
  fill<TypeParam>(store.next(), 5);
  store.push();
  EXPECT_EQ(store.held(), 2);
  for (int const number : {5, 4, 4}) EXPECT_EQ(number_in<TypeParam>(store.pop()), number);
}

TYPED_TEST(PotentialStores, TakeMemoryForTheKicksToComeAlone) {
  Shape<3> const shape{40, 40, 40};
  std::int64_t const each = coir::fft::bytes_in_place<typename TypeParam::Real>(shape);
  std::int64_t const block = StoreOf<TypeParam>::at_a_time;
  coir::testing::HeldMemory const held;
  StoreOf<TypeParam> store(shape);
  EXPECT_EQ(held.now(), 0);
  for (std::int64_t const kicks : {std::int64_t(3), block + 2}) {
    keep<TypeParam>(store, static_cast<int>(kicks));
    EXPECT_NEAR(static_cast<double>(held.now()), static_cast<double>(kicks * each), 4096);
    while (store.size() > 0) store.pop();
    store.end();
    EXPECT_EQ(held.now(), 0);
  }
  store.begin(2);
  store.next();
  EXPECT_NEAR(static_cast<double>(held.now()), static_cast<double>(2 * each), 4096);
  store.end();  // a call that failed before its kick
  EXPECT_EQ(held.now(), 0);
}

// 2^40 numbers are more than machines have.
TYPED_TEST(PotentialStores, KeepNoneWhereMemoryIsShort) {
  StoreOf<TypeParam> store({1 << 14, 1 << 13, 1 << 13});
  store.begin(5);
  EXPECT_EQ(store.next().data(), nullptr);
  store.push();
  EXPECT_EQ(store.pop().data(), nullptr);
}

TYPED_TEST(PotentialStores, NameAMissingKick) {
  StoreOf<TypeParam> store({4, 4, 4});
  EXPECT_EQ(coir::testing::message_of([&] { store.pop(); }),
            "there must be a kick whose potential can be taken from the stack");
}
