#pragma once

/// \file
/// Interpolates a mesh to each particle and calls a function with the value, which isn't stored.
///
/// A reader says what is interpolated: MeshValues the mesh's values, MeshSlopes their gradient. A
/// reader has
///
/// - `components`;
/// - for devices `reader(position)`, and optionally `blocks_at_a_time`, see for_each(), and
///   `particles_per_thread`: the number of particles, four by default and at most, that a thread
///   reads one after the other if there are a million or more;
/// - for hosts a type `Block` with `locate(block, count, position)`, `prefetch(block, p)` and
///   `read(block, p, to)`.
///
/// GCC drops calls of a `prefetch` that it doesn't inline at once. Mark it
/// `[[gnu::always_inline]]`, as mesh_slopes.hpp does, unless the instruction is there without the
/// mark.

#include <coir/core/loops.hpp>
#include <coir/core/tasks.hpp>
#include <coir/mesh/detail/particle_block.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace coir::mesh {

/// A number, or a vector, at a particle.
template <class T, int Components>
struct Value {
  T component[Components];
};

/// The most particles in one call of a body's stretch(first, count, values).
inline constexpr int particles_per_stretch = detail::particles_per_block;

namespace detail {

/// Calls body(p, value) for the particles [begin, end), on one thread of a host. If the body has
/// `stretch(first, count, values)`, it is called instead, with up to particles_per_stretch
/// consecutive particles, so that it can vectorise.
///
/// \param reader  by value, so that the compiler knows that no store changes it
template <class T, class Reader, class Body>
void read_out_share(T const* position, std::int64_t begin, std::int64_t end, Reader const reader,
                    Body const& body) {
  // paint_part() has the same loop. A function for both would make readout slower.
  constexpr int length = particles_per_stretch;
  typename Reader::Block blocks[2] = {};
  Value<T, Reader::components> values[length + 1];  // readers may write one number beyond a value
  auto const size_from = [end](std::int64_t first) {
    return static_cast<int>(std::clamp<std::int64_t>(end - first, 0, length));
  };
  auto const locate_from = [&](std::int64_t first, int turn) {
    reader.locate(blocks[turn], size_from(first),
                  [=](int p) { return position + 3 * (first + p); });
  };
  locate_from(begin, 0);
  int turn = 0;
  for (std::int64_t first = begin; first < end; first += length, turn = 1 - turn) {
    int const size = size_from(first), ahead = size_from(first + size);
    locate_from(first + size, 1 - turn);
    for (int p = 0; p < size; ++p) {
      // Cells that scattered particles touch aren't in the first-level cache.
      if (p < ahead) reader.prefetch(blocks[1 - turn], p);
      reader.read(blocks[turn], p, values[p].component);
    }
    if constexpr (requires { body.stretch(first, size, values); })
      body.stretch(first, size, values);
    else
      for (int p = 0; p < size; ++p) body(first + p, values[p]);
  }
}

}  // namespace detail

/// Interpolates to particle p and calls the body: a kernel for devices, or a part of one.
template <class T, class Reader, class Body>
struct ReadOutParticle {
  static constexpr int blocks_at_a_time = [] {
    if constexpr (requires { Reader::blocks_at_a_time; })
      return Reader::blocks_at_a_time;
    else
      return 0;
  }();
  static constexpr int cells_per_thread = [] {
    if constexpr (requires { Reader::particles_per_thread; })
      return Reader::particles_per_thread;
    else
      return 4;
  }();
  T const* position;
  Reader reader;
  Body body;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const { body(p, reader(position + 3 * p)); }
};

/// Calls body(p, value) with the reader's value at each particle p, in one kernel. The body may
/// move the particle.
///
/// Hosts cut the particles into at most as many shares as the instance has threads.
/// body.of_share(s), if there is one, returns the body for share s, with memory of its own for
/// sums.
///
/// \param label     of the kernel, for profilers
/// \param position  (particles, 3), row-major
template <class Exec, class T, class Reader, class Body>
void read_out(std::string_view label, Exec const& exec, T const* position, std::int64_t particles,
              Reader const& reader, Body const& body) {
  if (particles == 0) return;
  if constexpr (runs_on_host<Exec>) {
    std::int64_t const shares = std::clamp<std::int64_t>(particles / 512, 1, exec.concurrency());
    for_each_task(label, exec, shares, [&](std::int64_t s) {
      std::int64_t const begin = particles * s / shares, end = particles * (s + 1) / shares;
      if constexpr (requires { body.of_share(s); })
        detail::read_out_share(position, begin, end, reader, body.of_share(s));
      else
        detail::read_out_share(position, begin, end, reader, body);
    });
  } else {
    for_each(label, exec, coir::box<1, std::int64_t>({particles}),
             ReadOutParticle<T, Reader, Body>{position, reader, body});
  }
}

}  // namespace coir::mesh
