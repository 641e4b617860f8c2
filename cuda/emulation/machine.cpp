#include "cuda/emulation/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "cuda/emulation/instructions.h"
#include "cuda/emulation/stack_switch.h"

// In a sanitizer build this file is compiled without instrumentation, with ACGAN_EMULATION_ASAN or
// _TSAN defined: both sanitizers are told of the fibers (and TSan of the barriers) by hand, and
// must not see the machine's own book-keeping.
#if defined(ACGAN_EMULATION_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define ASAN_DO(x) x
#else
#define ASAN_DO(x)
#endif
#if defined(ACGAN_EMULATION_TSAN)
#include <sanitizer/tsan_interface.h>
#define TSAN_DO(x) x
#else
#define TSAN_DO(x)
#endif

namespace acgan::emulation {
namespace {

constexpr std::size_t kStack = std::size_t{256} << 10, kGuard = 4096, kMapped = kGuard + kStack;
enum class State : std::uint8_t { Barrier, Warp, Returned };  // why a fiber is not ready

struct Fiber {
  void* stack_pointer = nullptr;
  char* stack = nullptr;  // kGuard bytes below it are inaccessible
  [[maybe_unused]] void *fake_stack = nullptr, *tsan = nullptr;
  Index3 index{};
  unsigned warp = 0, lane = 0;
  State state = State::Returned;
  const char* waits_in = "";
  Site site{"", 0};
  AsyncQueue async;
};
struct Pending {
  unsigned mask, arrived;
  CollectiveFunction function;
  const char* name;
  void* self[32];
};
struct Warp {
  unsigned ready = 0, alive = 0;
  Pending pending[32] = {};  // mask 0: free; their masks are disjoint
};
struct BlockBarrier {
  unsigned arrived = 0, waiting[32] = {};  // lanes of each warp
  bool any = false, result = false;
  Site site{"", 0};
};
struct Slot {
  const void* key;
  char* data;
  std::size_t bytes;
};

struct Machine {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Warp> warps;
  std::vector<unsigned> order;  // warps, most urgent first
  Slot slots[16];
  unsigned slot_count = 0;
  char* arena = nullptr;  // with TSan: all the shared memory of a block
  BlockBarrier barrier;
  unsigned alive = 0, base = 0;  // thread i of the block runs on fibers[base + i]
  std::size_t dynamic_limit = 0, dynamic_used = 0;
  Fiber* current = nullptr;
  void* main_stack_pointer = nullptr;
  [[maybe_unused]] void *main_fake_stack = nullptr, *main_tsan = nullptr;
  [[maybe_unused]] const void* main_bottom = nullptr;
  [[maybe_unused]] std::size_t main_size = 0;
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
  std::exception_ptr error;
  std::uint64_t random = 1;
};
Machine& machine = *new Machine;  // never destroyed: abandoned fibers may own parts of it

Fiber& thread(unsigned i) { return *machine.fibers[machine.base + i]; }

std::uint64_t random64() {  // xorshift*
  machine.random ^= machine.random >> 12;
  machine.random ^= machine.random << 25;
  machine.random ^= machine.random >> 27;
  return machine.random * 0x2545F4914F6CDD1Dull;
}
unsigned random_below(unsigned n) { return static_cast<unsigned>(((random64() >> 32) * n) >> 32); }

void shuffle_order() {
  for (auto i = static_cast<unsigned>(machine.order.size()); i > 1; --i) {
    std::swap(machine.order[i - 1], machine.order[random_below(i)]);
  }
}

unsigned pick_lane(unsigned ready) {
  if (settings.schedule == Schedule::InOrder) return static_cast<unsigned>(__builtin_ctz(ready));
  if (settings.schedule == Schedule::Reverse) {
    return 31 - static_cast<unsigned>(__builtin_clz(ready));
  }
  const unsigned turn = random_below(32);
  const unsigned rotated = (ready >> turn) | (ready << ((32 - turn) & 31));
  return (static_cast<unsigned>(__builtin_ctz(rotated)) + turn) & 31;
}

Fiber* pick() {
  const auto warps = static_cast<unsigned>(machine.order.size());
  const unsigned start = settings.schedule == Schedule::Uniform ? random_below(warps) : 0;
  if (settings.schedule == Schedule::Priority && warps > 1 && random_below(64) == 0) {
    std::swap(machine.order[0], machine.order[1 + random_below(warps - 1)]);
  }
  for (unsigned i = 0; i < warps; ++i) {
    const unsigned warp = machine.order[(start + i) % warps];
    const unsigned ready = machine.warps[warp].ready;
    if (ready != 0) return &thread(warp * 32 + pick_lane(ready));
  }
  return nullptr;
}

// Hands the processor from fiber `from` (null: the main stack) to `to` (null: likewise).
void transfer(Fiber* from, Fiber* to) {
  ++counters.switches;
  machine.current = to;
  if (to != nullptr) threadIdx = to->index;
  ASAN_DO(__sanitizer_start_switch_fiber(
      from != nullptr ? &from->fake_stack : &machine.main_fake_stack,
      to != nullptr ? to->stack : machine.main_bottom, to != nullptr ? kStack : machine.main_size));
  TSAN_DO(__tsan_switch_to_fiber(to != nullptr ? to->tsan : machine.main_tsan,
                                 __tsan_switch_to_fiber_no_sync));
  switch_stack(from != nullptr ? &from->stack_pointer : &machine.main_stack_pointer,
               to != nullptr ? to->stack_pointer : machine.main_stack_pointer);
  ASAN_DO(__sanitizer_finish_switch_fiber(
      from != nullptr ? from->fake_stack : machine.main_fake_stack, nullptr, nullptr));
}

void suspend() {  // the current fiber waits (or has returned): run another
  Fiber* self = machine.current;
  Fiber* next = machine.error ? nullptr : pick();
  if (next != self) transfer(self, next);
}

void release_barrier() {
  BlockBarrier& b = machine.barrier;
  for (std::size_t w = 0; w < machine.warps.size(); ++w) {
    machine.warps[w].ready |= std::exchange(b.waiting[w], 0u);
  }
  b.arrived = 0;
  b.result = std::exchange(b.any, false);
  ++counters.barriers;
  if (settings.schedule == Schedule::Priority) shuffle_order();
}

void run_body(Fiber& self) {
  TSAN_DO(__tsan_acquire(&machine.body));
  try {
    machine.body(machine.argument);
    if (!self.async.copies.empty()) {
      fault("thread returned with %zu cp.async not waited for", self.async.copies.size());
    }
  } catch (...) {
    machine.error = std::current_exception();
  }
  TSAN_DO(__tsan_release(&machine.argument));
}

void fiber_main() {
  ASAN_DO(if (machine.main_bottom) __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
          else __sanitizer_finish_switch_fiber(nullptr, &machine.main_bottom, &machine.main_size));
  for (;;) {
    Fiber* self = machine.current;
    run_body(*self);
    self->state = State::Returned;
    machine.warps[self->warp].ready &= ~(1u << self->lane);
    machine.warps[self->warp].alive &= ~(1u << self->lane);
    --machine.alive;
    const BlockBarrier& b = machine.barrier;  // a returned thread no longer counts for it
    if (!machine.error && b.arrived != 0 && b.arrived == machine.alive) release_barrier();
    suspend();
  }
}

void reset(Fiber& fiber) {  // a fresh (or abandoned) fiber starts at fiber_main
  ASAN_DO(__asan_unpoison_memory_region(fiber.stack, kStack));
  // Stacks start at different offsets of a page, or all of them would share cache sets.
  const std::uintptr_t colour = reinterpret_cast<std::uintptr_t>(fiber.stack) / kMapped % 16 * 256;
  fiber.stack_pointer = fresh_stack(fiber.stack + kStack - colour, &fiber_main);
  fiber.fake_stack = nullptr;
}

void make_fibers(unsigned count) {
  while (machine.fibers.size() < count) {
    auto fiber = std::make_unique<Fiber>();
    void* base = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw Fault("emulated device: no memory for the stacks of its threads");
    mprotect(base, kGuard, PROT_NONE);
    fiber->stack = static_cast<char*>(base) + kGuard;
    TSAN_DO(fiber->tsan = __tsan_create_fiber(0));
    reset(*fiber);
    machine.fibers.push_back(std::move(fiber));
  }
}

// With TSan: one arena, mapped and unmapped by the main stack, so that its shadow starts afresh
// with each block and allocation races with nobody. Otherwise one exact heap block for each slot.
void map_shared() {
#if defined(ACGAN_EMULATION_TSAN)
  machine.arena = static_cast<char*>(mmap(nullptr, std::size_t{320} << 10, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  __tsan_release(&machine.body);
#endif
}
char* allocate_shared(std::size_t bytes) {
  void* memory = machine.arena;
#if defined(ACGAN_EMULATION_TSAN)
  machine.arena += (bytes + 127) / 128 * 128;
#else
  if (posix_memalign(&memory, 128, bytes) != 0) fault("out of memory");
#endif
  // Volatile, or it becomes a memset that TSan would see.
  volatile char* filled = static_cast<char*>(memory);
  for (std::size_t i = 0; i < bytes; ++i) filled[i] = static_cast<char>(0xFF);
  return static_cast<char*>(memory);
}
void free_shared() {
#if defined(ACGAN_EMULATION_TSAN)
  munmap(machine.slot_count != 0 ? machine.slots[0].data : machine.arena, std::size_t{320} << 10);
#else
  for (unsigned i = 0; i < machine.slot_count; ++i) free(machine.slots[i].data);
#endif
  machine.slot_count = 0;
}

std::string deadlock_report(unsigned threads) {
  std::string text = "emulated device: deadlock in block (" + std::to_string(blockIdx.x) + "," +
                     std::to_string(blockIdx.y) + "," + std::to_string(blockIdx.z) + "):";
  std::string last;
  for (unsigned i = 0; i < threads; ++i) {
    const Fiber& fiber = thread(i);
    std::string state;
    if (fiber.state == State::Returned) {
      state = "returned";
    } else if (fiber.state == State::Barrier) {
      state = std::string("waits at the barrier of ") + fiber.site.file + ":" +
              std::to_string(fiber.site.line);
    } else {
      state = std::string("waits in ") + fiber.waits_in;
    }
    if (state != last) text += "\n  from thread " + std::to_string(i) + ": " + state;
    last = state;
  }
  return text;
}

void prepare_block(unsigned threads, std::size_t dynamic_shared) {
  machine.alive = threads;
  TSAN_DO(machine.base = machine.base != 0 ? 0 : threads);
  machine.dynamic_limit = dynamic_shared;
  machine.dynamic_used = 0;
  const unsigned warps = (threads + 31) / 32;
  machine.warps.resize(warps);
  machine.order.resize(warps);
  for (unsigned w = 0; w < warps; ++w) {
    const unsigned lanes = std::min(32u, threads - w * 32);
    machine.warps[w].alive = machine.warps[w].ready = lanes == 32 ? ~0u : (1u << lanes) - 1;
    for (Pending& pending : machine.warps[w].pending) pending.mask = 0;
    machine.order[w] = settings.schedule == Schedule::Reverse ? warps - 1 - w : w;
  }
  machine.barrier = BlockBarrier{};
  if (settings.schedule == Schedule::Priority) shuffle_order();
  for (unsigned i = 0; i < threads; ++i) {
    Fiber& fiber = thread(i);
    fiber.index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y)};
    fiber.warp = i / 32;
    fiber.lane = i % 32;
    fiber.async.copies.clear();
    fiber.async.group_ends.clear();
  }
}

// After a fault the main stack goes on although threads wait in the middle of the kernel: what they
// did comes before.
void order_after_abandoned([[maybe_unused]] unsigned threads) {
#if defined(ACGAN_EMULATION_TSAN)
  for (unsigned i = 0; i < threads; ++i) {
    __tsan_switch_to_fiber(thread(i).tsan, __tsan_switch_to_fiber_no_sync);
    __tsan_release(&machine.argument);
    __tsan_switch_to_fiber(machine.main_tsan, __tsan_switch_to_fiber_no_sync);
  }
  __tsan_acquire(&machine.argument);
#endif
}

void run_block(unsigned threads, std::size_t dynamic_shared) {
  prepare_block(threads, dynamic_shared);
  map_shared();
  transfer(nullptr, pick());
  free_shared();
  ++counters.blocks;
  counters.threads += threads;
  if (!machine.error && machine.alive != 0) {  // nobody can go on
    machine.error = std::make_exception_ptr(Fault(deadlock_report(threads)));
  }
  if (machine.error) {
    order_after_abandoned(threads);
    for (const auto& fiber : machine.fibers) reset(*fiber);
    std::rethrow_exception(std::exchange(machine.error, nullptr));
  }
}

std::vector<unsigned> block_order(dim3 grid) {
  std::vector<unsigned> order(std::size_t{grid.x} * grid.y * grid.z);
  for (unsigned i = 0; i < order.size(); ++i) order[i] = i;
  if (settings.schedule == Schedule::Reverse) std::reverse(order.begin(), order.end());
  if (settings.schedule >= Schedule::Uniform) {
    for (auto i = static_cast<unsigned>(order.size()); i > 1; --i) {
      std::swap(order[i - 1], order[random_below(i)]);
    }
  }
  return order;
}

}  // namespace

void fault(const char* format, ...) {
  char text[600], where[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(where, sizeof where, " [block (%u,%u,%u) thread (%u,%u,%u)]", blockIdx.x, blockIdx.y,
           blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
  throw Fault(std::string("emulated device: ") + text + where);
}

std::size_t shared_memory_limit(int arch) {
  const std::size_t kib = arch >= 900 ? 227 : arch >= 800 ? 163 : arch >= 750 ? 64 : 48;
  return kib * 1024;
}

void run(dim3 grid, dim3 block, std::size_t dynamic_shared, void (*body)(void*), void* argument) {
  const unsigned threads = block.x * block.y * block.z;
  if (machine.current != nullptr) fault("a kernel cannot launch a kernel");
  if (threads == 0 || threads > 1024 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
      grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535 ||
      dynamic_shared > shared_memory_limit(settings.arch)) {
    throw Fault("emulated device: invalid launch: grid " + std::to_string(grid.x) + "x" +
                std::to_string(grid.y) + "x" + std::to_string(grid.z) + ", " +
                std::to_string(threads) + " threads, " + std::to_string(dynamic_shared) +
                " bytes of shared memory");
  }
  machine.random = settings.seed * 0x9E3779B97F4A7C15ull | 1;
  machine.body = body;
  machine.argument = argument;
  gridDim = grid;
  blockDim = block;
#if defined(ACGAN_EMULATION_TSAN)
  make_fibers(2 * threads);  // neighbouring blocks on different fibers: TSan sees no order
  machine.main_tsan = __tsan_get_current_fiber();
  __tsan_release(&machine.body);
#else
  make_fibers(threads);
#endif
  for (const unsigned i : block_order(grid)) {
    blockIdx = {i % grid.x, i / grid.x % grid.y, i / (grid.x * grid.y)};
    run_block(threads, dynamic_shared);
  }
  TSAN_DO(__tsan_acquire(&machine.argument));
}

void barrier(Site site) { barrier_or(false, site); }

bool barrier_or(bool predicate, Site site) {
  Fiber& fiber = *machine.current;
  BlockBarrier& b = machine.barrier;
  if (b.arrived == 0) b.site = site;
  if (b.site.line != site.line || std::strcmp(b.site.file, site.file) != 0) {
    fault("divergent barrier: this thread is at %s:%d, others wait at %s:%d", site.file, site.line,
          b.site.file, b.site.line);
  }
  fiber.state = State::Barrier;
  fiber.site = site;
  machine.warps[fiber.warp].ready &= ~(1u << fiber.lane);
  b.waiting[fiber.warp] |= 1u << fiber.lane;
  b.any = b.any || predicate;
  TSAN_DO(__tsan_release(&b));
  if (++b.arrived == machine.alive) release_barrier();
  suspend();
  TSAN_DO(__tsan_acquire(&b));
  return b.result;
}

unsigned lane_id() { return machine.current->lane; }
AsyncQueue& async_queue() { return machine.current->async; }
bool coin() { return (random64() >> 63) != 0; }

void warp_collective(const char* name, unsigned mask, CollectiveFunction function, void* self,
                     [[maybe_unused]] bool fence) {
  Fiber& fiber = *machine.current;
  Warp& warp = machine.warps[fiber.warp];
  if ((mask >> fiber.lane & 1) == 0) {
    fault("%s: the calling lane %u is not in mask %08x", name, fiber.lane, mask);
  }
  if ((mask & ~warp.alive) != 0) {
    fault("%s: mask %08x names lanes that have returned or do not exist (alive: %08x)", name, mask,
          warp.alive);
  }
  Pending *pending = nullptr, *free_slot = nullptr;
  for (Pending& other : warp.pending) {
    if ((other.mask & mask) != 0) pending = &other;
    if (other.mask == 0) {
      free_slot = &other;
      break;
    }
  }
  if (pending == nullptr) {
    pending = free_slot;
    pending->mask = mask;
    pending->arrived = 0;
    pending->function = function;
    pending->name = name;
  }
  if (pending->mask != mask || pending->function != function) {
    fault("divergent warp: lane %u is at %s(%08x), others wait in %s(%08x)", fiber.lane, name, mask,
          pending->name, pending->mask);
  }
  pending->self[fiber.lane] = self;
  pending->arrived |= 1u << fiber.lane;
  TSAN_DO(if (fence) __tsan_release(&warp));
  if (pending->arrived == mask) {
    function(pending->self, mask);
    pending->mask = 0;
    ++counters.collectives;
    warp.ready |= mask;
    if (settings.schedule == Schedule::Uniform) suspend();
  } else {
    fiber.state = State::Warp;
    fiber.waits_in = name;
    warp.ready &= ~(1u << fiber.lane);
    suspend();
  }
  TSAN_DO(if (fence) __tsan_acquire(&warp));
}

void* shared_slot(const void* key, std::size_t bytes, bool dynamic) {
  for (unsigned i = 0; i < machine.slot_count; ++i) {
    const Slot& slot = machine.slots[i];
    if (slot.key != key) continue;
    if (slot.bytes != bytes) fault("threads disagree on the size of a shared variable");
    return slot.data;
  }
  if (dynamic) {
    machine.dynamic_used += (bytes + 127) / 128 * 128;
    if (machine.dynamic_used > machine.dynamic_limit) {
      fault("dynamic shared memory: %zu bytes taken, %zu given at launch", machine.dynamic_used,
            machine.dynamic_limit);
    }
  }
  if (machine.slot_count == std::size(machine.slots)) fault("more than 16 shared variables");
  machine.slots[machine.slot_count] = {key, allocate_shared(bytes), bytes};
  return machine.slots[machine.slot_count++].data;
}

bool is_shared(const void* address) {  // a start address; running past the end is ASan's to report
  const char* byte = static_cast<const char*>(address);
  for (unsigned i = 0; i < machine.slot_count; ++i) {
    const Slot& slot = machine.slots[i];
    if (byte >= slot.data && byte < slot.data + slot.bytes) return true;
  }
  return false;
}

}  // namespace acgan::emulation
