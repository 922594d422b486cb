#include "before_kokkos_ends.hpp"

#include <coir/core/kokkos.hpp>

#include <set>
#include <utility>

namespace coir::distributed::detail {

namespace {

struct Registered {
  std::set<BeforeKokkosEnds*> objects;
  bool has_hook = false;
  int hooks = 0;
};
/// Never destroyed: objects may live until the very end of the program.
Registered& registered() {
  static auto* const all = new Registered;
  return *all;
}

}  // namespace

BeforeKokkosEnds::BeforeKokkosEnds(std::function<void()> give_up) : give_up_(std::move(give_up)) {
  auto& all = registered();
  all.objects.insert(this);
  if (std::exchange(all.has_hook, true)) return;
  ++all.hooks;
  Kokkos::push_finalize_hook([&all] {
    all.has_hook = false;
    for (auto* const one : std::exchange(all.objects, {})) one->give_up_();
  });
}

BeforeKokkosEnds::~BeforeKokkosEnds() { registered().objects.erase(this); }

int BeforeKokkosEnds::hooks() { return registered().hooks; }

}  // namespace coir::distributed::detail
