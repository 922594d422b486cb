#pragma once

#include "likelihood_kernels.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/tasks.hpp>
#include <coir/cosmology/likelihood_batch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace coir::cosmology {

namespace detail {

/// What a LikelihoodBatch has in memory.
template <ExecutionSpace Exec>
class BatchWork {
  using Memory = typename Exec::memory_space;
  using Bytes = Kokkos::View<std::byte*, Memory>;

 public:
  /// Directions of a dual number: vectors on hosts; on devices as many as registers hold.
  static constexpr int width = runs_on_host<Exec> ? 8 : 2;
  using D = Dual<double, width>;
  using Tables = BatchTables<width>;

  BatchWork(BatchSurvey const& survey, GaussianLikelihood const& likelihood, MatterPower matter)
      : log_determinant_(likelihood.log_determinant()) {
    b_.parameters = survey.parameters;
    b_.halofit = matter == MatterPower::halofit;
    set_directions(survey);
    set_nodes(survey, likelihood.data().l());
    set_likelihood(likelihood);
  }

  int parameters() const { return b_.parameters; }

  void run(Exec const& exec, std::int64_t chains, double const* theta, double* slope,
           double* value) {
    // Chains in pieces, so that memory and the number of tasks are bounded.
    for (std::int64_t first = 0; first < chains; first += most_chains()) {
      std::int64_t const count = std::min(chains - first, most_chains());
      b_.theta = theta + first * b_.parameters;
      b_.slope = slope + first * b_.parameters;
      b_.value = value + first;
      run(exec, count);
    }
  }

 private:
  template <class T>
  T const* keep(std::vector<T> const& numbers) {
    auto const bytes = static_cast<std::int64_t>(numbers.size() * sizeof(T));
    Bytes const view(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::cosmology::likelihood_batch/table"),
        static_cast<std::size_t>(bytes));
    copy_bytes<Memory, Kokkos::HostSpace>(view.data(), numbers.data(), bytes);
    kept_.push_back(view);
    return reinterpret_cast<T const*>(view.data());
  }

  /// Lists of parameters as groups of `width`, at least one if `least` is 1.
  static std::vector<DirectionGroup<width>> grouped(std::vector<int> const& along,
                                                    std::size_t least) {
    std::vector<DirectionGroup<width>> groups(std::max(least, (along.size() + width - 1) / width));
    for (std::size_t i = 0; i < groups.size() * width; ++i)
      groups[i / width].parameters[i % width] = i < along.size() ? along[i] : -1;
    return groups;
  }

  void set_directions(BatchSurvey const& survey) {
    std::vector<int> cosmology;
    auto const add = [](SurveyNumber const& x, std::vector<int>& to) {
      if (x.parameter >= 0 && std::count(to.begin(), to.end(), x.parameter) == 0)
        to.push_back(x.parameter);
    };
    for_each_member<SurveyNumber>([&](auto member) { add(survey.p.*member, cosmology); });
    auto const groups = grouped(cosmology, 1);
    std::vector<KernelSlot<width>> slots;
    for (std::size_t t = 0; t < survey.tracers.size(); ++t) {
      auto const& tracer = survey.tracers[t];
      std::vector<int> own = cosmology;
      for (auto const* const x :
           {&tracer.shift, &tracer.bias, &tracer.m, &tracer.alignment, &tracer.eta})
        add(*x, own);
      own.erase(own.begin(), own.begin() + std::ptrdiff_t(cosmology.size()));
      for (std::size_t g = 0; g < groups.size(); ++g)
        slots.push_back({int(t), int(g), g == 0, groups[g]});
      for (auto const& along : grouped(own, 0)) slots.push_back({int(t), -1, false, along});
    }
    b_.groups = static_cast<int>(groups.size());
    b_.slots = static_cast<int>(slots.size());
    b_.tracers = static_cast<int>(survey.tracers.size());
    b_.group = keep(groups);
    b_.slot = keep(slots);
    b_.p = keep(std::vector{survey.p});
    b_.survey = keep(survey.tracers);
    b_.tables = keep(survey.tables);
  }

