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

template void begin_after(Kokkos::DefaultHostExecutionSpace const&,
                          Kokkos::DefaultHostExecutionSpace const&);
#ifdef COIR_RUNTIME
template void begin_after(Kokkos::DefaultExecutionSpace const&,
                          Kokkos::DefaultExecutionSpace const&);
#endif

}  // namespace coir
