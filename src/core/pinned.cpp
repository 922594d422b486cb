#include <coir/core/errors.hpp>
#include <coir/core/instance.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/pinned.hpp>
#include <coir/core/pool.hpp>

#include <algorithm>
#include <exception>
#include <type_traits>

namespace coir {

namespace {

void free_pinned(void* block) {
  if (!Kokkos::is_initialized()) return;  // nothing can be freed any more, and the process ends
  Kokkos::fence();                        // copies that still use it
  Kokkos::kokkos_free<PinnedSpace>(block);
}

[[maybe_unused]] std::shared_ptr<void> locked(std::int64_t bytes) {
  expects_memory<Kokkos::HostSpace>(bytes, "a page-locked array");
  void* block = nullptr;
  try {
    block =
        Kokkos::kokkos_malloc<PinnedSpace>("coir::core::pinned", static_cast<std::size_t>(bytes));
  } catch (std::exception const&) {  // Kokkos' own, of different types
  }
  if (block == nullptr)
    throw ResourceError("the system locks no " + readable_bytes(bytes) +
                        " of memory for a page-locked array: use a smaller one, or an array of "
                        "ordinary host memory");
  return {block, free_pinned};
}

}  // namespace

std::shared_ptr<void> allocate_pinned(std::int64_t bytes) {
  detail::expects_kokkos();
  bytes = std::max<std::int64_t>(bytes, 1);  // a block for arrays without elements, too
  if constexpr (!std::is_same_v<PinnedSpace, Kokkos::HostSpace>)
    if (!device_is_left_out()) return locked(bytes);
  return MemoryPool<Kokkos::HostSpace>::allocate(bytes);
}

}  // namespace coir
