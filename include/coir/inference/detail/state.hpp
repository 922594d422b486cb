#pragma once

/// States of samplers as lists of numbers, which they go on from with the same bits.

#include <coir/core/errors.hpp>
#include <coir/inference/detail/vectors.hpp>
#include <coir/inference/options.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace coir::inference::detail {

/// Appends numbers and the elements of Views to a list.
class StateWriter {
 public:
  explicit StateWriter(std::vector<double>& numbers) : numbers_(numbers) {}

  template <class V>
  void operator()(V const& value) {
    if constexpr (Kokkos::is_view<V>::value) {
      auto const elements = elements_of(value);
      numbers_.insert(numbers_.end(), elements.begin(), elements.end());
    } else {
      numbers_.push_back(static_cast<double>(value));
    }
  }

 private:
  std::vector<double>& numbers_;
};

/// Takes numbers and the elements of Views from the list again, in the same order.
class StateReader {
 public:
  explicit StateReader(std::vector<double> const& numbers) : numbers_(numbers) {}

  template <class V>
  void operator()(V& value) {
    if constexpr (Kokkos::is_view<V>::value) {
      set_elements(value, next(value.size()));
    } else {
      double const number = *next(1);
      if constexpr (std::is_integral_v<V>) {
        using Limits = std::numeric_limits<V>;
        expects(std::abs(number) < 0x1p53 && number >= static_cast<double>(Limits::min()) &&
                    number <= static_cast<double>(Limits::max()),
                wrong);
      }
      value = static_cast<V>(number);
    }
  }
  void expects_end() const { expects(at_ == numbers_.size(), wrong); }

 private:
  static constexpr char const* wrong =
      "the state is of another number of chains, parameters or mass: go on with the sampler and "
      "the "
      "options that it was made with";

  double const* next(std::size_t count) {
    expects(count <= numbers_.size() - at_, wrong);
    at_ += count;
    return numbers_.data() + (at_ - count);
  }

  std::vector<double> const& numbers_;
  std::size_t at_ = 0;
};

/// What a state begins with.
struct StateHead {
  double sampler = 0;  // below 0 without a Metropolis test
  random::Key key;
  std::int64_t chains = 0, parameters = 0, warmup = 0, thin = 0, done = 0;
  int mass = 0;

  template <class Archive>
  void visit(Archive& archive) {
    archive(sampler);
    for (auto& word : key.words) archive(word);
    archive(chains);
    archive(parameters);
    archive(warmup);
    archive(thin);
    archive(done);
    archive(mass);
  }
};

/// \throws PreconditionError unless a state is of this sampler and these options
inline void expects_same(StateHead const& head, double sampler, Options const& options) {
  expects(head.sampler == sampler, "the state is of another sampler: go on with that one");
  expects(head.warmup == options.warmup,
          "the state was made with another warmup, " + std::to_string(head.warmup), options.warmup);
  expects(head.thin == options.thin,
          "the state was made with another thin, " + std::to_string(head.thin), options.thin);
  expects(head.mass == static_cast<int>(options.mass),
          "the state was made with another kind of mass: give the same");
}

}  // namespace coir::inference::detail
