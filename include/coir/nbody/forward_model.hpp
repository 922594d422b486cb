#pragma once

/// \file
/// From white noise to the particles of today, and derivatives of a loss of these particles with
/// respect to the noise and the cosmology.

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/pool.hpp>
#include <coir/core/strided.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/nbody/cotangents.hpp>
#include <coir/nbody/detail/checks.hpp>
#include <coir/nbody/detail/places.hpp>
#include <coir/nbody/detail/staged_field.hpp>
#include <coir/nbody/detail/universe.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/initial_conditions_pull_back.hpp>
#include <coir/nbody/particles.hpp>
#include <coir/nbody/simulation.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::nbody {

/// Options of ForwardModel.
struct ForwardModelOptions {
  std::int64_t side = 0;  ///< particles along a side, from 1 to 2^18
  double box = 0;         ///< length of the box in Mpc/h, > 0
  int order = 2;          ///< the order of the perturbation theory that particles start by: 1 or 2
  /// The transfer function of the linear power spectrum.
  cosmology::TransferFunction transfer = cosmology::TransferFunction::eisenstein_hu;
  /// Options of the simulation, with scale factors at the start and after each step. It is made
  /// reversible.
  SimulationOptions simulation{};
};

/// The derivatives of a loss J.
template <CompiledSpace Exec, Real T>
struct ForwardModelSlopes {
  Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>
      noise{};  ///< (planes, n, n), dJ / d noise of each site of this rank's planes
  cosmology::Parameters<double>
      parameters{};  ///< dJ / d parameter, each in the place of its parameter
};

/// A loss of the particles after some of the steps.
///
/// \tparam Exec, T  those of the model
template <CompiledSpace Exec, Real T>
struct LossAfterSteps {
  int steps = 0;  ///< the number of steps before the loss is called; 0: at the start
  /// Returns the loss, and fills the cotangents with its derivatives; both are 0 before.
  std::function<double(Particles<Exec, T> const&, Cotangents<Exec, T> const&)> loss;
};

namespace detail {

template <class T>
struct AddTo {
  T* to;
  T const* from;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const { to[at] += from[at]; }
};

template <class T>
struct CountNotFinite {
  T const* number;
  KOKKOS_FUNCTION void operator()(std::int64_t at, std::int64_t& count) const {
    count += math::isfinite(number[at]) ? 0 : 1;
  }
};

}  // namespace detail

/// From white noise and a cosmology to particles: initial_conditions(), and then all steps of a
/// Simulation. value_and_grad() undoes the steps to the bit while it pulls derivatives back through
/// them, so that memory doesn't depend on their number.
///
///     nbody::ForwardModelOptions const universe{.side = 128, .box = 256, .simulation = options};
///     nbody::ForwardModel<Exec, float> const model(exec, universe);
///     auto const [value, slope] = model.value_and_grad(noise, cosmology::planck18(), loss);
///     // slope.noise: (128, 128, 128); slope.parameters.omega_m: d value / d omega_m
///
/// A loss is called with Particles<Exec, T>, and with Cotangents<Exec, T>, which it fills with its
/// derivatives with respect to positions and momenta. It returns the value. losses.hpp has some
/// losses.
///
/// The ranks of a group share the universe out by planes of the particles' lattice, as
/// distributed::share_of() does: noise, particles, cotangents and slopes of noise are a rank's own.
/// A loss gets this rank's particles, and returns the loss of all ranks, the same number on each;
/// it may be collective. What it throws on one rank is thrown on all, unless others still wait in
/// the loss. Values and slopes of parameters are the same on all ranks. All functions but bytes()
/// and options() are collective. With SimulationOptions::deterministic all results have,
/// on hosts, the same bits for any number of ranks, if the loss has.
///
/// \see Li et al., arXiv:2211.09815, for the adjoint of particle-mesh steps
template <CompiledSpace Exec, Real T>
class ForwardModel {
 public:
  using Space = typename Exec::memory_space;
  using Field = Kokkos::View<T***, Kokkos::LayoutRight, Space>;
  /// Noise as an argument. Views of any layout convert to it. Functions copy it unless it lies in C
  /// order without gaps.
  using ConstField = Kokkos::View<T const***, Kokkos::LayoutStride, Space>;
  using Slopes = ForwardModelSlopes<Exec, T>;
  using Loss = LossAfterSteps<Exec, T>;

  struct ValueAndSlopes {
    double value;
    Slopes slope;
  };

