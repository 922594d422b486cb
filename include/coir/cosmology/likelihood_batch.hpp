#pragma once

/// The likelihood of many universes at once and its gradient, on devices, too.

#include <coir/core/concepts.hpp>
#include <coir/core/dual.hpp>
#include <coir/core/errors.hpp>
#include <coir/cosmology/angular_power.hpp>
#include <coir/cosmology/detail/directions.hpp>
#include <coir/cosmology/likelihood.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/tracers.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace coir::cosmology {

namespace detail {

/// A number of a survey: fixed, or one of the parameters that vary.
struct SurveyNumber {
  double value = 0;
  int parameter = -1;  ///< below 0 if it is fixed

  SurveyNumber() = default;
  explicit SurveyNumber(double fixed) : value(fixed) {}
  /// \throws PreconditionError unless x is a constant or a variable along one direction
  template <int N>
  explicit SurveyNumber(Dual<double, N> const& x) : value(x.value) {
    for (int d = 0; d < N; ++d) {
      if (x.derivative[d] == 0) continue;
      expects(x.derivative[d] == 1 && parameter < 0,
              "each number of a survey must be a constant, or a variable along one direction");
      parameter = d;
    }
  }
};

/// n(z) without its shift.
struct SurveyShape {
  enum class Kind { smail, gaussian, table };
  Kind kind = Kind::gaussian;
  double numbers[3] = {};  ///< of the formula
  double ln_norm = 0, z_end = 0;
  int first_row = 0, rows = 0;  ///< of a table, in BatchSurvey::tables
};

struct SurveyTracer {
  SurveyShape n;
  SurveyNumber shift{};
  bool shapes = false;
  SurveyNumber bias{};  ///< of counts
  BiasEvolution evolution = BiasEvolution::constant;
  SurveyNumber m{}, alignment{}, eta{};  ///< of shapes
  double pivot = 0;
};

/// A survey whose numbers are fixed or vary.
struct BatchSurvey {
  Parameters<SurveyNumber> p;
  std::vector<SurveyTracer> tracers;
  std::vector<double> tables;  ///< of each table all z, all n, and all slopes
  int parameters;
  int panels;

  /// \throws PreconditionError unless each variable is one of the parameters
  void expects_parameters() const {
    expects(parameters >= 1, "a batch must have a parameter at least", parameters);
    auto const check = [this](SurveyNumber const& x) {
      expects(x.parameter < parameters,
              "variables must be along directions below the number of parameters, " +
                  in_words(parameters),
              x.parameter);
    };
    for_each_member<SurveyNumber>([&](auto member) { check(p.*member); });
    for (auto const& t : tracers)
      for (auto const& x : {t.shift, t.bias, t.m, t.alignment, t.eta}) check(x);
  }
};

struct DistributionParts {
  template <int N>
  static SurveyShape of(RedshiftDistribution<Dual<double, N>> const& n,
                        std::vector<double>& tables) {
    using D = Dual<double, N>;
    auto const fixed = [](D const& x) {
      expects(all_zero(D(x - x.value)),
              "the shape of n(z) must be fixed in a batch: only its shift may vary");
      return x.value;
    };
    SurveyShape result;
    result.z_end = n.z_end_;
    result.ln_norm = fixed(n.ln_norm_);
    using Distribution = RedshiftDistribution<D>;
    if (auto const* const smail = std::get_if<typename Distribution::Smail>(&n.shape_)) {
      result.kind = SurveyShape::Kind::smail;
      result.numbers[0] = fixed(smail->alpha);
      result.numbers[1] = fixed(smail->beta);
      result.numbers[2] = fixed(smail->z0);
    } else if (auto const* const gauss = std::get_if<typename Distribution::Gaussian>(&n.shape_)) {
      result.numbers[0] = fixed(gauss->mean);
      result.numbers[1] = fixed(gauss->sigma);
    } else {
      auto const& table = std::get<typename Distribution::Table>(n.shape_);
      result.kind = SurveyShape::Kind::table;
      result.first_row = static_cast<int>(tables.size());
      result.rows = static_cast<int>(table.z.size());
      for (auto const* const column : {&table.z, &table.n, &table.slope})
        tables.insert(tables.end(), column->begin(), column->end());
    }
    return result;
  }

