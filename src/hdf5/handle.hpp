#pragma once

// HDF5's identifiers, closed at the end of their scope, and its errors as text.

#include <string>
#include <utility>

#include <hdf5.h>

namespace coir::hdf5 {

class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*closing)(hid_t)) : id_(id), close_(closing) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }

  hid_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }

  // False if HDF5 met an error.
  bool close() {
    if (!valid()) return true;
    return close_(std::exchange(id_, -1)) >= 0;
  }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

// HDF5 prints no errors during the lifetime of a Quiet. The program's own setting returns
// afterwards.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Quiet(Quiet const&) = delete;
  Quiet& operator=(Quiet const&) = delete;
  ~Quiet() {
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, print_, data_);
  }

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

// The failure of HDF5's last call: where it began, and the errno if there was one.
struct Failure {
  std::string text;
  int error = 0;
};
Failure last_failure();

}  // namespace coir::hdf5
