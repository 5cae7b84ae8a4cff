// SPDX-License-Identifier: MIT
// The same kernels from HLSL: on one device they give the bits that those from GLSL give. tests/gpu/hlsl_spirv.py
// compiles them.
#include <fstream>
#include <iterator>

#include "../cases.hpp"
#include "../vulkan_support.hpp"

using namespace test;

namespace {

std::vector<std::uint32_t> hlsl_of(nsk::gpu::kernel k) {
  std::ifstream in(std::string(NSK_TEST_BINARY_DIR "/tests/gpu/hlsl/") + nsk::gpu::name_of(k) + ".spv",
                   std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::uint32_t> words(bytes.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

/// Makes its pipelines of HLSL; everything else is the device's.
class hlsl_device : public vulkan_device {
 public:
  int made = 0;
  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& p) {
    const std::vector<std::uint32_t> words = hlsl_of(key.kernel);
    REQUIRE(words.size() > 0);
    ++made;
    return vulkan_device::create_pipeline(key, {words.data(), words.size()}, p);
  }
  void bind(list& l, const nsk::gpu::bindings<hlsl_device>& b) {
    vulkan_device::bind(l, {b.weights, b.arena, b.read_texture, b.written_texture});
  }
};

/// Windows, channels that fill no quad, functions, residuals.
std::vector<kernel_case> cases() {
  window_case conv;
  conv.ic = 5, conv.oc = 17, conv.kh = conv.kw = 3, conv.pad = 1, conv.residual = conv.slope = true;
  conv.epilogue.function = format::Function::prelu;
  window_case depthwise;
  depthwise.ic = depthwise.oc = 17, depthwise.kh = depthwise.kw = 3, depthwise.stride = 2;
  window_case whole = depthwise;
  whole.ic = whole.oc = 24;
  window_case pool = depthwise;
  pool.ic = pool.oc = 8;
  return {{"network", make_cnn().plan},
          make_window_case(format::Operator::Conv2D, conv),
          make_window_case(format::Operator::DepthwiseConv2D, depthwise),
          make_window_case(format::Operator::DepthwiseConv2D, whole),
          make_window_case(format::Operator::Pool2D, pool)};
}

template <class Device>
aligned_bytes arena_after(Device& device, const plan_spec& p, const nsk::gpu::plan_settings& how) {
  both<Device> net(device);
  REQUIRE(net.open(p, how) == "");
  net.fill_inputs(4);
  net.run();
  return net.device_arena();
}

}

TEST_CASE("kernels from HLSL give the bits of kernels from GLSL") {
  auto* const device = vulkan();
  if (!device) return;
  if (hlsl_of(nsk::gpu::kernel::conv_2d).empty()) {
    MESSAGE("no kernels from HLSL: the test gpu.hlsl_spirv makes them where glslangValidator is installed");
    return;
  }
  static shared_pipelines<hlsl_device> other;
  REQUIRE(other.open() == "");
  for (const kernel_case& c : cases()) {
    for (const auto kernel : {nsk::gpu::conv_kernel::direct, nsk::gpu::conv_kernel::tiled}) {
      CAPTURE(c.name);
      nsk::gpu::plan_settings how;
      how.convolutions = kernel;
      const aligned_bytes a = arena_after(*device, c.plan, how), b = arena_after(other, c.plan, how);
      CHECK(std::memcmp(a.data(), b.data(), a.size()) == 0);
    }
  }
  CHECK(other.made >= 10);
}