  /// \throws PreconditionError on all ranks if on one there is no particle, the box isn't positive,
  ///   or an option is out of its range
  ForwardModel(Exec const& exec, distributed::Group const& group, ForwardModelOptions options)
      : exec_(exec), group_(group), options_(std::move(options)) {
    options_.simulation.reversible = true;
    options_.simulation.measure_phases = false;
    distributed::together(group_, [&] {
      detail::expects_lattice(options_.side, options_.box, options_.order);
      // Throws where an option of the simulation is out of its range.
      static_cast<void>(
          Simulation<Exec, T>::bytes(exec_, group_, options_.side, options_.simulation));
    });
  }
  /// A universe of one rank.
  ForwardModel(Exec const& exec, ForwardModelOptions options)
      : ForwardModel(exec, distributed::Group::self(), std::move(options)) {}

  ForwardModelOptions const& options() const { return options_; }
  distributed::Group const& group() const { return group_; }

  /// Bytes that value_and_grad() takes at most on the calling rank: those of a simulation with its
  /// adjoint, or of the initial conditions or their adjoint if that is more. A device that has much
  /// more memory free keeps all of these at a time, for the next call: at most twice as much. On
  /// top of these come the noise and its slope, copies of noise that isn't in C order without gaps,
  /// the memory of a loss, and what a simulation keeps for the way back (see Simulation::bytes()).
  ///
  /// \param losses  the number of losses; while they are computed, all but the last have
  ///   derivatives of their own
  std::int64_t bytes(int losses = 1) const {
    std::int64_t const n = options_.side;
    std::int64_t const vectors = 6 * planes().count * n * n * static_cast<std::int64_t>(sizeof(T));
    auto const simulation = Simulation<Exec, T>::bytes(exec_, group_, n, options_.simulation);
    return std::max({simulation.stepping + simulation.pull_back,
                     simulation.stepping + (losses > 1 ? 2 : 1) * vectors,
                     initial_conditions_bytes<Exec, T>(exec_, group_, n),
                     initial_conditions_pull_back_bytes<Exec, T>(exec_, group_, n) + vectors});
  }

  /// The particles after all steps. On devices fence before their last copy goes if another
  /// instance than the model's uses them: see kept_view().
  ///
  /// \param noise       (planes, n, n), white: of mean 0 and variance 1
  /// \param parameters  of the cosmology
  /// \throws PreconditionError if a parameter is out of its range, or the noise has another shape
  /// \throws NumericalError if the noise or a force isn't a number, or a momentum can't be held:
  ///   see SimulationOptions::momentum_range
  /// \throws ResourceError if there is no memory
  Particles<Exec, T> run(ConstField const& noise,
                         cosmology::Parameters<double> const& parameters) const {
    auto simulation = start(noise, *universe_of(parameters), false);
    simulation.advance(simulation.steps_left());
    return simulation.particles();
  }

  /// The loss of the particles after all steps, without derivatives.
  ///
  /// \param loss  as for value_and_grad(); its derivatives are dropped
  /// \throws PreconditionError, ResourceError as run()
  /// \throws NumericalError as run(), or if the loss isn't finite
  template <class F>
    requires std::is_invocable_r_v<double, F, Particles<Exec, T> const&, Cotangents<Exec, T> const&>
  double value(ConstField const& noise, cosmology::Parameters<double> const& parameters,
               F const& loss) const {
    auto const particles = run(noise, parameters);
    return value_of(loss, particles, new_cotangents(particles));
  }

  /// The sum of losses of the particles at several times. Losses are called from the first to the
  /// last.
  ///
  /// \throws PreconditionError as run(), or if there is no loss, or one is empty or after more
  ///   steps than are made
  /// \throws NumericalError, ResourceError as above
  double value(ConstField const& noise, cosmology::Parameters<double> const& parameters,
               std::vector<Loss> losses) const {
    sort(losses);
    auto simulation = start(noise, *universe_of(parameters), false);
    std::vector<double> values;
    for (auto const& one : losses) {
      simulation.advance(one.steps - simulation.steps_done());
      auto const& particles = simulation.particles();
      values.push_back(value_of(one.loss, particles, new_cotangents(particles)));
    }
    return std::accumulate(values.rbegin(), values.rend(), 0.0);  // in value_and_grad()'s order
  }

