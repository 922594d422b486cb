#include "handle.hpp"
#include "objects.hpp"
#include "types.hpp"

#include <coir/core/errors.hpp>
#include <coir/hdf5/writer.hpp>
#include <coir/io/atomic_path.hpp>
#include <coir/io/checksum.hpp>

#include <algorithm>
#include <map>
#include <string>

#include <unistd.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
#define COIR_HDF5_SETS_LOCKING
#endif

namespace coir::hdf5 {

namespace {

std::vector<hsize_t> extents_of(Shape const& shape) { return {shape.begin(), shape.end()}; }

Handle make_space(Shape const& shape) {
  std::vector<hsize_t> const extents = extents_of(shape);
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), &H5Sclose};
}

// Properties without the time of writing: the same content gives the same bytes.
Handle timeless(hid_t kind) {
  Handle properties(H5Pcreate(kind), &H5Pclose);
  H5Pset_obj_track_times(properties.id(), false);
  return properties;
}

}  // namespace

struct Writer::File {
  struct Dataset {
    Type type;
    Shape shape;
    std::int64_t written = 0;  // elements

    std::int64_t size() const { return size_of(shape); }
    std::int64_t row_size() const { return size_of({shape.begin() + 1, shape.end()}); }
  };

  File(std::filesystem::path const& where, WriterOptions const& wanted)
      : name(where.string()), place(where), options(wanted) {
    if (place.is_device())
      throw ResourceError(name +
                          ": can't be written (it is a device or a pipe): HDF5 needs a file");
    Quiet const quiet;
    Handle const access(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
    H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
#ifdef COIR_HDF5_SETS_LOCKING  // nobody else writes to the temporary file
    H5Pset_file_locking(access.id(), false, true);
#endif
    if (options.checked) H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    Handle const properties = timeless(H5P_FILE_CREATE);
    file = {H5Fcreate(place.temporary().c_str(), H5F_ACC_TRUNC, properties.id(), access.id()),
            &H5Fclose};
    check(file.valid());
  }
  ~File() {
    Quiet const quiet;
    file.close();
  }

  // Throws if the last call of HDF5 failed. Any other one, such as closing a temporary handle,
  // forgets the reason.
  void check(bool succeeded) {
    if (succeeded) return;
    lost = true;
    Failure const failure = last_failure();
    write_to_memory();
    if (failure.error != 0) place.fail(failure.error);
    throw ResourceError(name + ": can't be written (HDF5: " + failure.text +
                        "): write it again, to another folder if that does not help");
  }

  // HDF5 can't close a file whose last bytes can't be written. The file will be removed anyway, so
  // that its last bytes go to memory.
  void write_to_memory() const {
#if defined(__linux__)
    void* descriptor = nullptr;
    if (!file.valid() || H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &descriptor) < 0) return;
    int const memory = ::memfd_create("coir", MFD_CLOEXEC);
    if (memory < 0) return;
    ::dup2(memory, *static_cast<int const*>(descriptor));
    ::close(memory);
#endif
  }

  void expects_open() const {
    expects(file.valid() && !lost, name + ": nothing can be written after commit() or an error");
  }

  // The path of an object, which may or may not exist.
  std::string path_of_object(std::string_view object) const {
    std::string path = path_of(object);
    expects(exists(file.id(), path), name + ": the object must be made first", "'" + path + "'");
    return path;
  }
  std::string path_of_new(std::string_view object) const {
    std::string path = path_of(object);
    expects_groups_on_the_way(path);
    expects(!exists(file.id(), path), name + ": there must be no '" + path + "' yet");
    return path;
  }

  void expects_groups_on_the_way(std::string const& path) const {
    for (std::size_t end = path.find('/', 1); end != std::string::npos;
         end = path.find('/', end + 1)) {
      std::string const parent = path.substr(0, end);
      expects(!datasets.contains(parent),
              name + ": '" + parent + "' must be no dataset to hold '" + path + "'");
    }
  }

