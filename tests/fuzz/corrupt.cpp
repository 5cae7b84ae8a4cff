// SPDX-License-Identifier: MIT
// Damages files at random, but the same way every time, and exercises the result; built with ASan and UBSan.
//   corrupt [--count N] [--plans N] [--plausible N] [--layouts N] [--seed S] [--truncations] [--last FILE]
//           [--write-seeds DIR] FILE...
// --count damages bytes of the files, or without FILE of the sample plans. --truncations tries every length of every
// file. --write-seeds stores the sample plans as a start for the corpus and ends. --plans changes fields of the sample
// plans before they are written, so that they are well formed. --plausible changes several together, so that most rules
// are kept. --layouts moves tensors of valid plans, and compares the results. --last writes every file before it is
// tried, so that the one that ended the program is there.
#include "exercise.hpp"
#include "operator_plans.hpp"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {
using bytes = std::vector<std::uint8_t>;

using fuzz::generator;

/// Most damage goes to the table, where the meaning is; some to the header, little to the weights.
std::size_t place(generator& random, const bytes& file) {
  const std::size_t table_end = [&] {
    std::uint64_t end = 0;
    if (file.size() >= 64) std::memcpy(&end, file.data() + 24, 8);
    end += 64;
    return end > 64 && end < file.size() ? static_cast<std::size_t>(end) : file.size();
  }();
  switch (random.below(16)) {
    case 0: return random.below(file.size());
    case 1: return random.below(file.size() < 64 ? file.size() : 64);
    default: return table_end > 64 ? 64 + random.below(table_end - 64) : random.below(file.size());
  }
}

void damage_once(generator& random, bytes& file) {
  const std::size_t at = place(random, file);
  static const std::size_t widths[] = {1, 2, 4, 8};
  const std::size_t width = widths[random.below(4)];
  const std::size_t start = random.below(8) == 0 ? at : at / width * width;
  if (start + width > file.size()) return;
  std::uint64_t value = 0;
  std::memcpy(&value, &file[start], width);
  switch (random.below(6)) {
    case 0: value ^= std::uint64_t{1} << random.below(width * 8); break;
    case 1: value = random(); break;
    case 2: value = fuzz::interesting(random); break;
    case 3: value += fuzz::interesting(random); break;
    case 4: {  // another place's value
      const std::size_t from = place(random, file);
      if (from + width <= file.size()) std::memcpy(&value, &file[from], width);
      break;
    }
    default: value += random.below(2) == 0 ? 1 : ~std::uint64_t{0}; break;
  }
  std::memcpy(&file[start], &value, width);
}

bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "corrupt: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bytes to_bytes(const test::plan_spec& plan) {
  const test::aligned_bytes file = plan.write();
  const auto* data = reinterpret_cast<const std::uint8_t*>(file.data());
  return {data, data + file.size()};
}

int write_seeds(const std::vector<test::plan_spec>& plans, const std::string& folder) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bytes file = to_bytes(plans[i]);
    std::ofstream(folder + "/plan_" + std::to_string(i), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }
  return 0;
}

struct options {
  long count = 20000, plans = 0, plausible = 0, layouts = 0;
  bool truncations = false;
  std::string last, seeds;
  std::vector<bytes> files;
};

/// Tries files and counts what became of them.
class trial {
 public:
  explicit trial(std::string last) : m_last(std::move(last)) {}

  fuzz::outcome exercise(const bytes& file) {
    if (!m_last.empty())
      std::ofstream(m_last, std::ios::binary)
          .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    fuzz::outcome o = fuzz::exercise(file.data(), file.size());
    ++m_verdicts[o.verdict];
    return o;
  }
  void print() const {
    for (const auto& [name, times] : m_verdicts) std::printf("%8ld %s\n", times, name.c_str());
  }

 private:
  std::string m_last;
  std::map<std::string, long> m_verdicts;
};

/// Every length of every file; false where a whole one does not open.
bool truncate(const options& o, trial& t) {
  for (const bytes& file : o.files) {
    if (!t.exercise(file).opened) {
      std::fprintf(stderr, "corrupt: a file does not open before it is damaged\n");
      return false;
    }
    for (std::size_t n = 0; o.truncations && n < file.size(); ++n)
      t.exercise({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)});
  }
  return true;
}

/// Moves tensors of plans; false where what opens computes something else than the plan that it was.
bool move_tensors(const std::vector<test::plan_spec>& valid, long count, generator& random, trial& t) {
  std::map<std::size_t, std::vector<std::byte>> expected;
  for (long i = 0; i < count; ++i) {
    const std::size_t n = random.below(valid.size());
    if (expected.count(n) == 0) expected[n] = t.exercise(to_bytes(valid[n])).results;
    test::plan_spec plan = valid[n];
    for (std::size_t k = 1 + random.below(2); k-- > 0;) {
      if (test::tensor_spec* moved = fuzz::movable(random, plan)) fuzz::relayout(random, plan, *moved);
    }
    fuzz::pack_arena(plan);
    const fuzz::outcome o = t.exercise(to_bytes(plan));
    if (o.opened && !fuzz::agree(o.results, expected[n])) {
      std::fprintf(stderr, "corrupt: plan %zu computes something else with tensors in other places\n", n);
      return false;
    }
  }
  return true;
}

options read_options(int argc, char** argv, generator& random) {
  options o;
  const std::map<std::string, long*> numbers = {
      {"--count", &o.count}, {"--plans", &o.plans}, {"--plausible", &o.plausible}, {"--layouts", &o.layouts}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool more = i + 1 < argc;
    if (const auto number = numbers.find(argument); number != numbers.end() && more) {
      *number->second = std::atol(argv[++i]);
    } else if (argument == "--write-seeds" && more) {
      o.seeds = argv[++i];
    } else if (argument == "--last" && more) {
      o.last = argv[++i];
    } else if (argument == "--seed" && more) {
      random.state = static_cast<std::uint64_t>(std::atoll(argv[++i]));
    } else if (argument == "--truncations") {
      o.truncations = true;
    } else {
      o.files.push_back(read_file(argument));
    }
  }
  return o;
}

}

int main(int argc, char** argv) {
  generator random{1};
  options o = read_options(argc, argv, random);
  const std::vector<test::plan_spec> valid = fuzz::operator_plans();
  if (!o.seeds.empty()) return write_seeds(valid, o.seeds);
  if (o.files.empty()) {
    for (const test::plan_spec& plan : valid) o.files.push_back(to_bytes(plan));
  }
  trial t(o.last);
  if (!truncate(o, t)) return 2;
  for (long i = 0; i < o.count; ++i) {
    bytes file = o.files[random.below(o.files.size())];
    for (std::size_t k = 1 + random.below(random.below(4) == 0 ? 16 : 3); k-- > 0;) damage_once(random, file);
    t.exercise(file);
  }
  for (long i = 0; i < o.plans + o.plausible; ++i) {
    test::plan_spec plan = valid[random.below(valid.size())];
    i < o.plans ? fuzz::mutate_plan(random, plan) : fuzz::mutate_plausibly(random, plan);
    t.exercise(to_bytes(plan));
  }
  if (!move_tensors(valid, o.layouts, random, t)) return 1;
  t.print();
  return 0;
}
