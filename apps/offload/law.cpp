#include "law.hpp"

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

namespace coir::apps::offload {

namespace {

/// Reads a text from its beginning on, passing over blanks.
class Cursor {
 public:
  explicit Cursor(std::string const& text) : rest_(text) { skip_blanks(); }

  bool at_end() const { return rest_.empty(); }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    skip_blanks();
    return true;
  }

  std::optional<double> number() {
    double value = 0;
    auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || !std::isfinite(value) || std::signbit(value)) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    skip_blanks();
    return value;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

/// The power behind n or log2(n), 1 if there is none.
std::optional<double> power_in(Cursor& cursor) {
  constexpr double highest = 9;
  if (!cursor.take("^")) return 1;
  auto const power = cursor.number();
  return power && *power <= highest ? power : std::nullopt;
}

}  // namespace

double Law::at(double n) const {
  double sum = 0;
  for (auto const& [factor, power, logarithms] : terms_)
    sum += factor * std::pow(n, power) * std::pow(std::log2(n), logarithms);
  return sum;
}

std::optional<Law> law_in(std::string const& text) {
  Cursor cursor(text);
  Law law;
  law.text_ = text;
  do {
    Law::Term term;
    do {
      bool const is_logarithm = cursor.take("log2(n)");
      if (is_logarithm || cursor.take("n")) {
        auto const power = power_in(cursor);
        if (!power) return {};
        (is_logarithm ? term.logarithms : term.power) += *power;
      } else if (auto const factor = cursor.number()) {
        term.factor *= *factor;
      } else {
        return {};
      }
    } while (cursor.take("*"));
    if (!std::isfinite(term.factor)) return {};
    if (term.factor > 0) law.terms_.push_back(term);
  } while (cursor.take("+"));
  return cursor.at_end() ? std::optional(law) : std::nullopt;
}

}  // namespace coir::apps::offload
