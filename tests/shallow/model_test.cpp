// Steps of shallow water against the equations by plain loops, conserved sums, exact states, and
// waves.

#include "fields.hpp"

#include <coir/shallow/model.hpp>

#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace {

using coir::shallow::Parameters;
using coir::testing::message_of;
using coir::testing::Numbers;
using coir::testing::rows_of;
using coir::testing::set;
using coir::testing::ShallowState;
using coir::testing::tabulated;
using coir::testing::uneven_start;

using Exec = Kokkos::DefaultExecutionSpace;
using Model = coir::shallow::Model<Exec, double>;

Model model_of(Parameters const& parameters) {
  return Model(Exec(), coir::distributed::Group::self(), parameters);
}
Numbers numbers(Model::Cells const& cells) {
  return coir::testing::elements<Exec, double>(Exec(), cells);
}
ShallowState state_of(Model const& model) {
  return {numbers(model.h()), numbers(model.u()), numbers(model.v())};
}

double largest(Numbers const& a) {
  double most = 0;
  for (double const x : a) most = std::max(most, std::abs(x));
  return most;
}
double distance(Numbers const& a, Numbers const& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n)
    most = std::max(most, std::abs(a[n] - b[n]));
  return most;
}

/// The grid of mpi4jax's demo.
Parameters of_demo(int columns = 360, int rows = 180) {
  Parameters p;
  p.columns = columns;
  p.rows = rows;
  p.dx = p.dy = 5e3;
  p.f0 = 2e-4;
  p.beta = 2e-11;
  p.viscosity = 1e-3 * p.f0 * p.dx * p.dx;
  p.dt = 0.125 * p.dx / std::sqrt(p.gravity * 100);
  return p;
}

/// The demo's equations by plain loops, in its order: each field has an edge of one cell, which is
/// copied along the periodic x, and walls lie at both ends of y.
class PlainLoops {
 public:
  PlainLoops(Parameters const& p, ShallowState const& start)
      : p_(p), h(edged(start.h)), u(edged(start.u)), v(edged(start.v)) {
    dh = du = dv = Numbers(h.size());
  }

  void step(bool is_first) {
    Numbers hc = h, fe(h.size()), fn(h.size()), q(h.size()), k(h.size());
    for (int i = 0; i <= p_.columns + 1; ++i) {
      hc[at(0, i)] = hc[at(1, i)];
      hc[at(p_.rows + 1, i)] = hc[at(p_.rows, i)];
    }
    inside([&](int j, int i) {
      fe[at(j, i)] = 0.5 * (hc[at(j, i)] + hc[at(j, i + 1)]) * u[at(j, i)];
      fn[at(j, i)] = 0.5 * (hc[at(j, i)] + hc[at(j + 1, i)]) * v[at(j, i)];
      double const y = (j - 1 + (p_.compatible ? 0.0 : 0.5)) * p_.dy;
      double const zeta =
          (v[at(j, i + 1)] - v[at(j, i)]) / p_.dx - (u[at(j + 1, i)] - u[at(j, i)]) / p_.dy;
      double const depth =
          0.25 * (hc[at(j, i)] + hc[at(j, i + 1)] + hc[at(j + 1, i)] + hc[at(j + 1, i + 1)]);
      q[at(j, i)] = (p_.f0 + p_.beta * y + zeta) / depth;
      auto const square = [](double x) { return x * x; };
      k[at(j, i)] = 0.25 * (square(u[at(j, i)]) + square(u[at(j, i - 1)]) + square(v[at(j, i)]) +
                            square(v[at(j - 1, i)]));
    });
    edge(fe);
    edge(fn);
    wall(fn);
    edge(q);
    edge(k);
    Numbers dh1(h.size()), du1(h.size()), dv1(h.size());
    inside([&](int j, int i) {
      dh1[at(j, i)] =
          -(fe[at(j, i)] - fe[at(j, i - 1)]) / p_.dx - (fn[at(j, i)] - fn[at(j - 1, i)]) / p_.dy;
      du1[at(j, i)] = -p_.gravity * (h[at(j, i + 1)] - h[at(j, i)]) / p_.dx +
                      0.5 * (q[at(j, i)] * 0.5 * (fn[at(j, i)] + fn[at(j, i + 1)]) +
                             q[at(j - 1, i)] * 0.5 * (fn[at(j - 1, i)] + fn[at(j - 1, i + 1)])) -
                      (k[at(j, i + 1)] - k[at(j, i)]) / p_.dx;
      dv1[at(j, i)] = -p_.gravity * (h[at(j + 1, i)] - h[at(j, i)]) / p_.dy -
                      0.5 * (q[at(j, i)] * 0.5 * (fe[at(j, i)] + fe[at(j + 1, i)]) +
                             q[at(j, i - 1)] * 0.5 * (fe[at(j, i - 1)] + fe[at(j + 1, i - 1)])) -
                      (k[at(j + 1, i)] - k[at(j, i)]) / p_.dy;
    });
    double const now = is_first ? 1 : 1.5 + p_.epsilon, before = is_first ? 0 : -0.5 - p_.epsilon;
    inside([&](int j, int i) {
      h[at(j, i)] += p_.dt * (now * dh1[at(j, i)] + before * dh[at(j, i)]);
      u[at(j, i)] += p_.dt * (now * du1[at(j, i)] + before * du[at(j, i)]);
      v[at(j, i)] += p_.dt * (now * dv1[at(j, i)] + before * dv[at(j, i)]);
    });
    dh = dh1, du = du1, dv = dv1;
    edge(h);
    edge(u);
    edge(v);
    wall(v);
    diffuse(u, u, false);
    diffuse(v, p_.compatible ? u : v, !p_.compatible);
    if (!p_.compatible) wall(v);
  }

