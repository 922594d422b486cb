// The same bits for any number of ranks, and one message to each neighbour a step.

#include "fields.hpp"

#include <coir/shallow/model.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using coir::distributed::Group;
using coir::shallow::Parameters;
using coir::testing::rows_of;
using coir::testing::set;
using coir::testing::world;

template <class Case>
void compare_with_one_rank(Parameters const& p) {
  using Exec = typename Case::Exec;
  using T = typename Case::Real;
  using Model = coir::shallow::Model<Exec, T>;
  Exec const exec;
  Model whole(exec, Group::self(), p), shared(exec, world(), p);
  auto const bottom = coir::testing::tabulated(
      p.rows, p.columns, [](int j, int i) { return 0.5 * ((3 * i + j) % 7); });
  for (Model* const model : {&whole, &shared}) {
    model->set_bottom(rows_of(*model, bottom));
    set(*model, coir::testing::uneven_start(p));
    model->advance(25);
  }
  auto const expects_alike = [&](auto const& one, auto const& all) {
    auto const here = coir::testing::elements<Exec, T>(exec, one);
    auto const every = coir::testing::elements<Exec, T>(exec, all);
    auto const first = every.begin() + shared.rows().first * p.columns;
    EXPECT_EQ(here, std::vector<T>(first, first + shared.rows().count * p.columns));
  };
  expects_alike(shared.h(), whole.h());
  expects_alike(shared.u(), whole.u());
  expects_alike(shared.v(), whole.v());
  for (std::size_t n = 0; n < 3; ++n) expects_alike(shared.slopes()[n], whole.slopes()[n]);
  expects_alike(typename Model::Cells(shared.potential_vorticity()),
                typename Model::Cells(whole.potential_vorticity()));
  auto const one = whole.totals(), all = shared.totals();
  EXPECT_EQ(one.mass, all.mass);
  EXPECT_EQ(one.energy, all.energy);
  EXPECT_EQ(one.enstrophy, all.enstrophy);
  EXPECT_EQ(one.largest_speed, all.largest_speed);

  // A run that goes on from another's fields has its bits, too.
  Model again(exec, world(), p);
  again.set_bottom(rows_of(again, bottom));
  auto const copy = [&](auto const& from, auto const& to) {
    coir::copy_strided<Exec, T, 2>(exec, coir::strided(from), coir::strided(to));
  };
  copy(shared.h(), again.h());
  copy(shared.u(), again.u());
  copy(shared.v(), again.v());
  for (std::size_t n = 0; n < 3; ++n) copy(shared.slopes()[n], again.slopes()[n]);
  again.go_on_from(25);
  again.advance(5);
  whole.advance(5);
  expects_alike(again.h(), whole.h());
  expects_alike(again.v(), whole.v());
}

COIR_RANKS_SUITE(ShallowRanks);

TYPED_TEST(ShallowRanks, FieldsAndTotalsHaveTheBitsOfOneRank) {
  Parameters p;
  p.columns = 19;
  p.rows = 29;
  p.dx = 5e3;
  p.dy = 4e3;
  p.f0 = 2e-4;
  p.beta = 2e-11;
  p.dt = 20;
  p.viscosity = 2e3;
  compare_with_one_rank<TypeParam>(p);
  p.compatible = true;
  compare_with_one_rank<TypeParam>(p);
  p.compatible = false;
  p.periodic_y = true;
  compare_with_one_rank<TypeParam>(p);
  p.viscosity = 0;
  p.periodic_x = false;
  compare_with_one_rank<TypeParam>(p);
}

TEST(ShallowRanks, SendOneMessageToEachNeighbourAStep) {
  Parameters p;
  p.columns = 8;
  p.rows = 24;
  p.dt = 0.01;
  p.viscosity = 1;
  coir::shallow::Model<Kokkos::DefaultExecutionSpace, double> model({}, world(), p);
  set(model, coir::testing::uneven_start(p));
  auto const before = world().traffic("distributed/halos").messages;
  model.advance(10);
  int const rank = world().rank(), last = world().size() - 1;
  EXPECT_EQ(world().traffic("distributed/halos").messages - before,
            10 * ((rank > 0 ? 1 : 0) + (rank < last ? 1 : 0)));
}

TEST(ShallowRanks, NeedAsManyRowsAsTheHalo) {
  Parameters p;
  p.columns = 8;
  p.rows = 2 * world().size() - 1;
  p.dt = 0.01;
  if (world().size() == 1) p.rows = 1;
  using Model = coir::shallow::Model<Kokkos::DefaultExecutionSpace, double>;
  std::string const message = coir::testing::message_of([&] { Model({}, world(), p); });
  EXPECT_NE(
      message.find(world().size() == 1 ? "2 rows of cells or more" : "as its halo has, not 1"),
      std::string::npos)
      << message;
}

TEST(ShallowRanks, AreGivenTheSameParameters) {
  if (world().size() == 1) return;
  Parameters p;
  p.columns = 8;
  p.rows = 3 * world().size();
  p.dt = world().is_first() ? 0.5 : 0.25;
  using Model = coir::shallow::Model<Kokkos::DefaultExecutionSpace, double>;
  EXPECT_EQ(coir::testing::message_of([&] { Model({}, world(), p); }),
            "all ranks must be given the same dt of a shallow-water model: it is 0.5 on rank 0 and "
            "0.25 on rank 1");
}

}  // namespace
