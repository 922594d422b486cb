#include "handle.hpp"
#include "objects.hpp"
#include "types.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/io/file.hpp>

#include <cerrno>
#include <cstring>
#include <limits>
#include <string>

namespace coir::hdf5 {

namespace {

Shape shape_of(hid_t space, std::string const& what) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) throw InputError(what + " holds nothing");
  int const rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> extents(rank < 0 ? 0 : static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

Type type_of_numbers(hid_t type, std::string const& what) {
  std::optional<Type> const stored = type_of_stored(type);
  if (!stored)
    throw InputError(what + " holds no numbers of 8 to 64 bits: see what it is with h5ls -v -r");
  return *stored;
}

void expects_conversion(Type stored, Type wanted, std::string const& what) {
  if (!converts(stored, wanted))
    throw InputError(what + " is " + name_of(stored) + ", whose values " + name_of(wanted) +
                     " can't hold: read it as " + name_of(stored));
}

void expects_read(herr_t result, std::string const& what) {
  if (result < 0)
    throw InputError(what + " can't be read (HDF5: " + last_failure().text +
                     "): the file may be damaged, write or copy it again");
}

}  // namespace

struct Reader::File {
  explicit File(std::filesystem::path const& path) : name(path.string()) {
    // Says what is wrong with a path that names no readable file.
    (void)io::read_file(path, 8);
    Quiet const quiet;
    if (H5Fis_hdf5(path.c_str()) <= 0)
      throw InputError(name + ": is no HDF5 file, or its beginning is lost: check the path");
    file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), &H5Fclose};
    if (file.valid()) return;
    Failure const failure = last_failure();
    if (failure.error == EAGAIN || failure.error == ENOSYS || failure.error == ENOTSUP)
      throw InputError(name + ": can't be locked (" + std::strerror(failure.error) +
                       "): wait until whoever writes it has done so, or set "
                       "HDF5_USE_FILE_LOCKING=FALSE");
    throw InputError(name + ": is truncated or damaged (HDF5: " + failure.text +
                     "): write or copy it again");
  }
  ~File() {
    Quiet const quiet;
    file.close();
  }

  std::string in_file(std::string const& path) const { return name + ": '" + path + "'"; }
  std::string in_file(std::string const& path, std::string_view attribute) const {
    return name + ": attribute '" + std::string(attribute) + "' of '" + path + "'";
  }

  void expects_object(std::string const& path) const {
    if (!exists(file.id(), path))
      throw InputError(in_file(path) + " is not in it: list what is with h5ls -r");
  }

  Handle open_dataset(std::string const& path) const {
    expects_object(path);
    Handle dataset(H5Dopen2(file.id(), path.c_str(), H5P_DEFAULT), &H5Dclose);
    if (!dataset.valid())
      throw InputError(in_file(path) +
                       " is no dataset that can be read: list what is with h5ls -r");
    return dataset;
  }

  Handle open_attribute(std::string const& path, std::string_view attribute) const {
    expects_object(path);
    std::string const key(attribute);
    Handle opened(H5Aopen_by_name(file.id(), path.c_str(), key.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                  &H5Aclose);
    if (!opened.valid())
      throw InputError(in_file(path, attribute) +
                       " is not there: list those that are with h5dump -A");
    return opened;
  }

  Shape shape(Handle const& dataset, std::string const& path) const {
    Handle const space(H5Dget_space(dataset.id()), &H5Sclose);
    return shape_of(space.id(), in_file(path));
  }

  Type type(Handle const& dataset, std::string const& path) const {
    Handle const stored(H5Dget_type(dataset.id()), &H5Tclose);
    return type_of_numbers(stored.id(), in_file(path));
  }

  std::string name;
  Handle file;
};

