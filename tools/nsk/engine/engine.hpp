// SPDX-License-Identifier: MIT
#pragma once
/// The engine as the tool sees it. It is compiled once per instruction set (engine.inc in engine_*.cpp), each behind
/// these plain types, and chosen at run time. Nothing here depends on an instruction set.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nsk::tool {

/// When a step, or one lane's share of it (lane >= 0), ran: microseconds since the start of the run.
struct step_event {
  int step, lane;
  double begin_us, end_us;
};

/// One variant of a model that takes inputs and makes outputs, on the CPU or on a device.
class inference {
 public:
  virtual ~inference() = default;
  virtual std::byte* input(int port) = 0;
  virtual const std::byte* output(int port) = 0;
  /// The lengths that the last run has computed with (session::lengths); null where all are at their bounds, and where
  /// they are rows of a batch, whose ports stay whole.
  virtual const std::int32_t* lengths() const { return nullptr; }
  /// Chooses the numbers of random steps, as session::seed does.
  virtual void seed(std::uint64_t key) = 0;
  /// Runs a whole inference; states go from one to the next.
  virtual void run() = 0;
};

/// One model, opened on the CPU, with memory for a number of lanes; run() uses them all.
class runner : public inference {
 public:
  using inference::run;
  /// State `index`, dense: what the next run reads.
  virtual std::byte* state(int index) = 0;
  /// Gives every state its initial value.
  virtual void reset() = 0;
  /// Element at index 0 of a tensor of the variant; valid while the step that wrote it is the last one that ran.
  virtual const std::byte* tensor(int index) = 0;
  /// Computes the first rows of a batch only, as session::set_batch does. Refuses more than the model has.
  virtual void set_batch(int rows) = 0;
  /// Computes with a length of `value` from now on, as session::set_length does.
  virtual void set_length(const std::string& name, int value) = 0;
  /// Runs a whole inference and records when each step ran.
  virtual void run(std::vector<step_event>& events) = 0;
  /// What the data of the last run made necessary, as session::flags says it.
  virtual std::uint32_t flags() const = 0;
  /// Replays the check vectors of the file; returns what is wrong, nothing when all outputs are met.
  virtual std::string selftest() = 0;
  /// Runs on one lane and calls `after` behind each step.
  virtual void run_steps(const std::function<void(int step)>& after) = 0;
};

/// One build of the engine.
struct engine {
  const char* name;     ///< "avx2"
  bool (*supported)();  ///< by this machine
  /// Refuses bad files; `file` must outlive the result.
  std::unique_ptr<runner> (*open)(const std::byte* file, std::size_t bytes, int lanes, int variant);
  /// Expands a small file (netsuke/prepare.hpp); refuses damaged ones, which messages call `name`.
  std::vector<std::byte> (*prepare)(const std::vector<std::byte>& small, const std::string& name);
  double (*fma_peak)();  ///< GFLOP/s of one core, measured now
  /// Reads a block, or copies its first half to the second, over and over for about `us` microseconds; returns the best
  /// GB/s of one pass (a copy counts both ways). `bytes` is a multiple of 1024, the block 64-byte aligned.
  double (*bandwidth)(std::byte* block, std::size_t bytes, bool copy, double us);
};

/// AVX2 on x86-64, NEON on AArch64.
const engine& vector_engine();
const engine& avx512_engine();  ///< on x86-64 only
const engine& scalar_engine();
/// Names of the instruction sets of this build, the fastest first: "avx512, avx2, scalar".
std::string engine_names();

/// Returns the engine of that name, or the fastest that this machine supports when the name is empty. Misuse: an
/// unknown name, or an instruction set that the machine lacks.
const engine& choose_engine(const std::string& isa);

/// A file's bytes at an address that the engine accepts.
class aligned_bytes {
 public:
  explicit aligned_bytes(const std::vector<std::byte>& bytes);
  explicit aligned_bytes(std::size_t size);
  std::byte* data() const { return m_data.get(); }
  std::size_t size() const { return m_size; }

 private:
  struct release {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte[], release> m_data;
  std::size_t m_size;
};

}
