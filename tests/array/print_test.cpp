#include <coir/array/print.hpp>

#include <array/naive.hpp>

#include <cmath>
#include <limits>
#include <sstream>

using namespace coir;

template <class E>
std::string printed(E const& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

TEST(Print, LooksLikeNumPy) {
  EXPECT_EQ(printed(array({1, 20, 3})), "[ 1 20  3]");
  EXPECT_EQ(printed(array({{1., 2.5}, {-3., 4.}})), "[[  1 2.5]\n [ -3   4]]");
  EXPECT_EQ(printed(reshape(arange(8), Shape<3>{2, 2, 2})),
            "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  EXPECT_EQ(printed(array({1, 2}) > 1), "[false  true]");
  EXPECT_EQ(printed(zeros<double>(0)), "[]");
  EXPECT_EQ(printed(full(Shape<0>{}, 5)), "5");
  EXPECT_EQ(printed(full(Shape<1>{1}, Kokkos::complex<double>(1, -2))), "[1-2i]");
  double const nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(printed(array({-1., std::copysign(nan, -1.), nan})), "[ -1 nan nan]");
  EXPECT_EQ(printed(full({1}, Kokkos::complex<double>(1, std::copysign(nan, -1.)))), "[1+nani]");
}

TEST(Print, DigitsAreTheStreams) {
  std::ostringstream out;
  out.precision(10);
  // On devices an element is printed as a slice of rank 0.
  Array<double, 1> const thirds = array({1. / 3, 2.});
  out << thirds << ' ' << thirds(0) << ' ' << array({Kokkos::complex<double>(1, 2. / 3)});
  EXPECT_EQ(out.str(), "[0.3333333333            2] 0.3333333333 [1+0.6666666667i]");
  out.str("");
  out.precision(1000);
  out << array({0.1});
  EXPECT_EQ(out.str(), "[0.10000000000000001]");
}

TEST(Print, LongOnesAreCutShort) {
  EXPECT_EQ(printed(arange(2000)), "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(printed(arange(1000)).find("..."), std::string::npos);
  EXPECT_EQ(printed(zeros<int>(2, 2000)), "[[0 0 0 ... 0 0 0]\n [0 0 0 ... 0 0 0]]");
}