  void set_nodes(BatchSurvey const& survey, std::vector<double> const& l) {
    Panels const panels(1, survey.panels);
    b_.nodes = static_cast<int>(panels.size());
    b_.x = keep(panels.x());
    b_.weight = keep(panels.weights());
    b_.panel_slope = keep(panels.slopes());
    std::vector<double> partial, ln_l, spin;
    for (auto const& row : panels.partial()) partial.insert(partial.end(), row.begin(), row.end());
    for (double const multipole : l) {
      ln_l.push_back(std::log(multipole + 0.5));
      for (auto const& tracer : survey.tracers)
        spin.push_back(spin_factor(multipole, tracer.shapes));
    }
    b_.partial = keep(partial);
    b_.multipoles = static_cast<int>(l.size());
    b_.ln_l = keep(ln_l);
    b_.spin = keep(spin);

    auto const x = Tables::widest().places();
    b_.spline_x = keep(x);
    b_.spline_upper = keep(elimination_of(x));
    b_.lattice = HalofitLattice(x.front(), x.back());
    b_.halofit_weight = keep(b_.lattice.weights());

    std::vector<VarianceNode> variance;
    constexpr double radius = 8;
    auto const [from, to] = variance_range(radius);
    auto const ends = variance_panels(radius, from, to);
    for (std::size_t i = 1; i < ends.size(); ++i)
      for (int n = 0; n < 5; ++n)
        for (double const side : {-1.0, 1.0}) {
          double const half = (ends[i] - ends[i - 1]) / 2;
          double const k = (ends[i] + ends[i - 1]) / 2 + side * half * legendre_nodes[n];
          variance.push_back({k, half * legendre_weights[n] * k * k * w_tophat_squared(k * radius) /
                                     (2 * std::numbers::pi * std::numbers::pi)});
        }
    b_.variance_tasks = static_cast<int>(variance.size()) / variance_nodes_of_a_task;
    b_.variance_node = keep(variance);
  }

  void set_likelihood(GaussianLikelihood const& likelihood) {
    std::vector<double> data, whitening;
    for (std::size_t at = 0; at < likelihood.nu().size(); ++at) {
      auto const matrix = matrix_at(likelihood.data(), at), inverse = likelihood.whitening(at);
      data.insert(data.end(), matrix.begin(), matrix.end());
      whitening.insert(whitening.end(), inverse.begin(), inverse.end());
    }
    b_.data = keep(data);
    b_.whitening = keep(whitening);
    b_.nu = keep(likelihood.nu());
  }

  /// As many chains at once as fill a device, or the caches of a host.
  std::int64_t most_chains() const {
    std::int64_t const elements =
        std::int64_t(b_.groups) * width * std::max(b_.nodes, 1) * b_.multipoles;
    std::int64_t const by_index = std::int64_t(1) << 31, by_memory = std::int64_t(1) << 29;
    std::int64_t const most = runs_on_host<Exec> ? 64 : 1024;
    return std::clamp<std::int64_t>(
        std::min(by_index, by_memory) / std::max<std::int64_t>(elements, 1), 1, most);
  }

  /// Memory for so many chains. Each array begins where the one before ends: all are of doubles.
  void make_room(std::int64_t chains) {
    std::size_t used = 0;
    std::byte* base = nullptr;
    auto const place = [&]<class T>(T*& to, std::int64_t count) {
      static_assert(sizeof(T) % sizeof(double) == 0);
      to = base == nullptr ? nullptr : reinterpret_cast<T*>(base + used);
      used += static_cast<std::size_t>(chains * count) * sizeof(T);
    };
    auto const place_all = [&] {
      used = 0;
      std::int64_t const rows = b_.groups, q = b_.nodes, l = b_.multipoles, n = b_.tracers;
      std::int64_t const spline = b_.spline_size();
      place(b_.steps, 1);
      place(b_.growth, rows * b_.growth_room * 2);
      place(b_.distance, rows * b_.distance_room);
      place(b_.transfer, rows);
      place(b_.variance_part, rows * b_.variance_tasks);
      place(b_.amplitude, rows);
      place(b_.ln_power, rows * spline);
      place(b_.piece, rows * spline);
      place(b_.wave, rows * b_.lattice.waves());
      place(b_.variance, rows * b_.lattice.radii());
      place(b_.sight, rows * q);
      place(b_.sight_weight, rows * q);
      place(b_.slice, rows * q);
      place(b_.power, q * l);
      place(b_.power_slope, rows * width * q * l);
      place(b_.kernel, n * q);
      place(b_.kernel_slope, b_.slots * width * q);
      place(b_.residual, l * n * n);
      place(b_.scratch, l * n * n);
      place(b_.chi_squared, l);
      place(b_.kernel_adjoint, n * q);
      place(b_.power_adjoint, q * l);
      place(b_.slope_part, rows * width * q);
    };
    place_all();
    if (used > memory_.size()) {
      memory_ = Bytes();  // before the larger one is made
      memory_ = Bytes(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::cosmology::likelihood_batch/work"),
          used);
    }
    base = memory_.data();
    place_all();
  }

