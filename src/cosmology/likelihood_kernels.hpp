#pragma once

/// The kernels of LikelihoodBatch: each is one step for all chains.

#include <coir/core/math.hpp>
#include <coir/cosmology/detail/distance_nodes.hpp>
#include <coir/cosmology/detail/growth_steps.hpp>
#include <coir/cosmology/detail/log_spline.hpp>
#include <coir/cosmology/likelihood_batch.hpp>
#include <coir/cosmology/nonlinear.hpp>
#include <coir/cosmology/transfer.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace coir::cosmology::detail {

/// The parameters along which a group of directions goes. What a chain's universe determines is
/// computed once for each group, with a dual number of `width` directions.
template <int width>
struct DirectionGroup {
  int parameters[width];  ///< below 0 for directions without use
};

/// Derivatives of a tracer's kernel along a few parameters.
template <int width>
struct KernelSlot {
  int tracer;
  int universe;    ///< the group of the cosmology; below 0 if it doesn't vary along these
  bool has_value;  ///< whether this slot is the one that keeps the value
  DirectionGroup<width> along;
};

/// A wave number of the integral of sigma8^2, with its weight.
struct VarianceNode {
  double k, weight;
};
inline constexpr int variance_nodes_of_a_task = 10;

/// Sizes and memory of a batch, for kernels. C is the number of chains, G that of groups, Q that of
/// nodes along the line of sight, L that of l. Arrays are in C order.
template <int width>
struct BatchTables {
  using D = Dual<double, width>;

  int parameters, groups, tracers, multipoles, nodes, slots;
  int growth_room, distance_room, variance_tasks;
  bool halofit;
  HalofitLattice lattice{0, 0};

  Parameters<SurveyNumber> const* p;
  SurveyTracer const* survey;
  double const* tables;
  DirectionGroup<width> const* group;
  KernelSlot<width> const* slot;
  double const *x, *weight, *panel_slope, *partial;  ///< of Panels(1, panels)
  double const *ln_l, *spin;                         ///< (L), (L, tracers)
  double const *spline_x, *spline_upper;
  VarianceNode const* variance_node;
  HalofitLattice::Weight const* halofit_weight;
  double const *data, *whitening, *nu;  ///< (L, tracers, tracers), (L)

  double const* theta;
  double *slope, *value;

  double* end;         ///< (C): ln(1 + z) of the farthest galaxies; 0 if there is no such universe
  GrowthSteps* steps;  ///< (C)
  D* growth;           ///< (C, G, growth_room, 2): D1/a and its slope
  DistanceNode<D>* distance;     ///< (C, G, distance_room)
  EisensteinHuFit<D>* transfer;  ///< (C, G)
  D* variance_part;              ///< (C, G, variance_tasks)
  D* amplitude;                  ///< (C, G)
  D* ln_power;                   ///< (C, G, nodes of the spline)
  SplinePiece<D>* piece;         ///< likewise
  D* wave;                       ///< (C, G, waves)
  HalofitVariance<D>* variance;  ///< (C, G, radii)
  Sight<D>* sight;               ///< (C, G, Q)
  D* sight_weight;               ///< (C, G, Q)
  NonlinearPowerAt<D>* slice;    ///< (C, G, Q)
  double* power;                 ///< (C, Q, L)
  double* power_slope;           ///< (C, G, width, Q, L)
  double* kernel;                ///< (C, tracers, Q)
  double* kernel_slope;          ///< (C, slots, width, Q)
  double *residual, *scratch;    ///< (C, L, tracers, tracers)
  double* chi_squared;           ///< (C, L)
  double* kernel_adjoint;        ///< (C, tracers, Q)
  double* power_adjoint;         ///< (C, Q, L)
  double* slope_part;            ///< (C, G, width, Q)

  KOKKOS_FUNCTION std::int64_t spline_size() const { return widest().size(); }
  KOKKOS_FUNCTION static SplineNodes widest() { return SplineNodes::widest(); }

