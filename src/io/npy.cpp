#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>
#include <coir/io/file.hpp>
#include <coir/io/npy.hpp>

#include "npy_header.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

namespace coir::io {

namespace {

// Calls function(T()) with the C++ type that stands for `type`.
template <class Function>
auto with_type(NpyType type, Function const& function) {
  switch (type) {
    case NpyType::boolean: return function(bool());
    case NpyType::int8: return function(std::int8_t());
    case NpyType::int16: return function(std::int16_t());
    case NpyType::int32: return function(std::int32_t());
    case NpyType::int64: return function(std::int64_t());
    case NpyType::uint8: return function(std::uint8_t());
    case NpyType::uint16: return function(std::uint16_t());
    case NpyType::uint32: return function(std::uint32_t());
    case NpyType::uint64: return function(std::uint64_t());
    case NpyType::float32: return function(float());
    case NpyType::complex64: return function(Kokkos::complex<float>());
    case NpyType::complex128: return function(Kokkos::complex<double>());
    case NpyType::float64: break;
  }
  return function(double());
}

// The type of a number's parts: itself, unless it is complex.
template <class T>
struct PartOf {
  using type = T;
};
template <class T>
struct PartOf<Kokkos::complex<T>> {
  using type = T;
};
template <class T>
using part_t = typename PartOf<T>::type;
template <class T>
constexpr bool is_complex = !std::is_same_v<T, part_t<T>>;

template <class From, class To>
constexpr bool converts(Rounding rounding) {
  if (is_complex<From> && !is_complex<To>) return false;
  if (std::is_same_v<part_t<From>, part_t<To>>) return true;
  if (std::is_same_v<To, bool>) return false;
  if (std::is_integral_v<To>) return std::is_integral_v<From>;
  if (std::is_same_v<part_t<From>, double>) return rounding == Rounding::allow;
  return true;
}

template <class From, class To>
bool fits(From value) {
  if constexpr (is_complex<From>)
    return fits<part_t<From>, part_t<To>>(value.real()) &&
           fits<part_t<From>, part_t<To>>(value.imag());
  else if constexpr (is_complex<To>)
    return fits<From, part_t<To>>(value);
  else if constexpr (std::is_same_v<From, To> || std::is_same_v<From, bool> ||
                     std::is_same_v<To, bool>)
    return true;
  else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>)
    return std::in_range<To>(value);
  else if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>)
    return !std::isfinite(value) || std::isfinite(static_cast<float>(value));
  else
    return true;
}

template <class To, class From>
To converted(From value) {
  using Part = part_t<To>;
  if constexpr (is_complex<From>)
    return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
  else
    return To(static_cast<Part>(value));
}

template <class From>
From load(std::byte const* at) {
  if constexpr (std::is_same_v<From, bool>) {
    return *at != std::byte(0);  // any other byte is true, and must not be read as a bool
  } else {
    From value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
}

std::string text_of(double value) { return number_text(value); }
std::string text_of(float value) { return number_text(value); }
template <std::integral T>
std::string text_of(T value) {
  return std::to_string(value);
}
template <class T>
std::string text_of(Kokkos::complex<T> value) {
  return number_text(value.real()) + (std::signbit(value.imag()) ? "" : "+") +
         number_text(value.imag()) + "j";
}

template <class From, class To>
void convert_elements(NpyArray const& array, std::byte* out) {
  std::size_t const count = array.bytes.size() / sizeof(From);
  for (std::size_t n = 0; n < count; ++n) {
    From const value = load<From>(array.bytes.data() + n * sizeof(From));
    if (!fits<From, To>(value))
      throw InputError(array.name + ": element " + index_of(n, array.shape, array.fortran_order) +
                       " is " + text_of(value) + ", beyond the range of " + name_of(npy_type<To>) +
                       ": convert the file with numpy's clip and astype, or read a wider type");
    To const element = converted<To>(value);
    std::memcpy(out + n * sizeof(To), &element, sizeof(To));
  }
}

void swap_each(std::vector<std::byte>& bytes, std::size_t size) {
  for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<std::ptrdiff_t>(size))
    std::reverse(at, at + static_cast<std::ptrdiff_t>(size));
}

