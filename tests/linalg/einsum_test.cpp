#include <coir/array/all.hpp>
#include <coir/linalg/einsum.hpp>
#include <coir/linalg/outer.hpp>

#include <array/naive.hpp>
#include <support/spaces.hpp>

#include <type_traits>

using namespace coir;
using coir::testing::message_of;
using coir::testing::random_array;
using coir::testing::values;

template <class Case>
class Einsum : public ::testing::Test {
 public:
  using T = typename Case::Real;
  using Space = typename Case::Exec::memory_space;
};
TYPED_TEST_SUITE(Einsum, coir::testing::Cases, coir::testing::CaseName);

#define TYPES                        \
  using T = typename TestFixture::T; \
  using Space = typename TestFixture::Space

// Whole numbers: every order of adding gives the same.

TYPED_TEST(Einsum, OfOneOperand) {
  TYPES;
  auto const a = random_array<T, Space>(Shape<2>{3, 3}, 1);
  auto const c = random_array<T, Space>(Shape<3>{2, 3, 4}, 2);
  EXPECT_EQ(einsum<"ii->">(a), sum(diagonal(a)));
  EXPECT_EQ(values(einsum<"ii->i">(a)), values(diagonal(a)));
  EXPECT_EQ(values(einsum<"ji">(a)), values(transpose(a)));  // i, j in alphabetical order
  EXPECT_EQ(einsum<"ii">(a), sum(diagonal(a)));
  EXPECT_EQ(values(einsum<"ijk->ki">(2 * c)), values(2 * transpose(sum(c, 1))));
  EXPECT_EQ(values(einsum<"i j k -> j">(c)), values(sum(sum(c, 2), 0)));
  EXPECT_EQ(einsum<"ijk->">(c), sum(c));
  EXPECT_EQ(values(einsum<"iij->j">(random_array<T, Space>(Shape<3>{2, 2, 3}, 2))).size(), 3u);
  EXPECT_TRUE((std::is_same_v<decltype(einsum<"ij->">(a)), T>));
}

TYPED_TEST(Einsum, AddsSmallIntegersIn64Bits) {
  using Space = typename TestFixture::Space;
  auto const x = full<std::uint8_t, Space>(Shape<1>{5}, std::uint8_t(200));
  auto const m = full<std::int8_t, Space>(Shape<2>{3, 3}, std::int8_t(-128));
  EXPECT_EQ((einsum<"i,i->">(x, x)), 200000u);
  EXPECT_EQ((einsum<"ij,ji->">(m, m)), 9 * 128 * 128);
  EXPECT_EQ((einsum<"i,j->">(x, x)), 1000000u);
  EXPECT_EQ(einsum<"ii->">(m), -384);
  EXPECT_EQ(values(einsum<"ij->j">(m)), (std::vector<std::int64_t>(3, -384)));
}

TYPED_TEST(Einsum, OfMatricesAndVectors) {
  TYPES;
  for (std::int64_t n : {1, 2, 31}) {
    auto const a = random_array<T, Space>(Shape<2>{n, 3}, 3, 9),
               b = random_array<T, Space>(Shape<2>{3, n}, 4, 9);
    auto const x = random_array<T, Space>(Shape<1>{3}, 5, 9),
               y = random_array<T, Space>(Shape<1>{n}, 6, 9);
    EXPECT_EQ(values(einsum<"ij,jk->ik">(a, b)), values(matmul(a, b)));
    EXPECT_EQ(values(einsum<"ij,jk">(a, b)), values(matmul(a, b)));
    EXPECT_EQ(values(einsum<"ij,jk->ki">(a, b)), values(transpose(matmul(a, b))));
    EXPECT_EQ(values(einsum<"ij,kj->ik">(a, transpose(b))), values(matmul(a, b)));
    EXPECT_EQ(values(einsum<"ij,j->i">(a, x)), values(matmul(a, x)));
    EXPECT_EQ(values(einsum<"j,ij->i">(x, a)), values(matmul(a, x)));
    EXPECT_EQ(values(einsum<"i,j->ij">(y, x)), values(outer(y, x)));
    EXPECT_EQ(einsum<"i,i->">(x, 2 * x), 2 * dot(x, x));
    EXPECT_EQ(einsum<"ij,ji->">(a, b), sum(a * transpose(b)));
    EXPECT_EQ(values(einsum<"ij,i->ij">(a, y)), values(a * y(range(), newaxis)));
    EXPECT_EQ((einsum<"ij,jk->">(a, b)), sum(matmul(a, b)));
    EXPECT_EQ(values(einsum<"ij,k->k">(a, y)), values(sum(a) * y));
  }
  auto const none = zeros<T, Space>({2, 0});
  EXPECT_EQ(values(einsum<"ij,kj->ik">(none, none)), (std::vector<T>{0, 0, 0, 0}));
}

// numpy.einsum("bij,bjk->bki"), ("ijkl,kl->ij"), ("abc,cbd->ad") and ("iij,jk->ik") in plain loops
TYPED_TEST(Einsum, OfStacksAndSeveralLabels) {
  TYPES;
  auto const p = random_array<T, Space>(Shape<3>{2, 3, 4}, 7, 9),
             q = random_array<T, Space>(Shape<3>{2, 4, 5}, 8, 9);
  auto const found = coir::testing::naive(einsum<"bij,bjk->bki">(p, q));
  auto const hp = coir::testing::naive(p), hq = coir::testing::naive(q);
  ASSERT_EQ(found.shape, (std::vector<std::int64_t>{2, 5, 3}));
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t k = 0; k < 5; ++k) {
        T expected = 0;
        for (std::int64_t j = 0; j < 4; ++j) expected += hp.at({b, i, j}) * hq.at({b, j, k});
        EXPECT_EQ(found.at({b, k, i}), expected);
      }
  auto const r = random_array<T, Space>(Shape<4>{2, 3, 4, 5}, 9, 9);
  auto const s = random_array<T, Space>(Shape<2>{4, 5}, 10, 9);
  EXPECT_EQ(values(einsum<"ijkl,kl->ij">(r, s)), values(sum(sum(r * s, 3), 2)));
  EXPECT_EQ(values(einsum<"ijkl,jm->ikml">(r, ones<T, Space>({3, 1}))),
            values(transpose(sum(r, 1)(range(), range(), range(), newaxis), {0, 1, 3, 2})));
  EXPECT_EQ(values(einsum<"abc,cbd->ad">(p, transpose(p, {2, 1, 0}))),
            values(matmul(reshape(p, {2, 12}), transpose(reshape(p, {2, 12})))));
  EXPECT_EQ(values(einsum<"bij,bij->b">(p, p)), values(sum(sum(p * p, 2), 1)));
}

TYPED_TEST(Einsum, OtherExtentsAreAnError) {
  TYPES;
  auto const a = ones<T, Space>({2, 3});
  EXPECT_EQ(message_of([&] { einsum<"ij,jk->ik">(a, a); }),
            "the label 'j' of einsum stands for 3 and for 2 elements, which must be equal");
  EXPECT_THROW(einsum<"ii->">(a), PreconditionError);
}

TEST(EinsumOfOthers, OfIntegersAndComplexNumbers) {
  auto const a = array({{1, 2}, {3, 4}});
  EXPECT_EQ(values(einsum<"ij,jk->ik">(a, a)), (std::vector<int>{7, 10, 15, 22}));
  using Complex = Kokkos::complex<double>;
  auto const z = array({Complex(1, 2), Complex(3, 4)});
  EXPECT_EQ(einsum<"i,i->">(z, z), Complex(-10, 28));  // nothing is conjugated
}