Reader::Reader(std::filesystem::path const& path) : file_(std::make_unique<File>(path)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

bool Reader::has(std::string_view name) const {
  Quiet const quiet;
  return exists(file_->file.id(), path_of(name));
}

bool Reader::has_attribute(std::string_view object, std::string_view name) const {
  Quiet const quiet;
  std::string const path = path_of(object), key(name);
  return exists(file_->file.id(), path) &&
         H5Aexists_by_name(file_->file.id(), path.c_str(), key.c_str(), H5P_DEFAULT) > 0;
}

Shape Reader::attribute_shape(std::string_view object, std::string_view name) const {
  Quiet const quiet;
  std::string const path = path_of(object);
  Handle const attribute = file_->open_attribute(path, name);
  Handle const space(H5Aget_space(attribute.id()), &H5Sclose);
  return shape_of(space.id(), file_->in_file(path, name));
}

Type Reader::attribute_type(std::string_view object, std::string_view name) const {
  Quiet const quiet;
  std::string const path = path_of(object);
  Handle const attribute = file_->open_attribute(path, name);
  Handle const stored(H5Aget_type(attribute.id()), &H5Tclose);
  return type_of_numbers(stored.id(), file_->in_file(path, name));
}

std::size_t Reader::attribute_size(std::string_view object, std::string_view name) const {
  return static_cast<std::size_t>(size_of(attribute_shape(object, name)));
}

void Reader::read_attribute(std::string_view object, std::string_view name, Type type, void* values,
                            std::int64_t count) const {
  Quiet const quiet;
  std::string const path = path_of(object), what = file_->in_file(path, name);
  Shape const stored = attribute_shape(object, name);
  if (size_of(stored) != count)
    throw InputError(what + " has shape " + in_words(stored) +
                     ", and a single number was expected");
  expects_conversion(attribute_type(object, name), type, what);
  expects_read(H5Aread(file_->open_attribute(path, name).id(), native(type), values), what);
}

std::string Reader::attribute_text(std::string_view object, std::string_view name,
                                   std::size_t longest) const {
  {
    Quiet const quiet;
    std::string const path = path_of(object), what = file_->in_file(path, name);
    Handle const attribute = file_->open_attribute(path, name);
    Handle const stored(H5Aget_type(attribute.id()), &H5Tclose);
    if (H5Tget_class(stored.id()) != H5T_STRING || H5Tis_variable_str(stored.id()) != 0 ||
        H5Tget_size(stored.id()) > longest)
      throw InputError(what + " must be a text of fixed length, of " + std::to_string(longest) +
                       " bytes at most: check which file this is");
  }
  return attribute_text(object, name);
}

std::string Reader::attribute_text(std::string_view object, std::string_view name) const {
  Quiet const quiet;
  std::string const path = path_of(object), what = file_->in_file(path, name);
  Handle const attribute = file_->open_attribute(path, name);
  Handle const stored(H5Aget_type(attribute.id()), &H5Tclose);
  if (H5Tget_class(stored.id()) != H5T_STRING || size_of(attribute_shape(object, name)) != 1)
    throw InputError(what + " is no text: see what it is with h5dump -A");

  Handle const type(H5Tcopy(H5T_C_S1), &H5Tclose);
  H5Tset_cset(type.id(), H5Tget_cset(stored.id()));
  if (H5Tis_variable_str(stored.id()) > 0) {
    H5Tset_size(type.id(), H5T_VARIABLE);
    char* pointer = nullptr;
    expects_read(H5Aread(attribute.id(), type.id(), &pointer), what);
    std::string text = pointer == nullptr ? "" : pointer;
    H5free_memory(pointer);
    return text;
  }
  std::string text(H5Tget_size(stored.id()) + 1, '\0');
  H5Tset_size(type.id(), text.size());
  expects_read(H5Aread(attribute.id(), type.id(), text.data()), what);
  text.resize(std::strlen(text.c_str()));
  return text;
}

Shape Reader::shape(std::string_view name) const {
  Quiet const quiet;
  std::string const path = path_of(name);
  return file_->shape(file_->open_dataset(path), path);
}

Type Reader::type(std::string_view name) const {
  Quiet const quiet;
  std::string const path = path_of(name);
  return file_->type(file_->open_dataset(path), path);
}

void Reader::expects_shape(std::string_view name, Shape const& wanted) const {
  Shape const stored = shape(name);
  bool same = stored.size() == wanted.size();
  for (std::size_t d = 0; same && d < wanted.size(); ++d)
    same = wanted[d] == -1 || wanted[d] == stored[d];
  if (!same)
    throw InputError(file_->in_file(path_of(name)) + " has shape " + in_words(stored) + ", and " +
                     in_words(wanted) + " was expected: check which file this is");
}

void Reader::expects_contiguous(std::string_view name) const {
  Quiet const quiet;
  std::string const path = path_of(name);
  Handle const dataset = file_->open_dataset(path);
  if (!has_no_links(file_->file.id(), path))
    throw InputError(file_->in_file(path) +
                     " is a link and must lie in the file itself: copy it there with h5copy");
  Handle const properties(H5Dget_create_plist(dataset.id()), &H5Pclose);
  if (H5Pget_layout(properties.id()) != H5D_CONTIGUOUS || H5Pget_nfilters(properties.id()) != 0 ||
      H5Pget_external_count(properties.id()) != 0)
    throw InputError(file_->in_file(path) +
                     " must lie in the file in one piece: copy it with h5repack -l CONTI -f NONE");
}

std::size_t Reader::elements_that_fit(std::string_view name, std::size_t element_size) const {
  std::int64_t const count = size_of(shape(name));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, static_cast<std::int64_t>(element_size), &bytes))
    bytes = std::numeric_limits<std::int64_t>::max();
  expects_memory<Kokkos::HostSpace>(bytes, "reading " + file_->in_file(path_of(name)));
  return static_cast<std::size_t>(count);
}

