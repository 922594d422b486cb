#pragma once

/// \file
/// Writing HDF5 files, whole or not at all.

#include <coir/core/strided.hpp>
#include <coir/hdf5/types.hpp>
#include <coir/io/c_order.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace coir::hdf5 {

/// Keeps HDF5 from closing files at the end of the program. Call it before anything else of HDF5. A
/// file that exceeds a limit on sizes (ulimit -f) can't be closed, and HDF5 1.10 crashes when it
/// tries.
void skip_cleanup_at_exit();

struct WriterOptions {
  /// Adds checksums: HDF5's own to the descriptions of the content, which versions from 1.8 on
  /// read, and one of the whole file at its end, which io::verify_checksum() checks and HDF5
  /// ignores.
  bool checked = false;
};

/// An HDF5 file that appears under its name when commit() succeeds, and not before.
///
/// Until then it has another name beside its destination, as an io::AtomicFile has. The destructor
/// removes it if commit() was not reached. Whatever interrupts the writer, an earlier file stays
/// whole. After a ResourceError the file is lost: destroy the Writer.
///
/// Objects are named by their path from the root: "PartType1/Coordinates". Missing groups on the
/// way are made. Numbers have this machine's byte order. Datasets are contiguous and not
/// compressed. The same content always gives the same bytes. One thread at a time may use a Writer.
///
/// Members throw ResourceError with the path, the cause and a remedy if the file can't be written
/// (no such folder, no permission, no space left, a device or a pipe), and PreconditionError if a
/// name is empty or taken, or a requirement below is broken.
class Writer {
 public:
  /// Begins a file.
  explicit Writer(std::filesystem::path const& path, WriterOptions const& options = {});
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  /// Makes a group, and those on the way to it. Existing groups stay as they are.
  void make_group(std::string_view name);

  /// Gives a group or dataset an attribute of one number.
  ///
  /// \param object  an existing group or dataset; "/" is the file's root
  template <Element T>
  void write_attribute(std::string_view object, std::string_view name, T value) {
    write_attribute(object, name, type_of<T>, &value, -1);
  }

  /// Gives a group or dataset an attribute of several numbers, 1 to 60 000 bytes of them.
  template <Element T>
  void write_attribute_array(std::string_view object, std::string_view name,
                             std::vector<T> const& values) {
    write_attribute(object, name, type_of<T>, values.data(),
                    static_cast<std::int64_t>(values.size()));
  }

  /// Gives a group or dataset an attribute of text, in UTF-8, without null characters, of 60 000
  /// bytes at most. Its length is fixed, so that readers needn't follow pointers, which may be
  /// damaged.
  void write_attribute_text(std::string_view object, std::string_view name, std::string_view text);

  /// Makes a dataset for append() to fill.
  ///
  /// \param shape  1 to 4 extents, each 0 or more
  void make_dataset(std::string_view name, Type type, Shape const& shape);

  /// Makes a dataset whose elements are all one number. It takes no space: the number is HDF5's
  /// fill value.
  ///
  /// \param shape  1 to 4 extents, each 0 or more
  template <Element T>
  void write_constant(std::string_view name, T value, Shape const& shape) {
    write_constant(name, type_of<T>, &value, shape);
  }

  /// Writes the next rows of a dataset. A row is the elements of one first index.
  ///
  /// \param values  whole rows in C order, of the dataset's type, no more than are missing; may be
  ///   none
  template <Element T>
  void append(std::string_view name, std::span<T const> values) {
    append(name, type_of<T>, values.data(), static_cast<std::int64_t>(values.size()));
  }

  /// Appends the rows of a View of any layout and memory space. Views that aren't in C order on the
  /// host are copied by way of a buffer of some MiB.
  template <StridedView V>
    requires(V::rank >= 1) && Element<typename V::non_const_value_type>
  void append(std::string_view name, V const& view) {
    using T = typename V::non_const_value_type;
    io::for_each_run_in_c_order(view, [&](std::span<T const> rows) { append(name, rows); });
  }

  /// Makes a dataset of a View's shape and writes all of it, whatever its layout and memory space,
  /// in C order.
  template <StridedView V>
    requires(V::rank >= 1) && Element<typename V::non_const_value_type>
  void write(std::string_view name, V const& view) {
    auto const shape = io::shape_of(view);
    make_dataset(name, type_of<typename V::non_const_value_type>,
                 Shape(shape.begin(), shape.end()));
    append(name, view);
  }

  /// Makes a dataset and writes all of it.
  ///
  /// \param values  in C order; as many as the shape has elements
  template <Element T>
  void write(std::string_view name, std::span<T const> values, Shape const& shape) {
    write(name, type_of<T>, values.data(), static_cast<std::int64_t>(values.size()), shape);
  }

  /// Makes a dataset of a vector's numbers. Without a shape it has one axis.
  template <Element T>
  void write(std::string_view name, std::vector<T> const& values, Shape const& shape) {
    write(name, std::span<T const>(values), shape);
  }
  template <Element T>
  void write(std::string_view name, std::vector<T> const& values) {
    write(name, std::span<T const>(values), {static_cast<std::int64_t>(values.size())});
  }

  /// Brings the file to the disk and gives it its name. Nothing may be written afterwards. Every
  /// dataset must have all of its rows.
  ///
  /// \param poll  called every few milliseconds while the checksum is made; may throw to stop
  void commit(std::function<void()> const& poll = {});

  /// The first half of commit(), which may take long or lack space: brings the file to the disk.
  /// commit() then only gives the name. For files that are to appear together or not at all.
  void sync(std::function<void()> const& poll = {});

 private:
  void write_attribute(std::string_view object, std::string_view name, Type type,
                       void const* values, std::int64_t count);
  void append(std::string_view name, Type type, void const* values, std::int64_t count);
  void write(std::string_view name, Type type, void const* values, std::int64_t count,
             Shape const& shape);
  void write_constant(std::string_view name, Type type, void const* value, Shape const& shape);
  void make_dataset(std::string_view name, Type type, Shape const& shape, void const* fill);

  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace coir::hdf5
