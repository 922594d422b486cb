#include <coir/array/npy.hpp>

#include <array/naive.hpp>
#include <io/scratch.hpp>

using namespace coir;
using coir::testing::random_array;
using coir::testing::values;

template <class T>
class Npy : public ::testing::Test {};
using Elements = ::testing::Types<float, double, std::int32_t, std::uint8_t, bool>;
TYPED_TEST_SUITE(Npy, Elements);

TYPED_TEST(Npy, ComesBackAsItWas) {
  coir::testing::TemporaryFolder const folder;
  auto const numbers = random_array<double, DefaultSpace>(Shape<3>{3, 4, 37}, 8);
  auto const a = evaluate(cast<TypeParam>(abs(numbers)));
  save(folder / "a.npy", a);
  auto const b = load<TypeParam, 3>(folder / "a.npy");
  EXPECT_EQ(b.shape(), a.shape());
  EXPECT_EQ(values(b), values(a));
  save(folder / "t.npy", transpose(a));
  EXPECT_EQ(values(load<TypeParam, 3>(folder / "t.npy")), values(transpose(a)));
  save(folder / "none.npy", evaluate(a(range(0, 0))));
  EXPECT_EQ((load<TypeParam, 3>(folder / "none.npy").shape()), (Shape<3>{0, 4, 37}));
}

TEST(NpyArrays, HoldComplexNumbers) {
  coir::testing::TemporaryFolder const folder;
  using Complex = Kokkos::complex<float>;
  auto const z = evaluate(arange(0.f, 3.f) * Complex(1, -2));
  save(folder / "z.npy", z);
  EXPECT_EQ(values(load<Complex, 1>(folder / "z.npy")), values(z));
  EXPECT_EQ(values(load<Kokkos::complex<double>, 1>(folder / "z.npy"))[2],
            (Kokkos::complex<double>(2, -4)));
  save(folder / "x.npy", arange(0.f, 3.f));
  EXPECT_EQ(values(load<Complex, 1>(folder / "x.npy")), (std::vector<Complex>{0, 1, 2}));
  EXPECT_THROW((load<double, 1>(folder / "z.npy")), InputError);
}

TEST(NpyArrays, RefuseWhatDoesNotFit) {
  coir::testing::TemporaryFolder const folder;
  save(folder / "a.npy", zeros<double>(2, 3) + 0.1);
  EXPECT_THROW((load<double, 1>(folder / "a.npy")), InputError);
  EXPECT_THROW((load<float, 2>(folder / "a.npy")), InputError);
  EXPECT_NO_THROW((load<float, 2>(folder / "a.npy", io::Rounding::allow)));
  EXPECT_THROW((load<int, 2>(folder / "a.npy")), InputError);
  EXPECT_THROW((load<double, 2>(folder / "other.npy")), InputError);
  EXPECT_THROW(save(folder / "no" / "a.npy", zeros<double>(2)), ResourceError);
}
