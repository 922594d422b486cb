#include "mpi.hpp"
#include "group_state.hpp"

#include <coir/core/errors.hpp>
#include <coir/distributed/session.hpp>

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace coir::distributed {

bool has_mpi() { return true; }

namespace detail {

namespace {

constexpr int tag =
    7;  // one for all: messages between two ranks match by their order, as NCCL's do

void check(int status, char const* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw EnvironmentError(std::string("MPI failed in ") + call + ": " +
                         std::string(text, static_cast<std::size_t>(length)));
}

bool is_running() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

int as_count(std::int64_t bytes) {
  expects(bytes <= std::numeric_limits<int>::max(),
          "what ranks gather or broadcast must have less than 2^31 bytes", bytes);
  return static_cast<int>(bytes);
}

/// Checks the length of a received message. MPI itself reports messages that are too long, but none
/// that is too short.
void expects_length(int error, MPI_Status const& status, int from, std::int64_t expected) {
  int came = 0;
  if (error == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &came);
  int kind = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &kind);
  if (error != MPI_SUCCESS && kind != MPI_ERR_TRUNCATE) check(error, "a message");
  expects(error == MPI_SUCCESS && came == expected,
          "a piece from rank " + std::to_string(from) + " has " +
              (error == MPI_SUCCESS ? std::to_string(came) : "more") + " bytes where " +
              std::to_string(expected) +
              " are expected: the n-th piece to a rank must be as long as its n-th from here");
}

/// Messages under way, those that are received first.
class AllUnderWay : public UnderWay {
 public:
  AllUnderWay(std::vector<MPI_Request> requests, std::span<Receive const> receives)
      : requests_(std::move(requests)), receives_(receives.begin(), receives.end()) {}
  // Waits for messages that weren't finished, because they still read or write the caller's memory.
  ~AllUnderWay() override {
    if (!requests_.empty() && is_running())
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  void finish() override {
    // One by one: Open MPI 4.1 waits for all messages forever if one of them is too long.
    for (std::size_t n = 0; n < requests_.size(); ++n) {
      MPI_Status status{};
      int const error = MPI_Wait(&requests_[n], &status);
      if (n < receives_.size())
        expects_length(error, status, receives_[n].from, receives_[n].bytes);
      else
        check(error, "Wait");
    }
  }

 private:
  std::vector<MPI_Request> requests_;
  std::vector<Receive> receives_;
};

class OneByOne : public Requests {
 public:
  explicit OneByOne(MPI_Comm communicator) : communicator_(communicator) {}
  ~OneByOne() override {
    if (!requests_.empty() && is_running())
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  void send(Send const& piece, std::int64_t id) override {
    check(MPI_Isend(piece.data, as_count(piece.bytes), MPI_BYTE, piece.to, tag, communicator_,
                    &place_for(id, {})),
          "Isend");
  }
  void receive(Receive const& piece, std::int64_t id) override {
    check(MPI_Irecv(piece.data, as_count(piece.bytes), MPI_BYTE, piece.from, tag, communicator_,
                    &place_for(id, piece)),
          "Irecv");
  }
  std::int64_t wait_for_any() override {
    int index = MPI_UNDEFINED;
    MPI_Status status{};
    int const error =
        MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, &status);
    if (index == MPI_UNDEFINED) {
      check(error, "Waitany");
      return -1;
    }
    auto const& expected = expected_[static_cast<std::size_t>(index)];
    if (expected)
      expects_length(error, status, expected->from, expected->bytes);
    else
      check(error, "a message");
    return index;
  }

 private:
  MPI_Request& place_for(std::int64_t id, std::optional<Receive> const& expected) {
    auto const n = static_cast<std::size_t>(id);
    if (n >= requests_.size()) {
      requests_.resize(n + 1, MPI_REQUEST_NULL);
      expected_.resize(n + 1);
    }
    expected_[n] = expected;
    return requests_[n];
  }

  MPI_Comm communicator_;
  std::vector<MPI_Request> requests_;
  std::vector<std::optional<Receive>> expected_;  ///< none: a piece that goes
};

class MpiEngine : public Engine {
 public:
  /// \param communicator  owned from here on
  explicit MpiEngine(MPI_Comm communicator) : communicator_(communicator) {
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(communicator_, &rank_), "Comm_rank");
    check(MPI_Comm_size(communicator_, &size_), "Comm_size");
    count_connection();
  }
  ~MpiEngine() override {
    if (is_running()) MPI_Comm_free(&communicator_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void expects_alive() const override {
    expects(is_running(),
            "a group of ranks can't be used after its session has ended: end the session last");
  }
  std::unique_ptr<Engine> split(int part, int order) const override {
    expects_alive();
    MPI_Comm communicator = MPI_COMM_NULL;
    check(MPI_Comm_split(communicator_, part, order, &communicator), "Comm_split");
    return std::make_unique<MpiEngine>(communicator);
  }

  void gather(void const* value, void* all, std::int64_t bytes) const override {
    expects_alive();
    int const count = as_count(bytes);
    check(MPI_Allgather(value, count, MPI_BYTE, all, count, MPI_BYTE, communicator_), "Allgather");
  }
  void gather_all(void const* values, void* all,
                  std::span<std::int64_t const> counts) const override {
    expects_alive();
    std::vector<int> bytes, first;
    std::int64_t sum = 0;
    for (std::int64_t const count : counts) {
      bytes.push_back(as_count(count));
      first.push_back(as_count(sum));
      sum += count;
    }
    check(MPI_Allgatherv(values, bytes[static_cast<std::size_t>(rank_)], MPI_BYTE, all,
                         bytes.data(), first.data(), MPI_BYTE, communicator_),
          "Allgatherv");
  }
  void all_to_all(void const* values, void* all, std::int64_t bytes) const override {
    expects_alive();
    int const count = as_count(bytes);
    check(MPI_Alltoall(values, count, MPI_BYTE, all, count, MPI_BYTE, communicator_), "Alltoall");
  }
  void broadcast(void* data, std::int64_t bytes, int from) const override {
    expects_alive();
    check(MPI_Bcast(data, as_count(bytes), MPI_BYTE, from, communicator_), "Bcast");
  }
  void barrier() const override {
    expects_alive();
    check(MPI_Barrier(communicator_), "Barrier");
  }

  std::unique_ptr<UnderWay> begin(std::span<Send const> sends,
                                  std::span<Receive const> receives) const override {
    std::vector<MPI_Request> requests(receives.size() + sends.size(), MPI_REQUEST_NULL);
    MPI_Request* request = requests.data();
    for (Receive const& piece : receives)
      check(MPI_Irecv(piece.data, as_count(piece.bytes), MPI_BYTE, piece.from, tag, communicator_,
                      request++),
            "Irecv");
    for (Send const& piece : sends)
      check(MPI_Isend(piece.data, as_count(piece.bytes), MPI_BYTE, piece.to, tag, communicator_,
                      request++),
            "Isend");
    return std::make_unique<AllUnderWay>(std::move(requests), receives);
  }
  std::unique_ptr<Requests> requests() const override {
    return std::make_unique<OneByOne>(communicator_);
  }

 private:
  MPI_Comm communicator_;
  int rank_ = 0, size_ = 1;
};

bool started_here = false;

}  // namespace

bool mpi_is_running() { return is_running(); }

void start_mpi(int& argc, char**& argv) {
  if (is_running()) return;
  int ended = 0;
  MPI_Finalized(&ended);
  expects(ended == 0,
          "MPI has ended, and can't start a second time: make the distributed::Session before "
          "MPI_Finalize");
  int provided = 0;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "Init_thread");
  started_here = true;
}

void end_mpi() {
  if (started_here && is_running()) MPI_Finalize();
}

std::unique_ptr<Engine> world_engine() { return engine_of(MPI_Comm_c2f(MPI_COMM_WORLD)); }

std::unique_ptr<Engine> machine_engine() {
  MPI_Comm machine = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
        "Comm_split_type");
  return std::make_unique<MpiEngine>(machine);
}

std::unique_ptr<Engine> engine_of(int fortran_handle) {
  expects(is_running(), "MPI must be running before a group is made of a communicator");
  MPI_Comm const given = MPI_Comm_f2c(static_cast<MPI_Fint>(fortran_handle));
  expects(given != MPI_COMM_NULL,
          "a group needs a communicator, and MPI_COMM_NULL is none: make it on the ranks that have "
          "one");
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(given, &copy), "Comm_dup");
  return std::make_unique<MpiEngine>(copy);
}

void abort_mpi(int exit_code) {
  if (is_running()) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

}  // namespace detail

}  // namespace coir::distributed