  Numbers interior(Numbers const& field) const {
    return tabulated(p_.rows, p_.columns, [&](int j, int i) { return field[at(j + 1, i + 1)]; });
  }

 private:
  std::size_t at(int j, int i) const { return static_cast<std::size_t>(j * (p_.columns + 2) + i); }
  template <class F>
  void inside(F const& f) const {
    for (int j = 1; j <= p_.rows; ++j)
      for (int i = 1; i <= p_.columns; ++i) f(j, i);
  }
  void edge(Numbers& field) const {
    for (int j = 0; j <= p_.rows + 1; ++j) {
      field[at(j, 0)] = field[at(j, p_.columns)];
      field[at(j, p_.columns + 1)] = field[at(j, 1)];
    }
  }
  void wall(Numbers& field) const {
    for (int i = 0; i <= p_.columns + 1; ++i) field[at(p_.rows, i)] = 0;
  }
  Numbers edged(Numbers const& cells) const {
    Numbers field(static_cast<std::size_t>((p_.rows + 2) * (p_.columns + 2)));
    inside([&](int j, int i) {
      field[at(j, i)] = cells[static_cast<std::size_t>((j - 1) * p_.columns + i - 1)];
    });
    edge(field);
    return field;
  }
  /// \param other      what is taken from the neighbour in the east and the north
  /// \param from_wall  whether a flux comes from the southern wall, where the field is 0
  void diffuse(Numbers& field, Numbers const& other, bool from_wall) const {
    Numbers fe(field.size()), fn(field.size());
    inside([&](int j, int i) {
      fe[at(j, i)] = p_.viscosity * (field[at(j, i + 1)] - other[at(j, i)]) / p_.dx;
      fn[at(j, i)] = p_.viscosity * (field[at(j + 1, i)] - other[at(j, i)]) / p_.dy;
    });
    edge(fe);
    wall(fn);
    for (int i = 1; from_wall && i <= p_.columns; ++i)
      fn[at(0, i)] = p_.viscosity * field[at(1, i)] / p_.dy;
    inside([&](int j, int i) {
      field[at(j, i)] += p_.dt * ((fe[at(j, i)] - fe[at(j, i - 1)]) / p_.dx +
                                  (fn[at(j, i)] - fn[at(j - 1, i)]) / p_.dy);
    });
    edge(field);
  }

