#pragma once

/// \file
/// NumPy's array files (.npy).

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/c_order.hpp>

#include <Kokkos_Complex.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace coir::io {

/// The number types of NPY files.
enum class NpyType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  complex64,
  complex128
};

/// NumPy's name of a type: "float32".
std::string name_of(NpyType type);

/// Bytes of one element.
int size_of(NpyType type);

/// A C++ type that has an NpyType: bool, float, double, integers of 8 to 64 bits,
/// `Kokkos::complex<float>` and `Kokkos::complex<double>`.
template <class T>
concept NpyElement =
    std::same_as<T, bool> || std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, Kokkos::complex<float>> || std::same_as<T, Kokkos::complex<double>> ||
    (std::integral<T> && sizeof(T) <= 8);

/// The NpyType of a C++ type, by its size and sign: npy_type<long> is int64 where long has 64 bits.
template <NpyElement T>
inline constexpr NpyType npy_type = [] {
  if constexpr (std::same_as<T, bool>) return NpyType::boolean;
  if constexpr (std::same_as<T, float>) return NpyType::float32;
  if constexpr (std::same_as<T, double>) return NpyType::float64;
  if constexpr (std::same_as<T, Kokkos::complex<float>>) return NpyType::complex64;
  if constexpr (std::same_as<T, Kokkos::complex<double>>) return NpyType::complex128;
  constexpr NpyType with_sign[] = {NpyType::int8, NpyType::int16, NpyType::int32, NpyType::int64};
  constexpr NpyType without[] = {NpyType::uint8, NpyType::uint16, NpyType::uint32, NpyType::uint64};
  constexpr int n = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return std::is_signed_v<T> ? with_sign[n] : without[n];
}();

/// An array in an NPY file, in memory.
struct NpyArray {
  std::string name;                 ///< the file's name, for messages
  NpyType type = NpyType::float64;  ///< what the elements are
  bool fortran_order = false;       ///< the first index is contiguous, not the last
  std::vector<std::int64_t> shape;  ///< empty for a single number; extents may be 0
  std::vector<std::byte> bytes;     ///< the elements in a row, in this machine's byte order
};

/// Whether float64 may be rounded to float32, and complex128 to complex64.
enum class Rounding { refuse, allow };

/// The array in the bytes of an NPY file, versions 1.0, 2.0 and 3.0.
///
/// Booleans, integers, floats of 4 and 8 bytes and complex numbers of these are read, in either
/// byte order, in C or Fortran order, with up to 64 extents. The header is read as NumPy does: the
/// keys descr, fortran_order and shape in any order, white space anywhere. The file must end with
/// the last element.
///
/// \param file  the whole file; its memory becomes the result's
/// \param name  the file's name, for messages
/// \throws InputError naming the byte or field, its value, the limit and a remedy
/// \see https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
NpyArray decode_npy(std::vector<std::byte> file, std::string name);

/// Reads an NPY file: read_file, then decode_npy.
NpyArray read_npy(std::filesystem::path const& path);

/// The shape of an NPY file's array, of which the elements aren't read.
///
/// \throws InputError as decode_npy()
std::vector<std::int64_t> npy_shape(std::filesystem::path const& path);

/// Reads `count` slices along the first axis from `first` on, and no others: the part of a file
/// that one of several ranks needs. The result's first extent is `count`.
///
/// \throws InputError as decode_npy()
/// \throws PreconditionError if the array has no such slices
/// \throws ResourceError if there is not enough memory for them
NpyArray read_npy_slices(std::filesystem::path const& path, std::int64_t first, std::int64_t count);

/// Checks an array's number of axes.
///
/// \throws InputError unless it is `rank`
void expects_rank(NpyArray const& array, int rank);

/// Writes an array's elements as `type`, in the array's order, to `out`, converted as by
/// copy_to_view.
///
/// \throws InputError if the types don't convert, or a value doesn't fit
void convert(NpyArray const& array, NpyType type, Rounding rounding, std::byte* out);

namespace detail {

void expects_shape(NpyArray const& array, std::span<std::int64_t const> shape);

// An NPY file whose elements come run after run.
class NpyWriter {
 public:
  NpyWriter(std::filesystem::path const& path, NpyType type, std::span<std::int64_t const> shape);
  void write(std::span<std::byte const> bytes) { file_.write(bytes); }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
};

}  // namespace detail

/// Copies an array into a View of the same shape.
///
/// Integers and booleans become any integers that hold each value. Integers become the nearest
/// float. float32 becomes float64; float64 becomes float32 only with Rounding::allow. Floats never
/// become integers, and only booleans become bool. Real numbers become complex ones if their type
/// converts to that of the parts; complex numbers never become real ones.
///
/// \param view  out; any layout, memory space and rank, elements as NpyElement
/// \throws InputError if the shape differs, the types don't convert, or a value doesn't fit
template <class V>
  requires(Kokkos::is_view<V>::value && NpyElement<typename V::value_type>)
void copy_to_view(NpyArray const& array, V const& view, Rounding rounding = Rounding::refuse) {
  using T = typename V::value_type;
  detail::expects_shape(array, shape_of(view));
  Kokkos::fence();  // a kernel may still use the View
  auto elements = detail::strided_to_fill(view);
  if (array.fortran_order) {  // C order of the axes in reverse
    std::reverse(elements.extents.begin(), elements.extents.end());
    std::reverse(elements.strides.begin(), elements.strides.end());
  }
  detail::fill<typename V::memory_space>(elements, [&](T* in_c_order) {
    convert(array, npy_type<T>, rounding, reinterpret_cast<std::byte*>(in_c_order));
  });
}

/// A new View with an array's elements, converted as by copy_to_view.
///
/// \tparam V  the View's type: the array's rank, LayoutRight or LayoutLeft, any memory space
/// \throws InputError if the rank differs, the types don't convert, or a value doesn't fit
/// \throws ResourceError if memory is short
template <class V>
  requires(Kokkos::is_view<V>::value && NpyElement<typename V::value_type>)
V to_view(NpyArray const& array, Rounding rounding = Rounding::refuse,
          std::string const& label = "coir::io::npy/array") {
  expects_rank(array, static_cast<int>(V::rank));
  std::array<std::int64_t, V::rank> shape{};
  for (int d = 0; d < static_cast<int>(V::rank); ++d) shape[d] = array.shape[d];
  V const view = allocate<V>(label, shape);
  copy_to_view(array, view, rounding);
  return view;
}

/// Reads an NPY file into a new View: read_npy, then to_view.
template <class V>
  requires(Kokkos::is_view<V>::value && NpyElement<typename V::value_type>)
V read_npy(std::filesystem::path const& path, Rounding rounding = Rounding::refuse) {
  return to_view<V>(read_npy(path), rounding);
}

/// Writes a View as an NPY file (version 1.0, C order, this machine's byte order), whole or not at
/// all, with some MiB of memory beside the View's.
///
/// \param view  in; any layout, memory space and rank, elements as NpyElement
/// \throws ResourceError as AtomicFile
template <class V>
  requires(Kokkos::is_view<V>::value && NpyElement<typename V::non_const_value_type>)
void write_npy(std::filesystem::path const& path, V const& view) {
  detail::NpyWriter file(path, npy_type<typename V::non_const_value_type>, shape_of(view));
  for_each_run_in_c_order(view, [&](auto run) { file.write(std::as_bytes(run)); });
  file.commit();
}

}  // namespace coir::io
