#include "output_driver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace coir::hdf5 {

namespace {

struct OutputFile {
  H5FD_t common;  // HDF5's part comes first
  int descriptor;
  haddr_t allocated;
  haddr_t end;
  OutputStatus* status;
};

OutputFile& self(H5FD_t* file) { return *reinterpret_cast<OutputFile*>(file); }
OutputFile const& self(H5FD_t const* file) { return *reinterpret_cast<OutputFile const*>(file); }

void keep(OutputFile& file, int error) {
  if (file.status->error == 0) file.status->error = error;
}

H5FD_t* open_file(char const* name, unsigned, hid_t access, haddr_t) {
  auto const* const status = static_cast<OutputStatus* const*>(H5Pget_driver_info(access));
  if (status == nullptr) return nullptr;
  int const descriptor = ::open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    (*status)->error = errno;
    return nullptr;
  }
  auto* const file = new (std::nothrow) OutputFile{{}, descriptor, 0, 0, *status};
  if (file == nullptr) {
    (*status)->error = ENOMEM;
    ::close(descriptor);
    return nullptr;
  }
  return &file->common;
}

herr_t close_file(H5FD_t* file) {
  // Some file systems report a full disk or quota only when the file is closed.
  if (::close(self(file).descriptor) != 0) keep(self(file), errno);
  delete &self(file);
  return 0;
}

herr_t query(H5FD_t const*, unsigned long* flags) {
  if (flags != nullptr)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_allocated(H5FD_t const* file, H5FD_mem_t) { return self(file).allocated; }

herr_t set_allocated(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  self(file).allocated = end;
  return 0;
}

haddr_t get_end(H5FD_t const* file, H5FD_mem_t) { return self(file).end; }

constexpr std::size_t largest_transfer = std::size_t(1) << 30;

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void* buffer) {
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    ssize_t const got = ::pread(self(file).descriptor, to, std::min(size, largest_transfer),
                                static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) keep(self(file), errno);
    if (got <= 0) {  // beyond the end
      std::memset(to, 0, size);
      break;
    }
    to += got;
    at += static_cast<haddr_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void const* buffer) {
  auto const* from = static_cast<char const*>(buffer);
  self(file).end = std::max(self(file).end, at + size);
  while (size > 0 && self(file).status->error == 0) {
    ssize_t const put = ::pwrite(self(file).descriptor, from, std::min(size, largest_transfer),
                                 static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      keep(self(file), errno);
      break;
    }
    from += put;
    at += static_cast<haddr_t>(put);
    size -= static_cast<std::size_t>(put);
  }
  return 0;
}

herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
  OutputFile& output = self(file);
  if (output.allocated == output.end) return 0;
  if (output.status->error == 0 &&
      ::ftruncate(output.descriptor, static_cast<off_t>(output.allocated)) != 0)
    keep(output, errno);
  output.end = output.allocated;
  return 0;
}

H5FD_class_t const& driver() {
  static H5FD_class_t const instance = [] {
    H5FD_class_t made{};
#if H5_VERSION_GE(1, 13, 0)
    made.version = H5FD_CLASS_VERSION;
    made.value = static_cast<H5FD_class_value_t>(256);  // 256 to 511 need no registration
#endif
    made.name = "coir_output";
    made.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
    made.fc_degree = H5F_CLOSE_STRONG;
    made.fapl_size = sizeof(OutputStatus*);
    made.open = &open_file;
    made.close = &close_file;
    made.query = &query;
    made.get_eoa = &get_allocated;
    made.set_eoa = &set_allocated;
    made.get_eof = &get_end;
    made.read = &read;
    made.write = &write;
    made.truncate = &truncate;
    H5FD_mem_t const map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), made.fl_map);
    return made;
  }();
  return instance;
}

}  // namespace

Handle register_output_driver() { return {H5FDregister(&driver()), &H5FDunregister}; }

Handle output_access(Handle const& driver, OutputStatus& status) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
  OutputStatus* const pointer = &status;
  if (H5Pset_driver(access.id(), driver.id(), &pointer) < 0) return {};
  return access;
}

}  // namespace coir::hdf5