  /// A number of a chain's survey. Chains without a universe are computed at the survey as given.
  KOKKOS_FUNCTION D number(std::int64_t chain, SurveyNumber const& x,
                           DirectionGroup<width> const& along) const {
    if (x.parameter < 0) return D(x.value);
    D result(end[chain] > 0 ? theta[chain * parameters + x.parameter] : x.value);
    for (int w = 0; w < width; ++w)
      result.derivative[w] = along.parameters[w] == x.parameter ? 1.0 : 0.0;
    return result;
  }
  KOKKOS_FUNCTION double plain_number(std::int64_t chain, SurveyNumber const& x) const {
    return x.parameter < 0 ? x.value : theta[chain * parameters + x.parameter];
  }

  KOKKOS_FUNCTION Parameters<D> cosmology(std::int64_t chain,
                                          DirectionGroup<width> const& along) const {
    return mapped<D>(*p, [&](SurveyNumber const& x) { return number(chain, x, along); });
  }

  /// The least a along the line of sight.
  KOKKOS_FUNCTION double a_min(std::int64_t chain) const {
    return std::exp(-farthest(chain) * x[nodes - 1]) * 0.999;
  }
  /// ln(1 + z) of the farthest galaxies, and some number for chains without a universe.
  KOKKOS_FUNCTION double farthest(std::int64_t chain) const {
    return end[chain] > 0 ? end[chain] : 0.1;
  }

  /// D1 of a chain and a group.
  KOKKOS_FUNCTION D d1(std::int64_t chain, std::int64_t row, D const& a) const {
    GrowthSteps const& of = steps[chain];
    D const position = (log(a) - of.first()) / of.step;
    double const at = plain(position), last = of.kept() - 2;
    int const i = static_cast<int>(at > last ? last : at > 0 ? at : 0.0);
    D const* const left = growth + (row * growth_room + i) * 2;
    return a * hermite(D(position - double(i)), left[0], D(of.step * left[1]), left[2],
                       D(of.step * left[3]));
  }

  KOKKOS_FUNCTION LogSpline<D> spline(std::int64_t row) const {
    return {widest(), spline_x, spline_upper, ln_power + row * spline_size(),
            piece + row * spline_size()};
  }

  /// n of a tracer at ln(1 + z), by z.
  KOKKOS_FUNCTION D density(SurveyTracer const& tracer, D const& shift, double at) const {
    D const z = std::expm1(at) - shift;
    SurveyShape const& n = tracer.n;
    D const ln_norm(n.ln_norm);
    double const* const numbers = n.numbers;
    if (n.kind == SurveyShape::Kind::gaussian)
      return GaussianShape<D>{D(numbers[0]), D(numbers[1])}(z, ln_norm);
    if (n.kind == SurveyShape::Kind::smail)
      return SmailShape<D>{D(numbers[0]), D(numbers[1]), D(numbers[2])}(z, ln_norm);
    double const* const first = tables + n.first_row;
    return TableShape{first, first + n.rows, first + 2 * n.rows, n.rows}(z, ln_norm);
  }
};

/// The indices of a task: the last one runs fastest.
template <int Rank>
struct TaskIndex {
  std::int64_t at[Rank];

  KOKKOS_FUNCTION TaskIndex(std::int64_t task, int const (&extents)[Rank - 1]) {
    auto rest = static_cast<std::uint32_t>(task);
    for (int r = Rank - 1; r > 0; --r) {
      auto const extent = static_cast<std::uint32_t>(extents[r - 1]);
      at[r] = rest % extent;
      rest /= extent;
    }
    at[0] = rest;
  }
  KOKKOS_FUNCTION std::int64_t operator[](int i) const { return at[i]; }
};

// Each kernel below is one step of the batch. Its comment says what a task is.

/// A chain: whether there is such a universe, and how far its galaxies are.
template <int width>
struct BatchCheck {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t chain) const {
    b.end[chain] = 0;
    double const* const theta = b.theta + chain * b.parameters;
    for (int k = 0; k < b.parameters; ++k)
      if (!math::isfinite(theta[k])) return;
    auto const p =
        mapped<double>(*b.p, [&](SurveyNumber const& x) { return b.plain_number(chain, x); });
    if (!is_physical(p)) return;
    double farthest = 0;
    for (int t = 0; t < b.tracers; ++t) {
      double const z_end = b.survey[t].n.z_end + b.plain_number(chain, b.survey[t].shift);
      if (!(z_end > 0)) return;
      farthest = math::fmax(farthest, std::log1p(z_end));
    }
    b.end[chain] = farthest;
  }
};