  Parameters p_;

 public:
  Numbers h, u, v, dh, du, dv;
};

void expects_equal_to_plain_loops(Parameters const& p, int steps) {
  auto const start = uneven_start(p);
  Model model = model_of(p);
  set(model, start);
  model.advance(steps);
  PlainLoops plain(p, start);
  for (int n = 0; n < steps; ++n) plain.step(n == 0);
  auto const state = state_of(model);
  EXPECT_GT(distance(state.h, start.h), 1e-3);
  EXPECT_LT(distance(state.h, plain.interior(plain.h)), 1e-12 * largest(state.h));
  EXPECT_LT(distance(state.u, plain.interior(plain.u)), 1e-12 * largest(state.u));
  EXPECT_LT(distance(state.v, plain.interior(plain.v)), 1e-12 * largest(state.v));
}

TEST(ShallowModel, CompatibleStepsAreThoseOfTheDemo) {
  Parameters p = of_demo();
  p.compatible = true;
  expects_equal_to_plain_loops(p, 200);
}

TEST(ShallowModel, StepsAreThoseOfPlainLoops) {
  Parameters p = of_demo(37, 23);
  p.dy = 4e3;
  p.viscosity *= 50;  // so that it is seen on the walls
  expects_equal_to_plain_loops(p, 60);
  p.compatible = true;
  expects_equal_to_plain_loops(p, 60);
  for (auto const& [columns, rows] : {std::pair(2, 2), std::pair(2, 3), std::pair(3, 5)})
    expects_equal_to_plain_loops(of_demo(columns, rows), 20);
  // Devices take several cells at a time of grids of 10^6 cells and more. Neither extent is a
  // multiple of what they take.
  p = of_demo(1030, 1003);
  p.viscosity *= 50;
  expects_equal_to_plain_loops(p, 3);
}

// x and y change places, and so do u and v; f changes its sign.
void expects_walls_in_x_to_be_walls_in_y(int columns, int rows, int steps) {
  Parameters p = of_demo(columns, rows);
  p.beta = 0;
  p.viscosity *= 50;
  p.dy = 6e3;
  Parameters turned = p;
  std::swap(turned.rows, turned.columns);
  std::swap(turned.dx, turned.dy);
  turned.f0 = -p.f0;
  turned.periodic_x = false;
  turned.periodic_y = true;
  auto const transposed = [&](Numbers const& field) {
    return tabulated(turned.rows, turned.columns, [&](int j, int i) {
      return field[static_cast<std::size_t>(i * p.columns + j)];
    });
  };
  auto const start = uneven_start(p);
  Model model = model_of(p), other = model_of(turned);
  set(model, start);
  set(other, {transposed(start.h), transposed(start.v), transposed(start.u)});
  model.advance(steps);
  other.advance(steps);
  EXPECT_LT(distance(numbers(other.h()), transposed(numbers(model.h()))), 1e-11);
  EXPECT_LT(distance(numbers(other.u()), transposed(numbers(model.v()))), 1e-12);
  EXPECT_LT(distance(numbers(other.v()), transposed(numbers(model.u()))), 1e-12);
}

TEST(ShallowModel, WallsInXAreWallsInYTransposed) {
  expects_walls_in_x_to_be_walls_in_y(21, 16, 50);
  expects_walls_in_x_to_be_walls_in_y(1030, 1003, 3);
}

TEST(ShallowModel, APeriodicPlaneHasNoFirstCell) {
  Parameters p = of_demo(13, 17);
  p.beta = 0;
  p.periodic_y = true;
  p.viscosity *= 10;
  auto const moved = [&](Numbers const& field) {
    return tabulated(p.rows, p.columns, [&](int j, int i) {
      return field[static_cast<std::size_t>((j + 5) % p.rows * p.columns + (i + 9) % p.columns)];
    });
  };
  auto const start = uneven_start(p);
  Model model = model_of(p), other = model_of(p);
  set(model, start);
  set(other, {moved(start.h), moved(start.u), moved(start.v)});
  model.advance(40);
  other.advance(40);
  EXPECT_EQ(numbers(other.h()), moved(numbers(model.h())));
  EXPECT_EQ(numbers(other.u()), moved(numbers(model.u())));
  EXPECT_EQ(numbers(other.v()), moved(numbers(model.v())));
}

