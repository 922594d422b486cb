#include "device_runtime.hpp"

#include <coir/core/stream.hpp>

namespace coir {

template <CompiledSpace Exec>
void begin_after([[maybe_unused]] Exec const& later, [[maybe_unused]] Exec const& earlier) {
#ifdef COIR_RUNTIME
  if constexpr (!runs_on_host<Exec>) {
    auto const waiting = stream_of(later), awaited = stream_of(earlier);
    if (waiting == awaited) return;
    COIR_RUNTIME(Event_t) event = nullptr;
    detail::expects_success(
        COIR_RUNTIME(EventCreateWithFlags)(&event, COIR_RUNTIME(EventDisableTiming)),
        "EventCreate");
    auto const recorded = COIR_RUNTIME(EventRecord)(event, awaited);
    auto const waits = recorded == COIR_RUNTIME(Success)
                           ? COIR_RUNTIME(StreamWaitEvent)(waiting, event, 0)
                           : recorded;
    // The runtime keeps the event until the wait is over.
    static_cast<void>(COIR_RUNTIME(EventDestroy)(event));
    detail::expects_success(waits, "StreamWaitEvent");
  }
#endif
}

template <CompiledSpace Exec>
Moment<Exec>::Moment() {
#ifdef COIR_RUNTIME
  if constexpr (!runs_on_host<Exec>) {
    COIR_RUNTIME(Event_t) event = nullptr;
    detail::expects_success(
        COIR_RUNTIME(EventCreateWithFlags)(&event, COIR_RUNTIME(EventDisableTiming)),
        "EventCreate");
    event_ = event;
  }
#endif
}

template <CompiledSpace Exec>
Moment<Exec>::~Moment() {
#ifdef COIR_RUNTIME
  if (event_ != nullptr)
    static_cast<void>(COIR_RUNTIME(EventDestroy)(static_cast<COIR_RUNTIME(Event_t)>(event_)));
#endif
}

template <CompiledSpace Exec>
void Moment<Exec>::record([[maybe_unused]] Exec const& exec) {
#ifdef COIR_RUNTIME
  if constexpr (!runs_on_host<Exec>)
    detail::expects_success(
        COIR_RUNTIME(EventRecord)(static_cast<COIR_RUNTIME(Event_t)>(event_), stream_of(exec)),
        "EventRecord");
#endif
}

template <CompiledSpace Exec>
void Moment<Exec>::await([[maybe_unused]] Exec const& later) const {
#ifdef COIR_RUNTIME
  if constexpr (!runs_on_host<Exec>)
    detail::expects_success(COIR_RUNTIME(StreamWaitEvent)(
                                stream_of(later), static_cast<COIR_RUNTIME(Event_t)>(event_), 0),
                            "StreamWaitEvent");
#endif
}

template class Moment<Kokkos::DefaultHostExecutionSpace>;
#ifdef COIR_RUNTIME
template class Moment<Kokkos::DefaultExecutionSpace>;
#endif

template void begin_after(Kokkos::DefaultHostExecutionSpace const&,
                          Kokkos::DefaultHostExecutionSpace const&);
#ifdef COIR_RUNTIME
template void begin_after(Kokkos::DefaultExecutionSpace const&,
                          Kokkos::DefaultExecutionSpace const&);
#endif

}  // namespace coir
