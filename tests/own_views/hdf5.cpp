// A program's own Views in files.
#include "own_views.hpp"

#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>

struct Check {
  template <class Layout>
  bool operator()() const {
    Kokkos::View<double**, Layout> const view("view", 5, 3);
    auto const host = Kokkos::create_mirror_view(view);
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 3; ++j) host(i, j) = 10 * i + j;
    Kokkos::deep_copy(view, host);
    coir::hdf5::Writer writer("own_views.hdf5");
    writer.write("view", view);
    writer.commit();

    auto const back =
        coir::hdf5::Reader("own_views.hdf5").read<Kokkos::View<double**, Layout>>("view");
    auto const found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, back);
    bool same = back.extent(0) == 5 && back.extent(1) == 3;
    for (int i = 0; same && i < 5; ++i)
      for (int j = 0; j < 3; ++j) same = same && found(i, j) == 10 * i + j;
    return holds(same, "a View comes back");
  }
};

int main(int argc, char** argv) { return run(argc, argv, Check{}); }