  void run(Exec const& exec, std::int64_t chains) {
    std::int64_t const rows = chains * b_.groups, nodes = b_.nodes, l = b_.multipoles;
    std::int64_t const n = b_.tracers;
    if (ends_.extent(0) < static_cast<std::size_t>(chains))
      ends_ = Kokkos::View<double*, Memory>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::cosmology::likelihood_batch/ends"),
          static_cast<std::size_t>(chains));
    b_.end = ends_.data();
    for_each_task("coir::cosmology::likelihood_batch/check", exec, chains, BatchCheck<width>{b_});
    exec.fence();
    auto const ends_h = host_view_of(ends_);
    double farthest = 0.1;
    for (std::int64_t c = 0; c < chains; ++c) farthest = std::max(farthest, ends_h.data()[c]);
    // Steps of growth are a little shorter than 1/128.
    b_.growth_room = static_cast<int>(std::ceil((farthest + 0.01) * 129)) + 4;
    b_.distance_room = static_cast<int>(std::ceil((farthest + 0.01) * 80)) + 3;
    make_room(chains);

    for_each_task("coir::cosmology::likelihood_batch/growth", exec, rows, BatchGrowth<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/distances", exec, rows,
                  BatchDistances<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/variance_parts", exec,
                  rows * b_.variance_tasks, BatchVarianceParts<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/amplitude", exec, rows,
                  BatchAmplitude<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/linear_power", exec, rows * b_.spline_size(),
                  BatchLinearPower<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/spline", exec, rows, BatchSpline<width>{b_});
    if (b_.halofit) {
      for_each_task("coir::cosmology::likelihood_batch/waves", exec, rows * b_.lattice.waves(),
                    BatchWaves<width>{b_});
      for_each_task("coir::cosmology::likelihood_batch/variance", exec, rows * b_.lattice.radii(),
                    BatchVariance<width>{b_});
    }
    for_each_task("coir::cosmology::likelihood_batch/sight", exec, rows * nodes,
                  BatchSight<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/power", exec, rows * nodes * l,
                  BatchPower<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/kernels", exec, chains * b_.slots,
                  BatchKernel<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/residuals", exec, chains * n * n * l,
                  BatchResidual<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/chi_squared", exec, chains * l,
                  BatchChiSquared<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/kernel_adjoint", exec, chains * nodes * n,
                  BatchKernelAdjoint<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/power_adjoint", exec, chains * nodes * l,
                  BatchPowerAdjoint<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/slope_parts", exec, rows * width * nodes,
                  BatchSlopeParts<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/slope", exec, chains * b_.parameters,
                  BatchSlope<width>{b_});
    for_each_task("coir::cosmology::likelihood_batch/value", exec, chains,
                  BatchValue<width>{b_, log_determinant_});
  }

  Tables b_{};
  double log_determinant_;
  std::vector<Bytes> kept_;
  Kokkos::View<double*, Memory> ends_;
  Bytes memory_;
};

}  // namespace detail

template <CompiledSpace Exec>
LikelihoodBatch<Exec>::LikelihoodBatch(Exec const& exec, detail::BatchSurvey const& survey,
                                       GaussianLikelihood const& likelihood, MatterPower matter)
    : work_(std::make_shared<detail::BatchWork<Exec>>(survey, likelihood, matter)) {
  exec.fence();
}

template <CompiledSpace Exec>
int LikelihoodBatch<Exec>::parameters() const {
  return work_->parameters();
}

template <CompiledSpace Exec>
void LikelihoodBatch<Exec>::operator()(Exec const& exec, Table const& theta, Table const& slope,
                                       Column const& value) const {
  auto const count = static_cast<std::size_t>(parameters());
  expects(theta.extent(1) == count && slope.extent(1) == count,
          "theta and slope must have a column for each parameter, " + in_words(count),
          theta.extent(1));
  expects(theta.extent(0) == value.extent(0) && slope.extent(0) == value.extent(0),
          "theta and slope must have a row for each value, " + in_words(value.extent(0)),
          theta.extent(0));
  work_->run(exec, static_cast<std::int64_t>(value.extent(0)), theta.data(), slope.data(),
             value.data());
}

}  // namespace coir::cosmology

#define COIR_INSTANTIATE_LIKELIHOOD_BATCH(Exec) \
  namespace coir::cosmology {                   \
  template class LikelihoodBatch<Exec>;         \
  }