/// Brings numbers to this machine's byte order.
void swap_if_needed(std::vector<std::byte>& bytes, NpyHeader const& header) {
  if (header.swapped)
    swap_each(bytes,
              with_type(header.type, [](auto zero) { return sizeof(part_t<decltype(zero)>); }));
}

NpyHeader header_of(std::filesystem::path const& path) {
  constexpr std::size_t before = 12;  // bytes of what stands before the header, at most
  auto const begin = read_begin(path, static_cast<std::int64_t>(before + longest_npy_header));
  return parse_npy_header(begin.bytes, begin.length, path.string());
}

}  // namespace

std::string name_of(NpyType type) {
  switch (type) {
    case NpyType::boolean: return "bool";
    case NpyType::float32: return "float32";
    case NpyType::float64: return "float64";
    case NpyType::complex64: return "complex64";
    case NpyType::complex128: return "complex128";
    default: break;
  }
  bool const is_signed =
      with_type(type, [](auto zero) { return std::is_signed_v<decltype(zero)>; });
  return (is_signed ? "int" : "uint") + std::to_string(8 * size_of(type));
}

int size_of(NpyType type) {
  return with_type(type, [](auto zero) { return static_cast<int>(sizeof zero); });
}

NpyArray decode_npy(std::vector<std::byte> file, std::string name) {
  NpyHeader header = parse_npy_header(file, static_cast<std::int64_t>(file.size()), name);
  file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header.length));
  swap_if_needed(file, header);
  return {std::move(name), header.type, header.fortran_order, std::move(header.shape),
          std::move(file)};
}

NpyArray read_npy(std::filesystem::path const& path) {
  return decode_npy(read_file(path), path.string());
}

std::vector<std::int64_t> npy_shape(std::filesystem::path const& path) {
  return header_of(path).shape;
}

NpyArray read_npy_slices(std::filesystem::path const& path, std::int64_t first,
                         std::int64_t count) {
  NpyHeader header = header_of(path);
  auto const& shape = header.shape;
  expects(!shape.empty() && first >= 0 && count >= 0 && first <= shape[0] - count,
          "slices of " + path.string() + " must be some of its " +
              std::to_string(shape.empty() ? 0 : shape[0]) + " along the first axis",
          first + count);
  std::int64_t const size = size_of(header.type),
                     others = std::accumulate(shape.begin() + 1, shape.end(), std::int64_t(1),
                                              std::multiplies<>()),
                     begin = static_cast<std::int64_t>(header.length);
  auto bytes = header.fortran_order
                   ? read_runs(path, begin + first * size, count * size, shape[0] * size, others)
                   : read_runs(path, begin + first * others * size, count * others * size, 0, 1);
  swap_if_needed(bytes, header);
  header.shape[0] = count;
  return {path.string(), header.type, header.fortran_order, std::move(header.shape),
          std::move(bytes)};
}

void convert(NpyArray const& array, NpyType type, Rounding rounding, std::byte* out) {
  with_type(array.type, [&](auto from) {
    with_type(type, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      if constexpr (is_complex<To> || !is_complex<From>)
        if (converts<From, To>(rounding)) return convert_elements<From, To>(array, out);
      throw InputError(array.name + ": holds " + name_of(array.type) + ", which " + name_of(type) +
                       " can't hold exactly: convert it with numpy's astype, or read it as " +
                       name_of(array.type));
    });
  });
}

void expects_rank(NpyArray const& array, int rank) {
  if (static_cast<int>(array.shape.size()) != rank)
    throw InputError(array.name + ": has " + std::to_string(array.shape.size()) +
                     " dimensions, shape " + printable(shape_in_words(array.shape)) + ", " +
                     std::to_string(rank) + " are needed: reshape it with numpy");
}

namespace detail {

void expects_shape(NpyArray const& array, std::span<std::int64_t const> shape) {
  if (!std::equal(shape.begin(), shape.end(), array.shape.begin(), array.shape.end()))
    throw InputError(array.name + ": has the shape " + printable(shape_in_words(array.shape)) +
                     ", " + shape_in_words(shape) + " is needed: reshape or cut it with numpy");
}

NpyWriter::NpyWriter(std::filesystem::path const& path, NpyType type,
                     std::span<std::int64_t const> shape)
    : file_(path) {
  file_.write(make_npy_header(type, shape));
}

}  // namespace detail

}  // namespace coir::io