  template <int N>
  static SurveyNumber shift(RedshiftDistribution<Dual<double, N>> const& n) {
    return SurveyNumber(n.shift_);
  }
};

template <int N>
BatchSurvey batch_survey(Parameters<Dual<double, N>> const& p,
                         std::vector<Tracer<Dual<double, N>>> const& tracers, int parameters,
                         int panels) {
  using D = Dual<double, N>;
  BatchSurvey result{.p = parameters_as<SurveyNumber>(p),
                     .tracers = {},
                     .tables = {},
                     .parameters = parameters,
                     .panels = panels > 0 ? panels : panels_for(tracers)};
  for (auto const& tracer : tracers) {
    SurveyTracer to{.n = DistributionParts::of(distribution(tracer), result.tables),
                    .shift = DistributionParts::shift(distribution(tracer))};
    if (auto const* const counts = std::get_if<NumberCounts<D>>(&tracer)) {
      to.bias = SurveyNumber(counts->bias);
      to.evolution = counts->evolution;
    } else {
      auto const& shapes = std::get<WeakLensing<D>>(tracer);
      to.shapes = true;
      to.m = SurveyNumber(shapes.m);
      to.alignment = SurveyNumber(shapes.alignment);
      to.eta = SurveyNumber(shapes.eta);
      to.pivot = shapes.pivot;
    }
    result.tracers.push_back(to);
  }
  return result;
}

template <ExecutionSpace Exec>
class BatchWork;

}  // namespace detail

/// ln L of GaussianLikelihood with the spectra of angular_power, and its gradient, for many
/// universes at once: a target of inference::chees for hundreds of chains on a device. Kernels call
/// the formulas that angular_power is made of, and values equal the host's but for rounding.
///
///     using D = Dual<double, 3>;
///     Parameters<D> const p = {.omega_m = D::variable(0.3, 0), ...};  // also in tracers
///     LikelihoodBatch<Exec> const target(exec, p, tracers, likelihood);
///     target(exec, theta, slope, value);
///
/// Each number of the survey is a constant, or a variable: the parameter along its direction.
/// Several numbers may be one variable. Parameters' values come from theta.
///
/// The spectra are dual numbers along the cosmology's parameters only as far as P(k, a) and the
/// kernels. From chi^2 back to them the gradient goes by the adjoint, so that all other parameters
/// cost little.
template <CompiledSpace Exec>
class LikelihoodBatch {
 public:
  using Memory = typename Exec::memory_space;
  using Table = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
  using Column = Kokkos::View<double*, Memory>;

  /// \param p        variables along N directions, or constants
  /// \param tracers  likewise. n(z) may be shifted by a variable, and is fixed otherwise
  /// \param options  without a table, and with the transfer function of Eisenstein and Hu. The
  ///   number of panels is that of the survey as given, whatever theta is
  /// \param parameters  how many of the directions there are parameters for, from 1 to N
  /// \throws PreconditionError if a number isn't a constant or a variable, if an option isn't one
  /// of
  ///   those, if the likelihood is of another number of tracers, or if a variable's direction has
  ///   no parameter
  template <int N>
  LikelihoodBatch(Exec const& exec, Parameters<Dual<double, N>> const& p,
                  std::vector<Tracer<Dual<double, N>>> const& tracers,
                  GaussianLikelihood const& likelihood, AngularPowerOptions const& options = {},
                  int parameters = N)
      : LikelihoodBatch(exec, checked(p, tracers, likelihood, options, parameters), likelihood,
                        options.matter) {}

  /// The number of parameters.
  int parameters() const;

  /// Sets value(c) to ln L at the parameters theta(c, ...) and slope(c, ...) to its gradient. Where
  /// there is no such universe, value(c) is -infinity and its gradient 0. One call at a time.
  ///
  /// \throws PreconditionError unless theta and slope have parameters() columns, and as many rows
  /// as
  ///   value
  void operator()(Exec const& exec, Table const& theta, Table const& slope,
                  Column const& value) const;

 private:
  LikelihoodBatch(Exec const& exec, detail::BatchSurvey const& survey,
                  GaussianLikelihood const& likelihood, MatterPower matter);

  template <int N>
  static detail::BatchSurvey checked(Parameters<Dual<double, N>> const& p,
                                     std::vector<Tracer<Dual<double, N>>> const& tracers,
                                     GaussianLikelihood const& likelihood,
                                     AngularPowerOptions const& options, int parameters) {
    detail::expects_spectra(tracers, likelihood.data().l(), options);
    expects(!options.table && options.transfer == TransferFunction::eisenstein_hu,
            "a batch takes P(k) by the transfer function of Eisenstein and Hu: others, and tables, "
            "are for angular_power");
    expects(likelihood.data().tracers() == tracers.size(),
            "the likelihood must have the tracers of the survey, " + in_words(tracers.size()),
            likelihood.data().tracers());
    auto survey = detail::batch_survey(p, tracers, parameters, options.panels);
    survey.expects_parameters();
    return survey;
  }

  std::shared_ptr<detail::BatchWork<Exec>> work_;
};

}  // namespace coir::cosmology
