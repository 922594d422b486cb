#include <autodiff/programs.hpp>

#include <coir/autodiff/linalg.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// One head of attention.
struct Attention {
  Array<float, 2, Memory> const& tokens;
  template <class Q, class K, class V>
  auto operator()(Q const& wq, K const& wk, V const& wv) const {
    auto const scores =
        evaluate(matmul(matmul(tokens, wq), transpose(matmul(tokens, wk))) * 0.125F);
    auto const weights = evaluate(exp(scores - with_axis(max(scores, 1), 1)));
    auto const shares = evaluate(weights / with_axis(sum(weights, 1), 1));
    return mean(square(matmul(shares, matmul(tokens, wv))));
  }
};

bool const attention_added =
    add_program("attention", {256}, [](auto&, std::int64_t n, auto const& time) {
      auto const tokens = matrix(n, 64);
      time(Attention{tokens}, matrix(64, 64, 0.2), matrix(64, 64, 0.3), matrix(64, 64));
    });

}  // namespace

}  // namespace coir::bench
