#pragma once

/// \file
/// Memory of one type that holds numbers of another type for a while.

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace coir {

/// Ends the lifetimes of the objects in a piece of memory, and begins those of `count` numbers of
/// type T there, which have no values yet. Compilers assume that a `float` and a `std::int32_t`
/// never share memory ("strict aliasing") unless the program says that one follows the other. The
/// call says so. It takes no instructions, the memory may be a device's, and kernels may still be
/// at work there.
template <class T>
  requires std::is_trivially_default_constructible_v<T>
T* begin_lifetimes(void* memory, std::int64_t count) {
  return ::new (memory) T[static_cast<std::size_t>(count)];
}

/// Uses memory of numbers of type Owner for numbers of type T during its lifetime. Values are lost
/// both at the change to T and at the change back.
template <class T, class Owner>
class Borrowed {
 public:
  /// \param memory  must be large enough for `count` numbers of type T
  Borrowed(Owner* memory, std::int64_t count)
      : memory_(memory), count_(count), data_(begin_lifetimes<T>(memory, count)) {}
  ~Borrowed() {
    constexpr auto mine = static_cast<std::int64_t>(sizeof(T)),
                   owners = static_cast<std::int64_t>(sizeof(Owner));
    begin_lifetimes<Owner>(memory_, (count_ * mine + owners - 1) / owners);
  }

  Borrowed(Borrowed const&) = delete;
  Borrowed& operator=(Borrowed const&) = delete;

  T* data() const { return data_; }

 private:
  Owner* memory_;
  std::int64_t count_;
  T* data_;
};

}  // namespace coir