  /// The loss of the particles after all steps, and its derivatives.
  ///
  /// \param noise       (planes, n, n), white: of mean 0 and variance 1
  /// \param parameters  of the cosmology
  /// \param loss        double(Particles<Exec, T> const&, Cotangents<Exec, T> const&): returns J,
  ///   and fills the cotangents, which are 0 before, with dJ / d position and dJ / d momentum
  /// \return  J, dJ / d noise of each site, and dJ / d parameter
  /// \throws PreconditionError, ResourceError as run()
  /// \throws NumericalError as run(), or if the loss or a derivative isn't finite
  template <class F>
    requires std::is_invocable_r_v<double, F, Particles<Exec, T> const&, Cotangents<Exec, T> const&>
  ValueAndSlopes value_and_grad(ConstField const& noise,
                                cosmology::Parameters<double> const& parameters,
                                F const& loss) const {
    int const steps = static_cast<int>(options_.simulation.scale_factors.size()) - 1;
    return value_and_grad(noise, parameters, std::vector<Loss>{{steps, std::cref(loss)}});
  }

  /// The sum of losses of the particles at several times, and its derivatives. Losses are called
  /// from the last to the first.
  ///
  /// \throws PreconditionError as run(), or if there is no loss, or one is empty or after more
  ///   steps than are made
  /// \throws NumericalError, ResourceError as above
  ValueAndSlopes value_and_grad(ConstField const& noise,
                                cosmology::Parameters<double> const& parameters,
                                std::vector<Loss> losses) const {
    sort(losses);
    auto const universe = universe_of(parameters);
    if constexpr (!runs_on_host<Exec>) detail::begin_derivatives(*universe);  // while kernels run
    std::optional<Simulation<Exec, T>> simulation(start(noise, *universe, true));
    for (auto const& one : losses) simulation->advance(one.steps - simulation->steps_done());

    auto cotangents = new_cotangents(simulation->particles());
    double value = 0;
    auto slopes = cosmology::no_derivatives();
    bool is_first = true;
    while (!losses.empty()) {
      auto const& particles = simulation->particles();
      if (is_first) {
        value += value_of(losses.back().loss, particles, cotangents);
      } else {
        auto const more = new_cotangents(particles);
        value += value_of(losses.back().loss, particles, more);
        add(cotangents.position, more.position);
        add(cotangents.momentum, more.momentum);
      }
      is_first = false;
      int const at = losses.back().steps;
      losses.pop_back();
      if (at > 0 && (losses.empty() || losses.back().steps < at))
        add(slopes, simulation->pull_back(cotangents, [&]() -> detail::VariedGrowth const& {
          return detail::varied_growth_of(*universe);
        }));
    }
    simulation.reset();
    if (detail::particles_migrate(group_)) MemoryPool<Space>::release();  // the parcels

    Slopes slope{distributed::together(group_, [&] { return new_field(); }), {}};
    add(slopes, detail::pull_back_to_start<Exec, T>(exec_, group_, *universe, options_.order, noise,
                                                    cotangents, slope.noise));
    slope.parameters = slopes;
    expects_finite(slope);
    return {value, slope};
  }

 private:
  /// Those of the lattice that are this rank's.
  distributed::Share planes() const {
    return distributed::share_of(options_.side, group_.rank(), group_.size());
  }
  Field new_field() const {
    std::int64_t const n = options_.side;
    return kept_view<Field>(exec_, "coir::nbody::forward_model/slope", planes().count, n, n);
  }
  double a_start() const { return options_.simulation.scale_factors.front(); }

  /// Checks losses and sorts them by time.
  void sort(std::vector<Loss>& losses) const {
    int const steps = static_cast<int>(options_.simulation.scale_factors.size()) - 1;
    distributed::together(group_, [&] {
      expects(!losses.empty(), "there must be a loss, and the list is empty");
      for (auto const& one : losses) {
        expects(one.steps >= 0 && one.steps <= steps,
                "a loss must be after 0 to " + std::to_string(steps) + " steps", one.steps);
        expects(static_cast<bool>(one.loss), "a loss must be a function, and one is empty");
      }
    });
    std::vector<distributed::Setting> settings{{"number of losses", losses.size()}};
    for (auto const& one : losses)
      settings.emplace_back("number of steps before a loss", one.steps);
    distributed::expects_alike(group_, settings);
    std::stable_sort(losses.begin(), losses.end(),
                     [](Loss const& a, Loss const& b) { return a.steps < b.steps; });
  }

  static void add(cosmology::Parameters<double>& sum, cosmology::Parameters<double> const& more) {
    for (auto const member : cosmology::varied_members<>) sum.*member += more.*member;
  }

