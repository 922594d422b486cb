#pragma once

#include <coir/core/concepts.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/pool.hpp>
#include <coir/core/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir {

namespace detail {

/// The Views of a type that kept_view() has made.
template <class V>
class KeptViews {
  using Space = typename V::memory_space;

 public:
  static KeptViews& all() {
    // Never destroyed: Views may outlive every other static object.
    static auto* const kept = new KeptViews;
    return *kept;
  }

  template <class Exec, class... Extents>
  V take(Exec const& exec, std::string const& label, Extents... extents) {
    if (V::required_allocation_size(static_cast<std::size_t>(extents)...) > most_bytes)
      return made(label, extents...);
    Key const key(instance_of(exec), label);
    {
      std::lock_guard const lock(mutex_);
      auto& views = views_[key];
      for (V const& view : views)
        if (is_idle(view) && has_extents(view, extents...)) return view;
      std::erase_if(views, is_idle);  // of other extents
    }
    V const view = made(label, extents...);
    std::lock_guard const lock(mutex_);
    views_[key].push_back(view);
    return view;
  }

  template <class... Extents>
  static V made(std::string const& label, Extents... extents) {
    auto const make = [&] {
      return V(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
               static_cast<std::size_t>(extents)...);
    };
    V view;
    try {
      view = make();
    } catch (std::exception const&) {  // Kokkos' own, of different types
      MemoryPool<Space>::release();
      view = make();
    }
    if constexpr (std::is_same_v<Space, Kokkos::HostSpace>)
      ask_for_large_pages(view.data(),
                          static_cast<std::int64_t>(view.span() * sizeof(typename V::value_type)));
    return view;
  }

 private:
  using Key = std::pair<void const*, std::string>;
  // Work on more takes far longer than to allocate it, and would miss the memory elsewhere.
  static constexpr std::size_t most_bytes = std::size_t(1) << 30;

  KeptViews() {
    MemoryPool<Space>::also_free([this] {
      std::lock_guard const lock(mutex_);
      for (auto& [key, views] : views_) std::erase_if(views, is_idle);
    });
  }

  template <class Exec>
  static void const* instance_of([[maybe_unused]] Exec const& exec) {
    if constexpr (runs_on_host<Exec>)
      return nullptr;
    else
      return stream_of(exec);
  }
  static bool is_idle(V const& view) { return view.use_count() == 1; }
  template <class... Extents>
  static bool has_extents(V const& view, Extents... extents) {
    std::size_t d = 0;
    return ((view.extent(d++) == static_cast<std::size_t>(extents)) && ...);
  }

  std::mutex mutex_;
  std::map<Key, std::vector<V>> views_;
};

}  // namespace detail

/// A new View whose numbers aren't set. On devices, which wait for all kernels where memory is
/// allocated or freed, its memory is kept when its last copy is gone, for the next call with this
/// label and these extents. A call with the label and other extents frees what is kept for it, and
/// so does MemoryPool::release(). Views of more than 1 GiB aren't kept.
///
/// Memory is handed on while kernels of `exec` may still use it. Fence before the last copy goes if
/// other instances use the View. What is kept for an instance that has ended stays until
/// MemoryPool::release(), which expects_memory() calls where memory is short.
///
///     auto const mesh = kept_view<Kokkos::View<double**>>(exec, "coir::module::file/mesh", n, n);
///
/// \throws what Kokkos throws where there is no memory
template <class V, class Exec, class... Extents>
V kept_view(Exec const& exec, std::string const& label, Extents... extents) {
  if constexpr (runs_on_host<Exec>)
    return detail::KeptViews<V>::made(label, extents...);
  else
    return detail::KeptViews<V>::all().take(exec, label, extents...);
}

}  // namespace coir
