#pragma once

// How HDF5 reaches a file that is being written.
//
// HDF5's own driver passes a failed write on, and then the file can't be closed any more: its metadata are still to be
// written, each attempt fails, and the library crashes when the program ends (1.10). This driver keeps the error for
// the Writer and tells HDF5 that all is well, so that the file closes; it is going to be removed anyway.

#include "handle.hpp"

namespace coir::hdf5 {

// The first error met while writing, an errno; 0 if there was none.
struct OutputStatus {
  int error = 0;
};

// Makes the driver known to HDF5.
Handle register_output_driver();

// Properties for H5Fcreate: this driver, reporting to `status`, which must outlive the file.
Handle output_access(Handle const& driver, OutputStatus& status);

}  // namespace coir::hdf5
