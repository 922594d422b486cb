#pragma once

#include <optional>
#include <string>
#include <vector>

namespace coir::apps::offload {

/// How a quantity grows with the size n of a problem: a sum of terms  c n^a log2(n)^b  with c, a, b
/// >= 0, so that it never falls.
class Law {
 public:
  /// Zero.
  Law() = default;

  /// At a size from 1 on.
  double at(double n) const;

  bool is_zero() const { return terms_.empty(); }

  /// The law as it was written.
  std::string const& text() const { return text_; }

 private:
  friend std::optional<Law> law_in(std::string const& text);
  struct Term {
    double factor = 1, power = 0, logarithms = 0;
  };
  std::vector<Term> terms_;
  std::string text_ = "0";
};

/// Reads laws such as "64", "2*n^3", "5*n*log2(n) + 1e3". Nothing if the text isn't one; powers are
/// from 0 to 9.
std::optional<Law> law_in(std::string const& text);

/// The description of a law, for messages about texts that are none.
inline constexpr char law_example[] =
    "a law of n made of + and * and powers up to 9, like 2*n^3 or 5*n*log2(n) + 64";

}  // namespace coir::apps::offload