  // Makes a group, and missing groups on the way to it.
  void make_groups(std::string const& path) {
    for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
      std::string const group = path.substr(0, end);
      if (!exists(file.id(), group)) {
        Handle const properties = timeless(H5P_GROUP_CREATE);
        Handle const made(
            H5Gcreate2(file.id(), group.c_str(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
            &H5Gclose);
        check(made.valid());
      }
      if (end == std::string::npos) return;
    }
  }

  void write_attribute(std::string_view object, std::string_view attribute, Handle const& type,
                       Handle const& space, void const* values) {
    expects_open();
    std::string const path = path_of_object(object);
    std::string const key(attribute);
    expects(!key.empty(), name + ": an attribute of '" + path + "' must have a name");
    expects(H5Aexists_by_name(file.id(), path.c_str(), key.c_str(), H5P_DEFAULT) == 0,
            name + ": there must be no attribute '" + key + "' of '" + path + "' yet");
    Handle const made(H5Acreate_by_name(file.id(), path.c_str(), key.c_str(), type.id(), space.id(),
                                        H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      &H5Aclose);
    check(made.valid());
    check(H5Awrite(made.id(), type.id(), values) >= 0);
  }

  std::string name;
  io::AtomicPath place;
  WriterOptions options;
  Handle file;
  std::map<std::string, Dataset> datasets;
  bool lost = false;
  bool is_synced = false, is_named = false;
};

Writer::Writer(std::filesystem::path const& path, WriterOptions const& options)
    : file_(std::make_unique<File>(path, options)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

void Writer::make_group(std::string_view name) {
  Quiet const quiet;
  file_->expects_open();
  std::string const path = path_of(name);
  if (exists(file_->file.id(), path)) {
    expects(!file_->datasets.contains(path),
            file_->name + ": '" + path + "' must be no dataset to be made a group");
    return;
  }
  file_->expects_groups_on_the_way(path);
  file_->make_groups(path);
}

void Writer::write_attribute(std::string_view object, std::string_view name, Type type,
                             void const* values, std::int64_t count) {
  Quiet const quiet;
  bool const single = count < 0;
  // HDF5 keeps attributes within 64 KiB of an object's header.
  expects(single || (count > 0 && H5Tget_size(native(type)) * count <= 60'000),
          "an attribute must have 1 to 60000 bytes (write a dataset instead)");
  Handle const space = single ? Handle(H5Screate(H5S_SCALAR), &H5Sclose) : make_space({count});
  file_->write_attribute(object, name, Handle(H5Tcopy(native(type)), &H5Tclose), space, values);
}

void Writer::write_attribute_text(std::string_view object, std::string_view name,
                                  std::string_view text) {
  Quiet const quiet;
  expects(text.find('\0') == std::string_view::npos, "a text must have no null character in it");
  expects(text.size() <= 60'000, "a text must have at most 60000 bytes (write a dataset instead)",
          text.size());
  Handle const type(H5Tcopy(H5T_C_S1), &H5Tclose);
  H5Tset_size(type.id(), std::max<std::size_t>(1, text.size()));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  std::string const copy(text);  // ends with the null that an empty text is stored as
  file_->write_attribute(object, name, type, Handle(H5Screate(H5S_SCALAR), &H5Sclose),
                         copy.c_str());
}

void Writer::make_dataset(std::string_view name, Type type, Shape const& shape) {
  make_dataset(name, type, shape, nullptr);
}

void Writer::write_constant(std::string_view name, Type type, void const* value,
                            Shape const& shape) {
  make_dataset(name, type, shape, value);
  File::Dataset& dataset = file_->datasets[path_of(name)];
  dataset.written = dataset.size();
}

void Writer::make_dataset(std::string_view name, Type type, Shape const& shape, void const* fill) {
  Quiet const quiet;
  file_->expects_open();
  std::string const path = file_->path_of_new(name);
  expects(!shape.empty() && shape.size() <= 4 &&
              std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n >= 0; }),
          file_->name + ": the shape of '" + path + "' must be 1 to 4 extents of 0 or more",
          in_words(shape));
  if (std::size_t const slash = path.rfind('/'); slash != std::string::npos)
    file_->make_groups(path.substr(0, slash));
  Handle const properties = timeless(H5P_DATASET_CREATE);
  if (fill != nullptr) {
    H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_LATE);  // with the first row: never
    H5Pset_fill_value(properties.id(), native(type), fill);
  }
  Handle const space = make_space(shape);
  Handle const made(H5Dcreate2(file_->file.id(), path.c_str(), native(type), space.id(),
                               H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                    &H5Dclose);
  file_->check(made.valid());
  file_->datasets[path] = {type, shape};
}

void Writer::append(std::string_view name, Type type, void const* values, std::int64_t count) {
  Quiet const quiet;
  file_->expects_open();
  std::string const path = path_of(name);
  auto const found = file_->datasets.find(path);
  expects(found != file_->datasets.end(), file_->name + ": the dataset must be made first",
          "'" + path + "'");
  File::Dataset& dataset = found->second;
  std::string const what = file_->name + ": rows for '" + path + "' ";
  expects(type == dataset.type, what + "must be " + name_of(dataset.type), name_of(type));
  if (count == 0) return;
  std::int64_t const row_size = dataset.row_size();
  expects(row_size > 0 && count % row_size == 0,
          what + "must be whole, " + std::to_string(row_size) + " elements each", count);
  expects(count <= dataset.size() - dataset.written,
          what + "must be no more than are missing, " +
              std::to_string((dataset.size() - dataset.written) / row_size),
          count / row_size);

  Handle const opened(H5Dopen2(file_->file.id(), path.c_str(), H5P_DEFAULT), &H5Dclose);
  file_->check(opened.valid());
  Shape part = dataset.shape;
  part[0] = count / row_size;
  std::vector<hsize_t> first(part.size(), 0);
  first[0] = static_cast<hsize_t>(dataset.written / row_size);
  Handle const in_file = make_space(dataset.shape), in_memory = make_space(part);
  H5Sselect_hyperslab(in_file.id(), H5S_SELECT_SET, first.data(), nullptr, extents_of(part).data(),
                      nullptr);
  file_->check(
      H5Dwrite(opened.id(), native(type), in_memory.id(), in_file.id(), H5P_DEFAULT, values) >= 0);
  dataset.written += count;
}

void Writer::write(std::string_view name, Type type, void const* values, std::int64_t count,
                   Shape const& shape) {
  if (size_of(shape) != count)
    throw PreconditionError(file_->name + ": '" + std::string(name) + "' of shape " +
                            in_words(shape) + " needs " + std::to_string(size_of(shape)) +
                            " values, not " + std::to_string(count));
  make_dataset(name, type, shape);
  append(name, type, values, count);
}

void skip_cleanup_at_exit() { H5dont_atexit(); }

void Writer::sync(std::function<void()> const& poll) {
  if (file_->is_synced && !file_->is_named) return;
  Quiet const quiet;
  file_->expects_open();
  for (auto const& [path, dataset] : file_->datasets)
    if (dataset.written < dataset.size())
      throw PreconditionError(file_->name + ": '" + path + "' must get all of its " +
                              std::to_string(dataset.shape[0]) + " rows before commit(), not " +
                              std::to_string(dataset.written / dataset.row_size()));
  file_->check(H5Fflush(file_->file.id(), H5F_SCOPE_LOCAL) >= 0);
  file_->check(file_->file.close());
  if (file_->options.checked)
    if (int const error = io::append_checksum(file_->place.temporary(), poll); error != 0)
      file_->place.fail(error);
  file_->place.sync();
  file_->is_synced = true;
}

void Writer::commit(std::function<void()> const& poll) {
  sync(poll);
  file_->place.commit();
  file_->is_named = true;
}

}  // namespace coir::hdf5
