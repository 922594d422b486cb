// Broadcasting, slices, transposed and joined arrays.

#include <coir/array/joining.hpp>
#include <coir/array/roll.hpp>

#include <array/numpy/types.hpp>

namespace coir::testing::numpy {
namespace {

template <int A, int B>
Values sum_of(Case const& c) {
  return values_of(array_of<double, A>(c.operands[0]) + array_of<double, B>(c.operands[1]));
}
Values broadcasts(Case const& c) {
  constexpr Statement all[5][5] = {
      {sum_of<0, 0>, sum_of<0, 1>, sum_of<0, 2>, sum_of<0, 3>, sum_of<0, 4>},
      {sum_of<1, 0>, sum_of<1, 1>, sum_of<1, 2>, sum_of<1, 3>, sum_of<1, 4>},
      {sum_of<2, 0>, sum_of<2, 1>, sum_of<2, 2>, sum_of<2, 3>, sum_of<2, 4>},
      {sum_of<3, 0>, sum_of<3, 1>, sum_of<3, 2>, sum_of<3, 3>, sum_of<3, 4>},
      {sum_of<4, 0>, sum_of<4, 1>, sum_of<4, 2>, sum_of<4, 3>, sum_of<4, 4>}};
  return all[c.operands.at(0).axes.size()][c.operands.at(1).axes.size()](c);
}

template <int Rank>
Values transposed(Case const& c) {
  std::array<int, Rank> order{};
  for (std::size_t d = 0; d < Rank; ++d) order[d] = static_cast<int>(c.integers.at(d));
  return values_of(transpose(array_of<double, Rank>(c.operands[0]), order));
}
Values transposes(Case const& c) {
  switch (c.integers.size()) {
    case 2: return transposed<2>(c);
    case 3: return transposed<3>(c);
  }
  return transposed<4>(c);
}

int axis_of(Case const& c, std::size_t i) { return static_cast<int>(c.integers.at(i)); }

Values flips(Case const& c) {
  return values_of(flip(array_of<double, 3>(c.operands[0]), axis_of(c, 0)));
}
Values reshapes(Case const& c) {
  return values_of(
      reshape(array_of<double, 3>(c.operands[0]), Shape<2>{c.integers.at(0), c.integers.at(1)}));
}
Values rolls(Case const& c) {
  return values_of(roll(array_of<double, 2>(c.operands[0]), c.integers.at(0), axis_of(c, 1)));
}
Values concatenates(Case const& c) {
  return values_of(concatenate(axis_of(c, 0), array_of<double, 2>(c.operands[0]),
                               array_of<double, 2>(c.operands[1])));
}
Values wheres(Case const& c) {
  return values_of(where(array_of<bool, 2>(c.operands[0]), array_of<double, 2>(c.operands[1]),
                         array_of<I32, 2>(c.operands[2])));
}
Values overlaps(Case const& c) {
  auto const x = array_of<double, 1>(c.operands[0]);
  std::int64_t const shift = c.integers.at(0);
  auto const later = x(range(shift, end)), earlier = x(range(end, -shift));
  if (c.integers.at(1) == 1)
    later = earlier + 1;
  else
    earlier = later + 1;
  return values_of(x);
}

Register const all[] = {{"broadcast", broadcasts}, {"transpose", transposes},
                        {"flip", flips},           {"reshape", reshapes},
                        {"roll", rolls},           {"concatenate", concatenates},
                        {"where", wheres},         {"overlap", overlaps}};

}  // namespace
}  // namespace coir::testing::numpy
