#pragma once

/// \file
/// A list of buffers, which makes them and says how much memory they take.

#include <coir/core/concepts.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/memory.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace coir {

/// The buffers that an object holds. The object's class lists them once: its constructor makes
/// what the list says, and a prediction takes the bytes of the same list.
///
///   struct Fields {
///     Kokkos::View<double*> a, b;
///     Buffers list(std::int64_t n) {
///       Buffers all;
///       all.add(a, "a", n);
///       all.add(b, "b", 2 * n);
///       return all;
///     }
///   };
///
///   Fields().list(n).bytes();                         // beforehand
///   fields.list(n).make<Kokkos::HostSpace>("fields"); // in the constructor
class Buffers {
 public:
  /// Adds a View of these extents.
  ///
  /// \param view  that make() replaces, by one whose numbers aren't set; it must live until then
  template <class V, class... Extents>
  void add(V& view, std::string const& label, Extents... extents) {
    std::int64_t const bytes = bytes_of<V>(extents...);
    bytes_ += bytes;
    makers_.push_back([&view, label, bytes, extents...] {
      view = V();  // before memory is taken for the new one
      view = V(Kokkos::view_alloc(label, Kokkos::WithoutInitializing),
               static_cast<std::size_t>(extents)...);
      if constexpr (runs_on_host<typename V::execution_space>)
        ask_for_large_pages(view.data(), bytes);
    });
  }

  /// Adds a View of these extents, which make() takes by kept_view().
  ///
  /// \param exec  where kernels use it
  template <class Exec, class V, class... Extents>
  void add_kept(Exec const& exec, V& view, std::string const& label, Extents... extents) {
    bytes_ += bytes_of<V>(extents...);
    makers_.push_back([exec, &view, label, extents...] {
      view = V();
      view = kept_view<V>(exec, label, extents...);
    });
  }

  std::int64_t bytes() const { return bytes_; }

  /// Asks for the memory of all, and then makes them.
  ///
  /// \param what  what they are for: "multigrid on 100 x 100 cells"
  /// \throws ResourceError if Space lacks the memory; no View is replaced then
  template <class Space>
  void make(std::string const& what) const {
    if (makers_.empty()) return;
    expects_memory<Space>(bytes_, what);
    for (auto const& make_one : makers_) make_one();
  }

 private:
  template <class V, class... Extents>
  static std::int64_t bytes_of(Extents... extents) {
    // A View of no memory knows the extents that its type has, too.
    V const shape(static_cast<typename V::pointer_type>(nullptr),
                  static_cast<std::size_t>(extents)...);
    return static_cast<std::int64_t>(shape.span() * sizeof(typename V::value_type));
  }

  std::int64_t bytes_ = 0;
  std::vector<std::function<void()>> makers_;
};

}  // namespace coir
