// Random statements, whose answers generate.py and edges.py had from NumPy 2 and from exact
// arithmetic. Another file of cases than cases.bin and edges.bin may be named by COIR_NUMPY_CASES.

#include <array/numpy/cases.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

namespace {

using namespace coir::testing::numpy;

/// Reads a file of cases from its start to its end.
class Reader {
 public:
  explicit Reader(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    std::string const magic = "coir cases 1\n";
    if (bytes_.compare(0, magic.size(), magic) != 0)
      throw std::runtime_error(path + " isn't there, or no file of cases");
    at_ = magic.size();
  }

  template <class T>
  T next() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  template <class T>
  std::vector<T> next_few() {
    std::vector<T> result(next<std::uint8_t>());
    for (T& value : result) value = next<T>();
    return result;
  }
  std::string text() {
    auto const size = next<std::uint8_t>();
    return {take(size), size};
  }
  std::vector<std::byte> elements(int type, std::int64_t count) {
    std::vector<std::byte> result(bytes_of.at(static_cast<std::size_t>(type)) *
                                  static_cast<std::size_t>(count));
    if (!result.empty()) std::memcpy(result.data(), take(result.size()), result.size());
    return result;
  }
  bool done() const { return at_ == bytes_.size(); }

 private:
  char const* take(std::size_t count) {
    if (count > bytes_.size() - at_) throw std::runtime_error("the file of cases ends early");
    at_ += count;
    return bytes_.data() + at_ - count;
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

Case read_case(Reader& reader) {
  Case c;
  c.name = reader.text();
  c.integers = reader.next_few<std::int64_t>();
  c.reals = reader.next_few<double>();
  c.operands.resize(reader.next<std::uint8_t>());
  for (Operand& operand : c.operands) {
    bool const array = reader.next<std::uint8_t>() == 1;
    operand.type = reader.next<std::uint8_t>();
    std::int64_t size = 1;
    if (array) operand.axes.resize(reader.next<std::uint8_t>());
    for (auto& axis : operand.axes) {
      for (auto& number : axis) number = reader.next<std::int16_t>();
      size *= axis[0];
    }
    operand.bytes = reader.elements(operand.type, size);
  }
  c.refused = reader.next<std::uint8_t>() == 1;
  c.strict = reader.next<std::uint8_t>() == 1;
  bool const slack = reader.next<std::uint8_t>() == 1;
  c.ulps = reader.next<double>();
  if (c.refused) return c;
  c.result.type = reader.next<std::uint8_t>();
  c.result.shape.resize(reader.next<std::uint8_t>());
  std::int64_t size = 1;
  for (auto& extent : c.result.shape) size *= extent = reader.next<std::int16_t>();
  c.result.bytes = reader.elements(c.result.type, size);
  if (slack)
    for (std::int64_t i = 0; i < size; ++i) c.slack.push_back(reader.next<double>());
  return c;
}

template <class T>
bool agree(T found, T expected, Case const& c, std::size_t i) {
  if constexpr (coir::is_complex<T>) {
    if (c.slack.empty())
      return agree(found.real(), expected.real(), c, i) &&
             agree(found.imag(), expected.imag(), c, i);
    return std::hypot(double(found.real()) - double(expected.real()),
                      double(found.imag()) - double(expected.imag())) <= c.slack[i];
  } else if constexpr (std::is_integral_v<T>) {
    return found == expected;
  } else {
    if (std::isnan(expected)) return std::isnan(found);
    if (found == expected)
      return !c.strict || found != 0 || std::signbit(found) == std::signbit(expected);
    using Limits = std::numeric_limits<T>;
    if (!std::isfinite(expected) || std::isnan(found)) return false;
    if (std::isinf(found) && std::signbit(found) != std::signbit(expected)) return false;
    // An infinite result may be the power of two after the largest number, an ulp from it: CUDA's
    // hypot of the largest number and a small one is.
    double const distance =
        std::isinf(found)
            ? 2 * (std::ldexp(1.0, Limits::max_exponent - 1) - std::abs(double(expected)) / 2)
            : std::abs(double(found) - double(expected));
    if (!c.slack.empty()) return distance <= c.slack[i];
    T const size = std::clamp(std::abs(expected), Limits::min(), Limits::max() / 2);
    return distance <= c.ulps * (double(std::nextafter(size, T(INFINITY))) - double(size));
  }
}

/// Where the values differ; empty if they don't.
template <class T>
std::string difference(Values const& found, Case const& c) {
  for (std::size_t i = 0; i * sizeof(T) < c.result.bytes.size(); ++i) {
    T mine, numpys;
    std::memcpy(&mine, found.bytes.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&numpys, c.result.bytes.data() + i * sizeof(T), sizeof(T));
    if (agree(mine, numpys, c, i)) continue;
    std::ostringstream text;
    text.precision(17);
    if constexpr (coir::is_complex<T>)
      text << "element " << i << " is " << mine.real() << " + " << mine.imag() << "i, not "
           << numpys.real() << " + " << numpys.imag() << "i";
    else
      text << "element " << i << " is " << +mine << ", not " << +numpys;
    return text.str();
  }
  return "";
}

template <class... T>
std::string difference_of(Values const& found, Case const& c) {
  if (found.type != c.result.type)
    return "the type is " + std::to_string(found.type) + ", not " + std::to_string(c.result.type);
  if (found.shape != c.result.shape) return "the shape differs";
  std::string text;
  ((found.type == code<T> ? void(text = difference<T>(found, c)) : void()), ...);
  return text;
}

std::string outcome(Case const& c) {
  auto const statement = statements().find(c.name);
  if (statement == statements().end()) return "there is no such statement";
  Values found;
  try {
    found = statement->second(c);
  } catch (coir::PreconditionError const& error) {
    return c.refused ? "" : std::string("refused: ") + error.what();
  }
  if (c.refused) return "not refused";
  return difference_of<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                       std::uint32_t, std::int64_t, std::uint64_t, float, double,
                       Kokkos::complex<float>, Kokkos::complex<double>>(found, c);
}

/// Compares all cases of a file, and says of which statements there are how many.
std::map<std::string, int> compare_cases(std::string const& path) {
  Reader reader(path);
  auto const count = reader.next<std::uint32_t>();
  EXPECT_GE(count, 1000u);
  std::map<std::string, int> mismatches, cases;
  int shown = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Case const c = read_case(reader);
    ++cases[c.name];
    std::string const text = outcome(c);
    if (text.empty()) continue;
    ++mismatches[c.name];
    if (++shown > 40) continue;
    std::string what = "case " + std::to_string(i) + ", " + c.name;
    for (auto const k : c.integers) what += " " + std::to_string(k);
    what += " of types";
    for (auto const& operand : c.operands) what += " " + std::to_string(operand.type);
    ADD_FAILURE() << what << ": " << text;
  }
  EXPECT_TRUE(reader.done());
  for (auto const& [name, number] : mismatches)
    ADD_FAILURE() << number << " of " << cases[name] << " cases of " << name << " differ";
  return cases;
}

TEST(ArraysAgainstNumPy, AgreeInAllCases) {
  if (char const* const other = std::getenv("COIR_NUMPY_CASES")) {
    compare_cases(other);
    return;
  }
  std::string const folder = COIR_NUMPY_FOLDER;
  auto cases = compare_cases(folder + "/cases.bin");
  cases.merge(compare_cases(folder + "/edges.bin"));
  for (auto const& [name, statement] : statements()) EXPECT_GT(cases[name], 0) << name;
}

}  // namespace
