#pragma once

/// Pictures and arrays of a run's fields, and its sums over time.

#include "settings.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/view_exchange.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/npy.hpp>
#include <coir/shallow/model.hpp>

#include <support/on_all.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::shallow {

template <class T>
using HostField = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// All rows of a field on the first rank; elsewhere nothing. Collective.
template <class Exec, class T, class Cells>
HostField<T> gathered(coir::shallow::Model<Exec, T> const& model, Cells const& cells) {
  typename coir::shallow::Model<Exec, T>::Field const packed("packed", cells.extent(0),
                                                             cells.extent(1));
  Exec const exec;
  Kokkos::fence();
  copy_strided<Exec, T, 2>(exec, strided(cells), strided(packed));
  exec.fence();
  auto const here = host_view_of(packed);
  auto const& group = model.group();
  auto const columns = cells.extent(1);
  HostField<T> all;
  distributed::ViewExchange exchange(Kokkos::DefaultHostExecutionSpace(), group, "shallow/gather");
  exchange.send(0, here);
  if (group.is_first()) {
    all = HostField<T>("all", static_cast<std::size_t>(model.parameters().rows), columns);
    for (int rank = 0; rank < group.size(); ++rank) {
      auto const rows = distributed::share_of(model.parameters().rows, rank, group.size());
      exchange.receive(rank, Kokkos::subview(all, std::pair(rows.first, rows.end()), Kokkos::ALL));
    }
  }
  exchange.run();
  return all;
}

/// "surface_000100.png"
std::string file_name(char const* field, std::int64_t step, char const* ending);

/// A picture of a field, north on top, in colours from dark at `low` to light at `high`.
void write_picture(std::filesystem::path const& path, HostField<float> const& field, float low,
                   float high);

/// The surface at each output, smaller, one beside the other.
class Strip {
 public:
  void add(HostField<float> const& surface);
  bool is_empty() const { return frames_.empty(); }
  void write(std::filesystem::path const& path) const;

 private:
  std::vector<HostField<float>> frames_;
};

/// The surface's height above the depth at rest, the vorticity and the potential vorticity, as
/// pictures and, if asked for, arrays in the run's precision. Collective.
template <class Exec, class T>
void write_fields(coir::shallow::Model<Exec, T> const& model, Settings const& settings,
                  std::vector<double> const& bottom, Strip& strip) {
  auto const& group = model.group();
  auto const write = [&](char const* name, HostField<T> const& field, bool around_zero) {
    on_first(group, [&] {
      HostField<float> const shown("shown", field.extent(0), field.extent(1));
      std::transform(field.data(), field.data() + field.size(), shown.data(),
                     [](T x) { return static_cast<float>(x); });
      auto const [low, high] = std::minmax_element(shown.data(), shown.data() + shown.size());
      float const most = std::max(-*low, *high);
      write_picture(settings.output / file_name(name, model.steps(), ".png"), shown,
                    around_zero ? -most : *low, around_zero ? most : *high);
      if (settings.npy)
        io::write_npy(settings.output / file_name(name, model.steps(), ".npy"), field);
      if (std::string(name) == "surface") strip.add(shown);
    });
  };
  auto const surface = gathered(model, model.h());
  for (std::size_t n = 0; n < surface.size(); ++n)
    surface.data()[n] += static_cast<T>((bottom.empty() ? 0.0 : bottom[n]) - settings.depth);
  write("surface", surface, true);
  write("vorticity", gathered(model, model.vorticity()), true);
  write("potential_vorticity", gathered(model, model.potential_vorticity()), false);
}

/// Lines of the sums over time.
class TotalsText {
 public:
  void add(std::int64_t step, double time, coir::shallow::Totals const& totals);
  std::string const& text() const { return text_; }

 private:
  std::string text_ =
      "# step  time [s]  mass [m^3]  energy [m^5/s^2]  potential enstrophy [m/s^2]  least and "
      "largest depth [m]  largest speed [m/s]\n";
};

}  // namespace coir::apps::shallow