TEST(ShallowModel, DragAndABottomActAsTheirFormulas) {
  Parameters p;
  p.columns = 12;
  p.rows = 9;
  p.dt = 0.01;
  p.periodic_y = true;
  p.drag = 0.5;
  auto const bottom =
      tabulated(p.rows, p.columns, [](int j, int i) { return 0.3 * ((7 * i + 5 * j) % 11); });
  ShallowState state;
  for (double const b : bottom) {
    state.h.push_back(10 - b);  // a level surface stays at rest
    state.u.push_back(0);
    state.v.push_back(0);
  }
  Model model = model_of(p);
  model.set_bottom(rows_of(model, bottom));
  set(model, state);
  model.advance(100);
  EXPECT_LT(distance(numbers(model.h()), state.h), 1e-12);
  EXPECT_LT(largest(numbers(model.u())) + largest(numbers(model.v())), 1e-12);

  // Over a flat bottom an even current decays as Adams-Bashforth's steps of u' = -r u.
  Model even = model_of(p);
  set(even, {Numbers(108, 10), Numbers(108, 2), Numbers(108)});
  even.advance(50);
  double u = 2, before = 0;
  for (int n = 0; n < 50; ++n) {
    double const slope = -p.drag * u;
    u += n == 0 ? p.dt * slope : p.dt * (1.6 * slope - 0.6 * before);
    before = slope;
  }
  EXPECT_LT(distance(numbers(even.u()), Numbers(108, u)), 1e-13);
}

