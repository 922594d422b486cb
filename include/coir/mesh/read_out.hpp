#pragma once

/// \file
/// Calls a function with what there is on a mesh at each particle.
///
/// What is read is a reader's matter (mesh_values.hpp, mesh_slopes.hpp). It has components, reader(position) for devices,
/// and for hosts a Block with locate(block, count, position), prefetch(block, p) and read(block, p, to).

#include <coir/core/loops.hpp>
#include <coir/core/tasks.hpp>
#include <coir/mesh/detail/particle_block.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace coir::mesh::detail {

/// A number, or a vector, at a particle.
template <class T, int Components>
struct Value {
  T component[Components];
};

/// body(p, value) for the particles [begin, end), on one thread of a host; or, if there is such a function,
/// body.stretch(p, count, values) for particles that follow each other, which may vectorise.
///
/// \param reader  a copy, which what is stored can't change
template <class T, class Reader, class Body>
void read_out_share(T const* position, std::int64_t begin, std::int64_t end, Reader const reader,
                    Body const& body) {
  constexpr int size = ParticleBlock<2, T>::size;
  typename Reader::Block blocks[2] = {};
  Value<T, Reader::components> values[size + 1];
  auto const count_from = [end](std::int64_t first) {
    return static_cast<int>(std::clamp<std::int64_t>(end - first, 0, size));
  };
  auto const locate_from = [&](std::int64_t first, int turn) {
    reader.locate(blocks[turn], count_from(first),
                  [=](int p) { return position + 3 * (first + p); });
  };
  locate_from(begin, 0);
  int turn = 0;
  for (std::int64_t first = begin; first < end; first += size, turn = 1 - turn) {
    int const count = count_from(first), ahead = count_from(first + count);
    locate_from(first + count, 1 - turn);
    for (int p = 0; p < count; ++p) {
      if (p < ahead)
        reader.prefetch(blocks[1 - turn],
                        p);  // what evolved particles touch isn't in the nearest cache
      reader.read(blocks[turn], p, values[p].component);
    }
    if constexpr (requires { body.stretch(first, count, values); })
      body.stretch(first, count, values);
    else
      for (int p = 0; p < count; ++p) body(first + p, values[p]);
  }
}

/// The same for a single particle of a device.
template <class T, class Reader, class Body>
struct ReadOutParticle {
  T const* position;
  Reader reader;
  Body body;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const { body(p, reader(position + 3 * p)); }
};

/// Calls body(p, value) for each particle p, in one kernel. The body may move the particle.
template <class Exec, class T, class Reader, class Body>
void read_out(std::string_view label, Exec const& exec, T const* position, std::int64_t particles,
              Reader const& reader, Body const& body) {
  if (particles == 0) return;
  if constexpr (runs_on_host<Exec>) {
    std::int64_t const shares = std::clamp<std::int64_t>(particles / 512, 1, exec.concurrency());
    for_each_task(label, exec, shares, [&](std::int64_t s) {
      read_out_share(position, particles * s / shares, particles * (s + 1) / shares, reader, body);
    });
  } else {
    for_each(label, exec, coir::box<1, std::int64_t>({particles}),
             ReadOutParticle<T, Reader, Body>{position, reader, body});
  }
}

}  // namespace coir::mesh::detail