  static bool are_same(cosmology::Parameters<double> const& p,
                       cosmology::Parameters<double> const& q) {
    return p.k_pivot == q.k_pivot &&
           std::all_of(cosmology::varied_members<>.begin(), cosmology::varied_members<>.end(),
                       [&](auto const member) { return p.*member == q.*member; });
  }

  /// The universe of a cosmology: the last one again if its parameters are the same.
  std::shared_ptr<detail::Universe const> universe_of(
      cosmology::Parameters<double> const& parameters) const {
    auto const& a = options_.simulation.scale_factors;
    return distributed::together(group_, [&] {
      std::lock_guard const lock(last_->mutex);
      if (last_->universe && are_same(last_->parameters, parameters)) return last_->universe;
      cosmology::LinearPower<double> const power(
          cosmology::Growth<double>(parameters, std::min(1e-3, a.front()), std::max(1.0, a.back())),
          options_.transfer);
      last_->universe = detail::new_universe(power, options_.side, options_.box, a_start());
      last_->parameters = parameters;
      return last_->universe;
    });
  }

  /// On all ranks.
  bool is_finite(ConstField const& field) const {
    auto const numbers = distributed::together(
        group_, [&] { return detail::staged_field(exec_, "the noise", field, Access::read); });
    std::int64_t not_finite = 0;
    reduce("coir::nbody::forward_model/not_finite", exec_,
           coir::box<1, std::int64_t>({static_cast<std::int64_t>(field.size())}),
           detail::CountNotFinite<T>{numbers.elements().data},
           Kokkos::Sum<std::int64_t>(not_finite));
    return group_.all(not_finite == 0);
  }

  void expects_finite(Slopes const& slope) const {
    bool finite = is_finite(slope.noise);
    for (auto const member : cosmology::varied_members<>)
      finite &= std::isfinite(slope.parameters.*member);
    if (!finite)
      throw NumericalError(
          "a derivative by the noise or by a parameter overflows: divide the loss by a large "
          "number, or use double");
  }

  /// \param goes_back  false: potentials needn't be kept
  Simulation<Exec, T> start(ConstField const& noise, detail::Universe const& universe,
                            bool goes_back) const {
    if (!is_finite(noise))
      throw NumericalError("the noise is infinite or no number at a site: replace it");
    SimulationOptions options = options_.simulation;
    options.keep_potentials = options.keep_potentials && goes_back;
    return Simulation<Exec, T>(
        exec_, group_,
        detail::kept_initial_conditions<Exec, T>(exec_, group_, universe, options_.order, noise),
        detail::growth_of(universe), options);
  }

  Cotangents<Exec, T> new_cotangents(Particles<Exec, T> const& particles) const {
    return distributed::together(group_, [&] {
      expects_memory<Space>(6 * particles.count() * static_cast<std::int64_t>(sizeof(T)),
                            "derivatives by positions and momenta");
      using Vectors = typename Cotangents<Exec, T>::Vectors;
      Cotangents<Exec, T> zeros;
      for (auto* const vectors : {&zeros.position, &zeros.momentum}) {
        *vectors =
            kept_view<Vectors>(exec_, "coir::nbody::forward_model/cotangents", particles.count());
        set_to_zero(exec_, *vectors);
      }
      exec_.fence();  // a loss may have kernels on any instance
      return zeros;
    });
  }

  template <class F>
  double value_of(F const& loss, Particles<Exec, T> const& particles,
                  Cotangents<Exec, T> const& cotangents) const {
    double value = 0;
    std::exception_ptr error;  // not by together(): a loss may be collective
    try {
      value = loss(particles, cotangents);
      Kokkos::fence();  // a loss may have kernels on any instance
      if (!std::isfinite(value))
        throw NumericalError("the loss is " + in_words(value) +
                             ": look for divisions by 0, roots and logarithms in it");
    } catch (...) {
      error = std::current_exception();
    }
    distributed::agree(group_, error);
    distributed::expects_alike(group_, {{"loss, that of all ranks' particles", value}});
    return value;
  }

  template <class V>
  void add(V const& to, V const& from) const {
    for_each("coir::nbody::forward_model/add", exec_,
             coir::box<1, std::int64_t>({static_cast<std::int64_t>(to.size())}),
             detail::AddTo<T>{to.data(), from.data()});
  }

  Exec exec_;
  distributed::Group group_;
  ForwardModelOptions options_;
  struct Last {
    std::mutex mutex;
    cosmology::Parameters<double> parameters;
    std::shared_ptr<detail::Universe const> universe;
  };
  std::shared_ptr<Last> last_ = std::make_shared<Last>();
};

}  // namespace coir::nbody
