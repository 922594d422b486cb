#pragma once

/// Sums over fields that ranks share by planes, with the same bits for any number of ranks.

#include <coir/array/array.hpp>
#include <coir/array/axis_reductions.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/distributed/group.hpp>

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace coir::apps::field {

/// The sum of an expression of three axes over all ranks, whose parts of it follow each other along
/// the first axis: of planes, and of their sums in order. Collective.
template <class E>
double sum_over_ranks(distributed::Group const& group, E const& x) {
  std::vector<double> own(static_cast<std::size_t>(x.shape()[0]));
  if (!own.empty()) {
    auto const sums = to_host(sum(sum(x, 2), 1));
    own.assign(sums.data(), sums.data() + sums.size());
  }
  auto const all = group.gather_all(std::span<double const>(own));
  return std::accumulate(all.begin(), all.end(), 0.0);
}

/// The inner product of fields of all ranks, for lbfgs().
struct InnerProductOfRanks {
  distributed::Group group;

  template <class X>
  double operator()(X const& a, X const& b) const {
    return sum_over_ranks(group, cast<double>(a) * cast<double>(b));
  }
};

}  // namespace coir::apps::field