void Reader::read(std::string_view name, Type type, void* values, std::int64_t count) const {
  Quiet const quiet;
  std::string const path = path_of(name), what = file_->in_file(path);
  Handle const dataset = file_->open_dataset(path);
  Shape const stored = file_->shape(dataset, path);
  if (size_of(stored) != count)
    throw InputError(what + " has shape " + in_words(stored) + ", and " + std::to_string(count) +
                     " elements were expected: check which file this is");
  expects_conversion(file_->type(dataset, path), type, what);
  if (count == 0) return;
  expects_read(H5Dread(dataset.id(), native(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values), what);
}

void Reader::read_rows(std::string_view name, Type type, std::int64_t first, void* values,
                       std::int64_t count) const {
  Quiet const quiet;
  std::string const path = path_of(name), what = file_->in_file(path);
  Handle const dataset = file_->open_dataset(path);
  Shape const stored = file_->shape(dataset, path);
  if (stored.empty()) throw InputError(what + " is a single number and has no rows");
  expects_conversion(file_->type(dataset, path), type, what);

  std::int64_t const row_size = size_of({stored.begin() + 1, stored.end()});
  expects(count == 0 || (row_size > 0 && count % row_size == 0),
          what + ": rows must be whole, " + std::to_string(row_size) + " elements each", count);
  std::int64_t const rows = count == 0 ? 0 : count / row_size;
  expects(first >= 0 && first <= stored[0] - rows,
          what + ": rows must be among its " + std::to_string(stored[0]),
          std::to_string(first) + " to " + std::to_string(first + rows));
  if (count == 0) return;

  std::vector<hsize_t> extents(stored.begin(), stored.end()), begin(stored.size(), 0);
  extents[0] = static_cast<hsize_t>(rows);
  begin[0] = static_cast<hsize_t>(first);
  Handle const in_file(H5Dget_space(dataset.id()), &H5Sclose);
  Handle const in_memory(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), &H5Sclose);
  H5Sselect_hyperslab(in_file.id(), H5S_SELECT_SET, begin.data(), nullptr, extents.data(), nullptr);
  expects_read(
      H5Dread(dataset.id(), native(type), in_memory.id(), in_file.id(), H5P_DEFAULT, values), what);
}

}  // namespace coir::hdf5