/// (chain, group): growth.
template <int width>
struct BatchGrowth {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const chain = row / b.groups, g = row % b.groups;
    using D = typename BatchTables<width>::D;
    GrowthEquations<D> const equations(b.cosmology(chain, b.group[g]));
    GrowthSteps const steps = equations.steps(b.a_min(chain), 1);
    if (g == 0) b.steps[chain] = steps;
    D* to = b.growth + row * b.growth_room * 2;
    auto node = equations.first(steps);
    for (int i = 0; i <= steps.steps; ++i) {
      if (i > 0) node = equations.next(steps, i, node);
      if (i < steps.before) continue;
      *to++ = node.g1;
      *to++ = node.g1_prime;
    }
  }
};

/// (chain, group): distances, and the scales of the transfer function.
template <int width>
struct BatchDistances {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const chain = row / b.groups;
    using D = typename BatchTables<width>::D;
    auto const p = b.cosmology(chain, b.group[row % b.groups]);
    DistanceSteps const steps(-std::log(b.a_min(chain)));
    DistanceNode<D>* const nodes = b.distance + row * b.distance_room;
    DistanceNode<D> node{D(0), D(0), D(0)};
    for (int i = 0; i <= steps.steps; ++i) nodes[i] = node = distance_node(p, steps.step, i, node);
    b.transfer[row] = EisensteinHuFit<D>(p);
  }
};

/// (chain, group, part): a part of the integral of sigma8^2.
template <int width>
struct BatchVarianceParts {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    using D = typename BatchTables<width>::D;
    TaskIndex<3> const i(task, {b.groups, b.variance_tasks});
    std::int64_t const row = i[0] * b.groups + i[1];
    D const n_s = b.number(i[0], b.p->n_s, b.group[i[1]]);
    EisensteinHuFit<D> const transfer = b.transfer[row];
    D sum(0);
    for (int k = 0; k < variance_nodes_of_a_task; ++k) {
      VarianceNode const node = b.variance_node[i[2] * variance_nodes_of_a_task + k];
      D const t = transfer(D(node.k));
      sum += node.weight * (pow(D(node.k), n_s) * t * t);
    }
    b.variance_part[task] = sum;
  }
};

/// (chain, group): the amplitude of P.
template <int width>
struct BatchAmplitude {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    using D = typename BatchTables<width>::D;
    std::int64_t const chain = row / b.groups;
    auto const p = b.cosmology(chain, b.group[row % b.groups]);
    if (plain(p.sigma8) > 0) {
      D sum(0);
      for (int i = 0; i < b.variance_tasks; ++i) sum += b.variance_part[row * b.variance_tasks + i];
      b.amplitude[row] = p.sigma8 * p.sigma8 / sum;
    } else {
      b.amplitude[row] = amplitude_by_A_s(p, b.d1(chain, row, D(1)));
    }
  }
};

/// (chain, group, node): ln P today at a node of its spline.
template <int width>
struct BatchLinearPower {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    using D = typename BatchTables<width>::D;
    TaskIndex<3> const i(task, {b.groups, static_cast<int>(b.spline_size())});
    std::int64_t const row = i[0] * b.groups + i[1];
    D const n_s = b.number(i[0], b.p->n_s, b.group[i[1]]), k(std::exp(b.spline_x[i[2]]));
    D const t = b.transfer[row](k);
    b.ln_power[task] = log(b.amplitude[row] * pow(k, n_s) * t * t);
  }
};

/// (chain, group): the spline.
template <int width>
struct BatchSpline {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    b.spline(row).solve(b.piece + row * b.spline_size());
  }
};

/// (chain, group, wave): what a wave number adds to sigma^2.
template <int width>
struct BatchWaves {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    TaskIndex<2> const i(task, {b.lattice.waves()});
    b.wave[task] = b.lattice.wave(static_cast<int>(i[1]), b.spline(i[0]));
  }
};

/// (chain, group, radius): sigma^2.
template <int width>
struct BatchVariance {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    using D = typename BatchTables<width>::D;
    TaskIndex<2> const i(task, {b.lattice.radii()});
    b.variance[task] = HalofitVariance<D>::at(b.lattice, static_cast<int>(i[1]),
                                              b.wave + i[0] * b.lattice.waves(), b.halofit_weight);
  }
};

