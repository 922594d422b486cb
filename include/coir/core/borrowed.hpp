#pragma once

/// \file
/// Memory of one type that holds numbers of another type for a while.

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace coir {

/// Numbers of type T in memory of numbers of type Owner, while this lives. Compilers assume that a `float` and a
/// `std::int32_t` never share memory unless the program says where one ends and the other begins ("strict aliasing");
/// this says so, by placement new, and takes no instructions. Values don't survive either change.
///
/// The memory may be a device's, and kernels may still be at work there.
template <class T, class Owner>
  requires std::is_trivially_default_constructible_v<T> &&
           std::is_trivially_default_constructible_v<Owner>
class Borrowed {
 public:
  /// \param memory  the owner's; `count` numbers of type T must fit
  Borrowed(Owner* memory, std::int64_t count)
      : owned_((static_cast<std::size_t>(count) * sizeof(T) + sizeof(Owner) - 1) / sizeof(Owner)),
        memory_(memory),
        data_(::new(static_cast<void*>(memory)) T[static_cast<std::size_t>(count)]) {}
  ~Borrowed() { ::new (static_cast<void*>(memory_)) Owner[owned_]; }

  Borrowed(Borrowed const&) = delete;
  Borrowed& operator=(Borrowed const&) = delete;

  T* data() const { return data_; }

 private:
  std::size_t owned_;
  Owner* memory_;
  T* data_;
};

}  // namespace coir
