// SPDX-License-Identifier: MIT
// A network of the build: the build converts examples/models/yard_agent.onnx, prints what the file needs, and compiles
// its kernels in a file of their own, optimised in debug builds too.
//   built_network yard_policy.nsk
#include <cstdio>
#include "support/file.hpp"
#include "yard_policy.hpp"

using namespace example;

int main(int argc, char** argv) {
  if (argc != 2) fail("usage: built_network yard_policy.nsk");
  const memory_block file = read_file(argv[1]);
  nsk::model model;
  if (nsk::status s = nsk::open<yard_policy_settings>(file, model); !s) fail(s.message());
  const memory_block memory(model.required_bytes());
  yard_policy_session policy(model, memory);
  if (!policy) fail(policy.status().message());
  if (nsk::status s = nsk::selftest(policy); !s) fail(s.message());
  std::printf("%d steps compute what the converter recorded\n", model.variant().step_count());
}