/// (chain, group, node): what the cosmology says along the line of sight.
template <int width>
struct BatchSight {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    using D = typename BatchTables<width>::D;
    TaskIndex<3> const i(task, {b.groups, b.nodes});
    std::int64_t const chain = i[0], row = chain * b.groups + i[1];
    auto const p = b.cosmology(chain, b.group[i[1]]);
    D const a(std::exp(-b.farthest(chain) * b.x[i[2]]));
    DistanceSteps const steps(-std::log(b.a_min(chain)));
    D const chi = distance_at(b.distance + row * b.distance_room, steps, D(-log(a)));
    D const faded = b.d1(chain, row, D(1)) / b.d1(chain, row, a);
    auto const at = sight_at(p, a, chi, faded);
    b.sight[task] = at;
    b.sight_weight[task] = weight_at(at, a, b.weight[i[2]] * b.farthest(chain));
    if (b.halofit)
      b.slice[task] =
          HalofitTable<D>{p, b.lattice, b.variance + row * b.lattice.radii()}.at(a, D(1 / faded));
  }
};

/// (chain, group, node, l): P / f_K^2 dchi, and its derivatives.
template <int width>
struct BatchPower {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    using D = typename BatchTables<width>::D;
    TaskIndex<4> const i(task, {b.groups, b.nodes, b.multipoles});
    std::int64_t const row = i[0] * b.groups + i[1], node = row * b.nodes + i[2];
    Sight<D> const& at = b.sight[node];
    D const ln_k = b.ln_l[i[3]] - smooth_log(at.transverse), ln_linear = b.spline(row)(ln_k);
    D const power =
        b.halofit ? D(b.slice[node](ln_k, ln_linear))
                  : D(smooth_inverse(D(at.faded_growth * at.faded_growth)) * smooth_exp(ln_linear));
    D const whole = b.sight_weight[node] * power;
    if (i[1] == 0) b.power[(i[0] * b.nodes + i[2]) * b.multipoles + i[3]] = whole.value;
    for (int w = 0; w < width; ++w)
      b.power_slope[((row * width + w) * b.nodes + i[2]) * b.multipoles + i[3]] =
          whole.derivative[w];
  }
};

/// (chain, slot): a tracer's kernel.
template <int width>
struct BatchKernel {
  using D = typename BatchTables<width>::D;
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    std::int64_t const chain = task / b.slots;
    KernelSlot<width> const slot = b.slot[task % b.slots];
    SurveyTracer const& tracer = b.survey[slot.tracer];
    D const shift = b.number(chain, tracer.shift, slot.along);
    if (tracer.shapes)
      shapes(chain, task, slot, tracer, shift);
    else
      counts(chain, task, slot, tracer, shift);
  }

 private:
  KOKKOS_FUNCTION Sight<D> sight(std::int64_t chain, KernelSlot<width> const& slot, int q) const {
    std::int64_t const group = slot.universe < 0 ? 0 : slot.universe;
    Sight<D> const at = b.sight[(chain * b.groups + group) * b.nodes + q];
    if (slot.universe >= 0) return at;
    return {D(at.rate.value), D(at.transverse.value), D(at.slope.value), D(at.faded_growth.value)};
  }
  KOKKOS_FUNCTION double x(std::int64_t chain, int q) const { return b.farthest(chain) * b.x[q]; }

  KOKKOS_FUNCTION void keep(std::int64_t chain, std::int64_t task, KernelSlot<width> const& slot,
                            int q, D const& w) const {
    if (slot.has_value) b.kernel[(chain * b.tracers + slot.tracer) * b.nodes + q] = w.value;
    for (int k = 0; k < width; ++k)
      b.kernel_slope[(task * width + k) * b.nodes + q] = w.derivative[k];
  }

  KOKKOS_FUNCTION void counts(std::int64_t chain, std::int64_t task, KernelSlot<width> const& slot,
                              SurveyTracer const& tracer, D const& shift) const {
    D const bias = b.number(chain, tracer.bias, slot.along);
    for (int q = 0; q < b.nodes; ++q) {
      D const n = b.density(tracer, shift, x(chain, q));
      keep(chain, task, slot, q,
           all_zero(n) ? D(0) : D(bias * counts_at(n, sight(chain, slot, q), tracer.evolution)));
    }
  }

  KOKKOS_FUNCTION void shapes(std::int64_t chain, std::int64_t task, KernelSlot<width> const& slot,
                              SurveyTracer const& tracer, D const& shift) const {
    constexpr int order = static_cast<int>(Panels::order);
    auto const of = [&](SurveyNumber const& number) { return b.number(chain, number, slot.along); };
    ShapesFactors<D> const factors(of(b.p->omega_m), of(tracer.m), of(tracer.alignment),
                                   of(tracer.eta), tracer.pivot);
    double const range = b.farthest(chain);
    D sources(0), inverse(0);  // from the panel's end on
    for (int first = b.nodes - order; first >= 0; first -= order) {
      D n[order], far[order];
      for (int j = 0; j < order; ++j) {
        double const at = x(chain, first + j);
        n[j] = b.density(tracer, shift, at) * std::exp(at);
        far[j] = factors.far(n[j], sight(chain, slot, first + j));
      }
      for (int i = 0; i < order; ++i) {
        D near_sources = sources, near_inverse = inverse;
        for (int j = 0; j < order; ++j) {
          double const weight = range * b.partial[i * order + j] * b.panel_slope[first + j];
          near_sources += weight * n[j];
          near_inverse += weight * far[j];
        }
        keep(chain, task, slot, first + i,
             factors(x(chain, first + i), n[i], sight(chain, slot, first + i), near_sources,
                     near_inverse));
      }
      for (int j = 0; j < order; ++j) {
        double const weight = range * b.weight[first + j];
        sources += weight * n[j];
        inverse += weight * far[j];
      }
    }
  }
};

