#include <coir/array/all.hpp>
#include <coir/linalg/matrix_norm.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <limits>

using namespace coir;
using coir::testing::random_array;
using coir::testing::values;

COIR_TYPED_SUITE(MatrixNorms);

// Whole numbers: all sums are exact, and only the square root rounds.
TYPED_TEST(MatrixNorms, AreThoseOfPlainLoops) {
  TYPES_OF_CASE;
  for (std::int64_t m : {1, 2, 31, 513}) {
    for (std::int64_t n : {1, 3, 97}) {
      auto const a = random_array<T, Space>(Shape<2>{m, n}, 5, 9);
      auto const x = values(a);
      std::vector<T> rows(static_cast<std::size_t>(m)), columns(static_cast<std::size_t>(n));
      T squares = 0;
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < columns.size(); ++j) {
          T const element = std::abs(x[i * columns.size() + j]);
          rows[i] += element;
          columns[j] += element;
          squares += element * element;
        }
      EXPECT_NEAR(matrix_norm(a), std::sqrt(squares),
                  std::sqrt(squares) * std::numeric_limits<T>::epsilon());
      EXPECT_EQ(matrix_norm(a, MatrixNorm::one), *std::max_element(columns.begin(), columns.end()));
      EXPECT_EQ(matrix_norm(a, MatrixNorm::infinity), *std::max_element(rows.begin(), rows.end()));
      EXPECT_EQ(matrix_norm(transpose(a), MatrixNorm::one), matrix_norm(a, MatrixNorm::infinity));
    }
  }
}

TEST(MatrixNormsOfOtherNumbers, AreReal) {
  using C = Kokkos::complex<double>;
  auto const a = full<C>(Shape<2>{2, 3}, C(3, 4));
  EXPECT_DOUBLE_EQ(matrix_norm(a, MatrixNorm::one), 10);
  EXPECT_DOUBLE_EQ(matrix_norm(a, MatrixNorm::infinity), 15);
  EXPECT_DOUBLE_EQ(matrix_norm(a), std::sqrt(150));
  auto const i = full<int>(Shape<2>{2, 8}, -1);
  EXPECT_DOUBLE_EQ(matrix_norm(i), 4);
  EXPECT_DOUBLE_EQ(matrix_norm(i, MatrixNorm::infinity), 8);
  // |-128| is no int8.
  auto const bytes = array<std::int8_t>({{-128, -128}, {1, 1}});
  EXPECT_DOUBLE_EQ(matrix_norm(bytes, MatrixNorm::infinity), 256);
  EXPECT_DOUBLE_EQ(matrix_norm(bytes, MatrixNorm::one), 129);
}

TEST(MatrixNormsOfNothing, AreZero) {
  for (auto which : {MatrixNorm::frobenius, MatrixNorm::one, MatrixNorm::infinity}) {
    EXPECT_EQ(matrix_norm(zeros(0, 3), which), 0);
    EXPECT_EQ(matrix_norm(zeros(3, 0), which), 0);
  }
}