TEST(ShallowModel, MassStaysOver10000Steps) {
  Parameters p = of_demo(16, 12);
  Model model = model_of(p);
  set(model, uneven_start(p));
  double const mass = model.totals().mass;
  model.advance(10'000);
  // Each cell is rounded 10^4 times, by half an epsilon at most, up and down.
  EXPECT_LT(std::abs(model.totals().mass / mass - 1), 100 * 2.2e-16);
}

struct End {
  Numbers h;
  double energy;
};

/// The end after 2000 s in so many steps, which are of second order.
End after(int steps) {
  Parameters p = of_demo(24, 18);
  p.viscosity = 0;
  p.epsilon = 0;
  p.dt = 2000.0 / steps;
  Model model = model_of(p);
  set(model, uneven_start(p));
  model.advance(steps);
  return {numbers(model.h()), model.totals().energy};
}

TEST(ShallowModel, AdamsBashforthIsOfSecondOrderAndKeepsEnergySo) {
  Parameters p = of_demo(24, 18);
  Model start = model_of(p);
  set(start, uneven_start(p));
  double const energy = start.totals().energy;
  End const coarse = after(400), fine = after(800), exact = after(12'800);
  double const order = std::log2(distance(coarse.h, exact.h) / distance(fine.h, exact.h));
  EXPECT_GT(order, 1.95);
  EXPECT_LT(order, 2.05);
  double const of_energy = std::log2((coarse.energy - energy) / (fine.energy - energy));
  EXPECT_GT(of_energy, 1.9);
  EXPECT_LT(std::abs(fine.energy / energy - 1), 1e-6);
}

// A current along x whose Coriolis force the slope of the surface balances on the grid, row by row.
TEST(ShallowModel, AGeostrophicCurrentStays) {
  Parameters p = of_demo(10, 40);
  p.viscosity = 0;
  auto const u = [&](int j) { return 8 * std::exp(-0.02 * (j - 20) * (j - 20)); };
  Numbers h{100};
  for (int j = 0; j + 1 < p.rows; ++j) {
    double north = h[j];
    for (int n = 0; n < 100; ++n) {
      double const q =
          (p.f0 + p.beta * (j + 0.5) * p.dy - (u(j + 1) - u(j)) / p.dy) / (0.5 * (h[j] + north));
      double const flux = 0.5 * (h[j] * u(j) + north * u(j + 1));
      double const head = 0.5 * (u(j + 1) * u(j + 1) - u(j) * u(j));
      north = h[j] - (q * flux * p.dy + head) / p.gravity;
    }
    h.push_back(north);
  }
  ShallowState const start{tabulated(p.rows, p.columns, [&](int j, int) { return h[j]; }),
                           tabulated(p.rows, p.columns, [&](int j, int) { return u(j); }),
                           Numbers(static_cast<std::size_t>(p.rows * p.columns))};
  Model model = model_of(p);
  set(model, start);
  model.advance(1000);
  EXPECT_LT(distance(numbers(model.h()), start.h), 1e-11);
  EXPECT_LT(distance(numbers(model.u()), start.u), 1e-11);
  EXPECT_LT(largest(numbers(model.v())), 1e-11);
}

// Modes of the linear equations on the C grid have w^2 = g H (kx^2 + ky^2) with kx = 2 sin(k dx /
// 2) / dx. Steps turn exp(-i w t) into z^n, where z is a root of z^2 = z - i w dt ((1.5 + e) z -
// (0.5 + e)).
TEST(ShallowModel, GravityWavesHaveTheDispersionOfTheGrid) {
  using Complex = std::complex<double>;
  double const pi = std::numbers::pi, depth = 50, height = 1e-6;
  for (auto const& [mx, my] : {std::pair(1, 0), std::pair(3, 2), std::pair(8, -5)}) {
    Parameters p;
    p.columns = 20;
    p.rows = 16;
    p.dx = 2;
    p.dy = 3;
    p.periodic_y = true;
    p.dt = 0.005;
    double const ax = 2 * pi * mx / p.columns, ay = 2 * pi * my / p.rows;
    double const kx = 2 * std::sin(ax / 2) / p.dx, ky = 2 * std::sin(ay / 2) / p.dy;
    double const w = std::sqrt(p.gravity * depth * (kx * kx + ky * ky));
    Complex const half = 0.5 * (1.0 - Complex(0, w * p.dt * (1.5 + p.epsilon)));
    Complex const z = half + std::sqrt(half * half + Complex(0, w * p.dt * (0.5 + p.epsilon)));
    // A wave that travels: u = g kx / w h, half a cell in the east.
    auto const mode = [&](double x, double y, double size) {
      return tabulated(p.rows, p.columns,
                       [=](int j, int i) { return size * std::cos(ax * (i + x) + ay * (j + y)); });
    };
    ShallowState start{mode(0, 0, height), mode(0.5, 0, height * p.gravity * kx / w),
                       mode(0, 0.5, height * p.gravity * ky / w)};
    for (double& h : start.h) h += depth;
    Model model = model_of(p);
    set(model, start);
    auto const amplitude = [&] {
      auto const h = numbers(model.h());
      Complex sum = 0;
      for (int j = 0; j < p.rows; ++j)
        for (int i = 0; i < p.columns; ++i)
          sum += (h[static_cast<std::size_t>(j * p.columns + i)] - depth) *
                 std::polar(1.0, -(ax * i + ay * j));
      return sum;
    };
    model.advance(100);  // the computational mode of the first step is gone
    Complex const first = amplitude();
    model.advance(100);
    double const phase = std::arg(amplitude() / first / std::pow(z, 100));
    EXPECT_LT(std::abs(phase), 1e-6 * 100 * std::abs(std::arg(z))) << mx << ' ' << my;
  }
}

TEST(ShallowModel, TotalsAndVorticitiesAreTheirFormulas) {
  Parameters p = of_demo(9, 7);
  p.periodic_y = true;
  auto const state = uneven_start(p);
  Model model = model_of(p);
  set(model, state);
  auto const of = [&](Numbers const& f, int j, int i) {
    return f[static_cast<std::size_t>((j + p.rows) % p.rows * p.columns +
                                      (i + p.columns) % p.columns)];
  };
  double mass = 0, energy = 0, enstrophy = 0;
  Numbers zeta, q;
  for (int j = 0; j < p.rows; ++j)
    for (int i = 0; i < p.columns; ++i) {
      double const h = of(state.h, j, i), u = of(state.u, j, i), v = of(state.v, j, i);
      double const corner =
          0.25 * (h + of(state.h, j, i + 1) + of(state.h, j + 1, i) + of(state.h, j + 1, i + 1));
      zeta.push_back((of(state.v, j, i + 1) - v) / p.dx - (of(state.u, j + 1, i) - u) / p.dy);
      q.push_back((p.f0 + p.beta * (j + 0.5) * p.dy + zeta.back()) / corner);
      mass += h;
      energy += 0.25 * (h + of(state.h, j, i + 1)) * u * u +
                0.25 * (h + of(state.h, j + 1, i)) * v * v + 0.5 * p.gravity * h * h;
      enstrophy += 0.5 * corner * q.back() * q.back();
    }
  auto const totals = model.totals();
  double const area = p.dx * p.dy;
  EXPECT_NEAR(totals.mass / (area * mass), 1, 1e-14);
  EXPECT_NEAR(totals.energy / (area * energy), 1, 1e-14);
  EXPECT_NEAR(totals.enstrophy / (area * enstrophy), 1, 1e-14);
  EXPECT_EQ(totals.largest_depth, *std::max_element(state.h.begin(), state.h.end()));
  EXPECT_EQ(totals.smallest_depth, *std::min_element(state.h.begin(), state.h.end()));
  EXPECT_EQ(totals.largest_speed, std::max(largest(state.u), largest(state.v)));
  EXPECT_LT(distance(numbers(model.vorticity()), zeta), 1e-15);
  EXPECT_LT(distance(numbers(model.potential_vorticity()), q), 1e-17);
}

TEST(ShallowModel, StepsAreStableUpToTheLimitAndNotFarBeyond) {
  for (double const epsilon : {0.0, 0.1, 0.3}) {
    Parameters p;
    p.columns = p.rows = 16;
    p.periodic_y = true;
    p.epsilon = epsilon;
    auto const size_after = [&](double dt) {
      p.dt = dt;
      Model model = model_of(p);
      // The shortest wave along both axes, and nothing else.
      auto h = tabulated(p.rows, p.columns,
                         [](int j, int i) { return 10 + ((i + j) % 2 == 0 ? 1e-9 : -1e-9); });
      set(model, {h, Numbers(h.size()), Numbers(h.size())});
      double largest_seen = 0;  // the wave stands: its height comes and goes
      try {
        model.advance(4000);
        for (int n = 0; n < 100; ++n) {
          model.advance(1);
          largest_seen = std::max(largest_seen, model.totals().largest_depth - 10);
        }
      } catch (coir::NumericalError const&) {
        return 1e300;
      }
      return largest_seen;
    };
    double const limit = coir::shallow::longest_stable_step(p, 10, 0);
    EXPECT_LT(size_after(0.99 * limit), 1.05e-9) << epsilon;
    EXPECT_GT(size_after(1.5 * limit), 1.1e-9) << epsilon;
  }
  Parameters p;
  p.viscosity = 3;
  EXPECT_NEAR(coir::shallow::longest_stable_step(p, 1e-9, 0), 1.0 / 12, 1e-15);
}

TEST(ShallowModel, DryCellsAreNamedWithStepAndPlace) {
  Parameters p;
  p.columns = 30;
  p.rows = 8;
  p.dt = 0.05;
  auto h = tabulated(p.rows, p.columns, [](int, int) { return 1.0; });
  Numbers u(h.size()), v(h.size());
  for (int i = 0; i < 30; ++i) u[static_cast<std::size_t>(3 * 30 + i)] = i < 12 ? -9 : 9;
  Model model = model_of(p);
  set(model, {h, u, v});
  std::string const message = message_of<coir::NumericalError>([&] { model.advance(50); });
  EXPECT_TRUE(message.starts_with("no water is left at step ")) << message;
  EXPECT_NE(message.find(" in row 3, column 12 (x = 12, y = 3): use deeper water"),
            std::string::npos)
      << message;
}

// Devices step columns of cells of large grids together. A large periodic grid is many small ones.
TEST(ShallowModel, LargeGridsStepAsSmallOnes) {
  Parameters p;
  p.rows = 50;
  p.columns = 64;
  p.dx = p.dy = 5e3;
  p.f0 = 2e-4;
  p.dt = 15;
  p.viscosity = 2e3;
  p.periodic_y = true;
  auto large = p;
  large.rows = 20 * p.rows;
  large.columns = 16 * p.columns;
  auto const start = uneven_start(p);
  auto const bottom =
      tabulated(p.rows, p.columns, [](int j, int i) { return 0.5 * ((3 * i + j) % 7); });
  auto const repeated = [&](Numbers const& one) {
    return tabulated(large.rows, large.columns,
                     [&](int j, int i) { return one[j % p.rows * p.columns + i % p.columns]; });
  };
  for (bool const has_bottom : {false, true}) {
    Model small = model_of(p), many = model_of(large);
    if (has_bottom) {
      small.set_bottom(rows_of(small, bottom));
      many.set_bottom(rows_of(many, repeated(bottom)));
    }
    set(small, start);
    set(many, {repeated(start.h), repeated(start.u), repeated(start.v)});
    small.advance(3);
    many.advance(3);
    // Devices may round a cell of a column in another way.
    EXPECT_LE(distance(numbers(many.h()), repeated(numbers(small.h()))), 1e-12);
    EXPECT_LE(distance(numbers(many.u()), repeated(numbers(small.u()))), 1e-13);
    EXPECT_LE(distance(numbers(many.v()), repeated(numbers(small.v()))), 1e-13);
  }
}

TEST(ShallowModel, RefusesWhatItCantCompute) {
  auto const refused = [](auto const& change) {
    Parameters p = of_demo(8, 6);
    change(p);
    return message_of([&] { model_of(p); });
  };
  EXPECT_EQ(refused([](auto& p) { p.columns = 1; }),
            "a shallow-water model must have 2 columns of cells or more, not 1");
  EXPECT_EQ(refused([](auto& p) { p.rows = 1; }),
            "a shallow-water model must have 2 rows of cells or more, which its halo has, not 1");
  EXPECT_EQ(refused([](auto& p) { p.rows = p.columns = 1'000'001; }),
            "a shallow-water model must have 1000000000000 cells or fewer, not 1000002000001");
  EXPECT_EQ(refused([](auto& p) { p.dx = 0; }),
            "dx of a shallow-water model must be above 0, not 0");
  EXPECT_EQ(refused([](auto& p) { p.dt = -1; }),
            "dt of a shallow-water model must be above 0, not -1");
  EXPECT_EQ(refused([](auto& p) { p.viscosity = -2; }),
            "viscosity of a shallow-water model must be 0 or above, not -2");
  EXPECT_EQ(refused([](auto& p) { p.beta = NAN; }),
            "beta of a shallow-water model must be finite, not nan");
  EXPECT_EQ(refused([](auto& p) { p.compatible = p.periodic_y = true; }),
            "a compatible shallow-water model must be periodic in x and have walls in y, as the "
            "demo has");
  Model model = model_of(of_demo(8, 6));
  Model::Field const wrong("wrong", 6, 7);
  EXPECT_EQ(message_of([&] { model.set_bottom(wrong); }),
            "the bottom must have this rank's 6 rows and 8 columns: its axis 1 mustn't have 7");
  EXPECT_EQ(message_of([&] { model.advance(-1); }),
            "a shallow-water model makes 0 steps or more, not -1");
}

}  // namespace