/// (chain, tracer, tracer, l): C_l less the data.
template <int width>
struct BatchResidual {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    TaskIndex<4> const t(task, {b.tracers, b.tracers, b.multipoles});
    std::int64_t const i = t[1], j = t[2], l = t[3];
    if (j < i) return;
    double const* const left = b.kernel + (t[0] * b.tracers + i) * b.nodes;
    double const* const right = b.kernel + (t[0] * b.tracers + j) * b.nodes;
    double const* const power = b.power + t[0] * b.nodes * b.multipoles + l;
    double sum = 0;
    for (int q = 0; q < b.nodes; ++q)
      sum += left[q] * right[q] * power[std::int64_t(q) * b.multipoles];
    double const* const spin = b.spin + l * b.tracers;
    double const r = sum * (spin[i] * spin[j]) - b.data[(l * b.tracers + i) * b.tracers + j];
    double* const to = b.residual + (t[0] * b.multipoles + l) * b.tracers * b.tracers;
    to[i * b.tracers + j] = to[j * b.tracers + i] = r;
  }
};

/// (chain, l): chi^2, and in the residual's place the derivatives of ln L by all W_i W_j P.
template <int width>
struct BatchChiSquared {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    TaskIndex<2> const at(task, {b.multipoles});
    int const n = b.tracers;
    double const* const m = b.whitening + at[1] * n * n;  // L^-1
    double *const r = b.residual + task * n * n, *const s = b.scratch + task * n * n;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int k = 0; k <= i; ++k) sum += m[i * n + k] * r[k * n + j];
        s[i * n + j] = sum;
      }
    double chi_squared = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int k = 0; k <= j; ++k) sum += s[i * n + k] * m[j * n + k];
        r[i * n + j] = sum;
        chi_squared += sum * sum;
      }
    double const nu = b.nu[at[1]];
    b.chi_squared[task] = nu / 2 * chi_squared;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int k = j; k < n; ++k) sum += r[i * n + k] * m[k * n + j];
        s[i * n + j] = sum;
      }
    double const* const spin = b.spin + at[1] * n;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int k = i; k < n; ++k) sum += m[k * n + i] * s[k * n + j];
        r[i * n + j] = -nu / 2 * spin[i] * spin[j] * sum;
      }
  }
};

