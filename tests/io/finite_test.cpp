#include <coir/core/errors.hpp>
#include <coir/io/finite.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>
#include <support/spaces.hpp>

#include <limits>
#include <string>
#include <tuple>

using namespace coir::testing;

template <class C>
class Finite : public ::testing::Test {};
TYPED_TEST_SUITE(Finite, Cases, CaseName);

template <class Case>
auto field_with(int at, typename Case::Real value) {
  using T = typename Case::Real;
  Kokkos::View<T***, typename Case::Exec> field("field", 2, 3, 5);
  auto const host = Kokkos::create_mirror_view(field);
  for (int n = 0; n < 30; ++n) host(n / 15, n / 5 % 3, n % 5) = T(n);
  if (at >= 0) host(at / 15, at / 5 % 3, at % 5) = value;
  Kokkos::deep_copy(field, host);
  return field;
}

TYPED_TEST(Finite, FiniteFieldsPass) {
  EXPECT_NO_THROW(coir::io::expects_finite(field_with<TypeParam>(-1, 0), "a.npy"));
  Kokkos::View<typename TypeParam::Real*, typename TypeParam::Exec> const none("none", 0);
  EXPECT_NO_THROW(coir::io::expects_finite(none, "a.npy"));
}

TYPED_TEST(Finite, TheFirstBadElementIsNamed) {
  using Limits = std::numeric_limits<typename TypeParam::Real>;
  auto const message = [](auto const& field) {
    return message_of<coir::InputError>([&] { coir::io::expects_finite(field, "a.npy"); });
  };
  expect_parts(message(field_with<TypeParam>(0, Limits::quiet_NaN())),
               {"a.npy", "[0, 0, 0] is nan"});
  expect_parts(message(field_with<TypeParam>(29, Limits::infinity())), {"[1, 2, 4] is inf"});
  expect_parts(message(field_with<TypeParam>(16, -Limits::infinity())),
               {"[1, 0, 1] is -inf", "must be finite", "replace it"});
}

TYPED_TEST(Finite, OfAPartTheElementOfTheWholeIsNamed) {
  auto const nan = std::numeric_limits<typename TypeParam::Real>::quiet_NaN();
  for (auto const& [at, first, index] :
       {std::tuple{0, 0, "[0, 0, 0]"}, std::tuple{0, 7, "[7, 0, 0]"},
        std::tuple{16, 7, "[8, 0, 1]"}})
    expect_parts(message_of<coir::InputError>([&] {
                   coir::io::expects_finite(field_with<TypeParam>(at, nan), "a.npy", first);
                 }),
                 {std::string("a.npy: element ") + index + " is nan"});
}

TYPED_TEST(Finite, ASingleNumberHasNoIndex) {
  using T = typename TypeParam::Real;
  Kokkos::View<T, Kokkos::HostSpace> number("number");
  number() = std::numeric_limits<T>::infinity();
  expect_parts(message_of<coir::InputError>([&] { coir::io::expects_finite(number, "a.npy"); }),
               {"element [] is inf"});
}
