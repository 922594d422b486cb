#pragma once

/// \file
/// Reading HDF5 files.

#include <coir/core/strided.hpp>
#include <coir/hdf5/types.hpp>
#include <coir/io/c_order.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coir::hdf5 {

/// An HDF5 file that is open for reading, with datasets and attributes of numbers.
///
/// Objects are named by their path from the root: "PartType1/Coordinates"; "/" is the root. Files
/// of either byte order are read. Numbers are converted to the requested type. Floating-point
/// numbers are rounded. Integers are read as any type that holds all values of the stored one:
/// int16 as int32, but not the other way. One thread at a time may use a Reader.
///
/// Members that name an object throw InputError with the path, the name, the cause and a remedy if
/// it is missing, of another kind or type, or damaged.
class Reader {
 public:
  /// \throws InputError if the file is missing, a folder, a device, unreadable, empty, not HDF5, or
  ///   truncated
  explicit Reader(std::filesystem::path const& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// Whether there is a group or dataset of this name.
  bool has(std::string_view name) const;

  /// Whether a group or dataset exists and has this attribute.
  bool has_attribute(std::string_view object, std::string_view name) const;

  /// An attribute of one number.
  template <Element T>
  T attribute(std::string_view object, std::string_view name) const {
    T value;
    read_attribute(object, name, type_of<T>, &value, 1);
    return value;
  }

  /// An attribute of several numbers, in C order.
  template <Element T>
  std::vector<T> attribute_array(std::string_view object, std::string_view name) const {
    std::vector<T> values(attribute_size(object, name));
    read_attribute(object, name, type_of<T>, values.data(),
                   static_cast<std::int64_t>(values.size()));
    return values;
  }

  /// The extents of an attribute; none if it is a single number.
  Shape attribute_shape(std::string_view object, std::string_view name) const;

  /// The type of an attribute's numbers in the file.
  Type attribute_type(std::string_view object, std::string_view name) const;

  /// An attribute of text.
  std::string attribute_text(std::string_view object, std::string_view name) const;

  /// Reads a text of fixed length, of `longest` bytes at most. Throws InputError if it is longer or
  /// of variable length, before any of it is read: in a damaged file HDF5 may follow the pointers
  /// of a variable text forever.
  std::string attribute_text(std::string_view object, std::string_view name,
                             std::size_t longest) const;

  /// The extents of a dataset; none if it is a single number.
  Shape shape(std::string_view name) const;

  /// The type of a dataset's numbers in the file.
  Type type(std::string_view name) const;

  /// Throws InputError unless a dataset has this shape, where -1 stands for any extent: {-1, 3}.
  void expects_shape(std::string_view name, Shape const& wanted) const;

  /// Throws InputError unless a dataset lies in the file in one piece and unfiltered, as Writer
  /// writes it, and its name leads there without links. Reading it then depends on its place and
  /// length alone, and on no other file.
  void expects_contiguous(std::string_view name) const;

  /// All of a dataset, in C order.
  ///
  /// \throws ResourceError if there is not enough memory
  template <Element T>
  std::vector<T> read(std::string_view name) const {
    std::vector<T> values(elements_that_fit(name, sizeof(T)));
    read(name, std::span<T>(values));
    return values;
  }

  /// All of a dataset into the caller's memory. Throws InputError unless the sizes agree.
  template <Element T>
  void read(std::string_view name, std::span<T> values) const {
    read(name, type_of<T>, values.data(), static_cast<std::int64_t>(values.size()));
  }

  /// All of a dataset into a View of the same shape, of any layout and memory space. Views that
  /// aren't in C order on the host are filled by way of a buffer of some MiB.
  ///
  /// \throws InputError if the dataset has another shape
  template <StridedView V>
    requires(V::rank >= 1) && Element<typename V::value_type>
  void read(std::string_view name, V const& view) const {
    auto const shape = io::shape_of(view);
    expects_shape(name, Shape(shape.begin(), shape.end()));
    using T = typename V::value_type;
    io::fill_runs_in_c_order(
        view, [&](std::int64_t first, std::span<T> rows) { read_rows(name, first, rows); });
  }

  /// All of a dataset as a new View: reader.read<Kokkos::View<double**>>("name").
  ///
  /// \tparam V  LayoutRight or LayoutLeft, with as many axes as the dataset
  /// \throws InputError if it has another number of axes
  /// \throws ResourceError if there is not enough memory
  template <StridedView V>
    requires(V::rank >= 1) && Element<typename V::value_type>
  V read(std::string_view name) const {
    expects_shape(name, Shape(std::size_t(V::rank), -1));
    Shape const stored = shape(name);
    std::array<std::int64_t, V::rank> extents{};
    std::copy(stored.begin(), stored.end(), extents.begin());
    V const view = io::allocate<V>(std::string(name), extents);
    read(name, view);
    return view;
  }

  /// Rows of a dataset, from `first` on. A row is the elements of one first index.
  ///
  /// \param values  out: whole rows in C order
  /// \throws PreconditionError if `values` doesn't hold whole rows, or the dataset has fewer of
  ///   them
  template <Element T>
  void read_rows(std::string_view name, std::int64_t first, std::span<T> values) const {
    read_rows(name, type_of<T>, first, values.data(), static_cast<std::int64_t>(values.size()));
  }

 private:
  void read_attribute(std::string_view object, std::string_view name, Type type, void* values,
                      std::int64_t count) const;
  std::size_t attribute_size(std::string_view object, std::string_view name) const;
  std::size_t elements_that_fit(std::string_view name, std::size_t element_size) const;
  void read(std::string_view name, Type type, void* values, std::int64_t count) const;
  void read_rows(std::string_view name, Type type, std::int64_t first, void* values,
                 std::int64_t count) const;

  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace coir::hdf5