/// (chain, node, tracer): the derivative of ln L by W.
template <int width>
struct BatchKernelAdjoint {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    TaskIndex<3> const t(task, {b.nodes, b.tracers});
    int const n = b.tracers;
    double const* const power = b.power + (t[0] * b.nodes + t[1]) * b.multipoles;
    double const* const w = b.kernel + t[0] * n * b.nodes + t[1];
    double const* row = b.residual + t[0] * b.multipoles * n * n + t[2] * n;
    double result = 0;
    for (int l = 0; l < b.multipoles; ++l, row += n * n) {
      double sum = 0;
      for (int j = 0; j < n; ++j) sum += row[j] * w[std::int64_t(j) * b.nodes];
      result += sum * power[l];
    }
    b.kernel_adjoint[(t[0] * n + t[2]) * b.nodes + t[1]] = 2 * result;
  }
};

/// (chain, node, l): the derivative of ln L by P / f_K^2 dchi.
template <int width>
struct BatchPowerAdjoint {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    TaskIndex<3> const t(task, {b.nodes, b.multipoles});
    int const n = b.tracers;
    double const* const w = b.kernel + t[0] * n * b.nodes + t[1];
    double const* const r = b.residual + (t[0] * b.multipoles + t[2]) * n * n;
    double result = 0;
    for (int i = 0; i < n; ++i) {
      double sum = r[i * n + i] * w[std::int64_t(i) * b.nodes];
      for (int j = 0; j < i; ++j) sum += 2 * r[i * n + j] * w[std::int64_t(j) * b.nodes];
      result += sum * w[std::int64_t(i) * b.nodes];
    }
    b.power_adjoint[task] = result;
  }
};

/// (chain, direction, node): what P at a node adds to the derivative along a direction.
template <int width>
struct BatchSlopeParts {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    TaskIndex<3> const t(task, {b.groups * width, b.nodes});
    double const* const power = b.power_slope + task * b.multipoles;
    double const* const adjoint = b.power_adjoint + (t[0] * b.nodes + t[2]) * b.multipoles;
    double sum = 0;
    for (int l = 0; l < b.multipoles; ++l) sum += power[l] * adjoint[l];
    b.slope_part[task] = sum;
  }
};

/// (chain, parameter): the gradient of ln L.
template <int width>
struct BatchSlope {
  BatchTables<width> b;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    TaskIndex<2> const t(task, {b.parameters});
    std::int64_t const chain = t[0], k = t[1];
    double sum = 0;
    for (std::int64_t g = 0; g < b.groups; ++g)
      for (int w = 0; w < width; ++w) {
        if (b.group[g].parameters[w] != k) continue;
        double const* const part = b.slope_part + ((chain * b.groups + g) * width + w) * b.nodes;
        for (int q = 0; q < b.nodes; ++q) sum += part[q];
      }
    for (std::int64_t s = 0; s < b.slots; ++s)
      for (int w = 0; w < width; ++w) {
        if (b.slot[s].along.parameters[w] != k) continue;
        double const* const slope = b.kernel_slope + ((chain * b.slots + s) * width + w) * b.nodes;
        double const* const adjoint =
            b.kernel_adjoint + (chain * b.tracers + b.slot[s].tracer) * b.nodes;
        for (int q = 0; q < b.nodes; ++q) sum += slope[q] * adjoint[q];
      }
    b.slope[task] = sum;
  }
};

/// A chain: ln L, and zeros where there is no such universe.
template <int width>
struct BatchValue {
  BatchTables<width> b;
  double log_determinant;

  KOKKOS_FUNCTION void operator()(std::int64_t chain) const {
    double sum = log_determinant;
    for (int l = 0; l < b.multipoles; ++l) sum += b.chi_squared[chain * b.multipoles + l];
    bool whole = b.end[chain] > 0 && math::isfinite(sum);
    std::int64_t const row = chain * b.groups;
    for (int q = 0; q < b.nodes; ++q)  // space hasn't closed before
      whole = whole && b.sight[row * b.nodes + q].transverse.value > 0;
    if (b.halofit)  // k_nl is within the table
      whole = whole && b.variance[(row + 1) * b.lattice.radii() - 1].value.value < 0;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    b.value[chain] = whole ? -0.5 * sum : -infinity;
    if (!whole)
      for (int k = 0; k < b.parameters; ++k) b.slope[chain * b.parameters + k] = 0;
  }
};

}  // namespace coir::cosmology::detail
