// SPDX-License-Identifier: MIT
/// Compiles kernels of the GPU path with the Vulkan driver that the loader finds and prints what its compiler says of
/// them: registers, spills, waves, instructions. Nothing runs. bench/gpu_statistics.py chooses drivers and kernels.
///
///     gpu_statistics [--assembly] [--spirv FILE] KERNEL[:NAME=VALUE,...]...
///
/// NAME is a specialisation constant (FUNCTION, INPUT4, ...). --spirv compiles a file in the place of the kernel's own
/// SPIR-V. Exit code: 0, 1 where there is no driver or it refuses, 2 for arguments that cannot be read.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <netsuke/gpu/generated/spirv.hpp>

#include "../examples/devices/vulkan_functions.hpp"

namespace {

struct options {
  bool assembly = false;
  std::string spirv;
  std::vector<std::string> kernels;
};

/// A driver's device with the layout that every kernel has.
struct statistics_device {
  vulkan_functions vk;
  VkPhysicalDevice physical{};
  VkDevice device{};
  VkPipelineLayout layout{};
  VkPhysicalDeviceProperties properties{};
  PFN_vkGetPipelineExecutablePropertiesKHR executables = nullptr;
  PFN_vkGetPipelineExecutableStatisticsKHR statistics = nullptr;
  PFN_vkGetPipelineExecutableInternalRepresentationsKHR representations = nullptr;

  const char* open();
  const char* create_layout();
};

const char* statistics_device::open() {
  if (!vk.load()) return "there is no Vulkan loader (libvulkan.so.1)";
  VkApplicationInfo app{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  app.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo instance_info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  instance_info.pApplicationInfo = &app;
  VkInstance instance;
  if (vk.CreateInstance(&instance_info, nullptr, &instance)) return "Vulkan has no driver here";
  vk.load(instance);
  std::uint32_t count = 1;
  vk.EnumeratePhysicalDevices(instance, &count, &physical);
  if (count == 0 || !physical) return "the driver has no device";
  vk.GetPhysicalDeviceProperties(physical, &properties);
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR wanted{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
  wanted.pipelineExecutableInfo = VK_TRUE;
  const char* const extension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
  VkDeviceCreateInfo device_info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &wanted};
  device_info.queueCreateInfoCount = device_info.enabledExtensionCount = 1;
  device_info.pQueueCreateInfos = &queue;
  device_info.ppEnabledExtensionNames = &extension;
  if (vk.CreateDevice(physical, &device_info, nullptr, &device))
    return "the driver has no VK_KHR_pipeline_executable_properties";
  vk.load(device);
  const auto function = [&](const char* name) { return vk.GetDeviceProcAddr(device, name); };
  executables = reinterpret_cast<decltype(executables)>(
      reinterpret_cast<void*>(function("vkGetPipelineExecutablePropertiesKHR")));
  statistics =
      reinterpret_cast<decltype(statistics)>(reinterpret_cast<void*>(function("vkGetPipelineExecutableStatisticsKHR")));
  representations = reinterpret_cast<decltype(representations)>(
      reinterpret_cast<void*>(function("vkGetPipelineExecutableInternalRepresentationsKHR")));
  return create_layout();
}

const char* statistics_device::create_layout() {
  VkDescriptorSetLayoutBinding binding[6];
  for (std::uint32_t i = 0; i < 6; ++i) {
    const VkDescriptorType type = i < 4    ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                                  : i == 4 ? VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
                                           : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    binding[i] = {i, type, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  }
  VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set_info.bindingCount = 6;
  set_info.pBindings = binding;
  VkDescriptorSetLayout set;
  const VkPushConstantRange constants{VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = info.pushConstantRangeCount = 1;
  info.pSetLayouts = &set;
  info.pPushConstantRanges = &constants;
  if (vk.CreateDescriptorSetLayout(device, &set_info, nullptr, &set) ||
      vk.CreatePipelineLayout(device, &info, nullptr, &layout))
    return "the driver refuses the binding layout";
  return nullptr;
}

/// Reads "conv_2d:FUNCTION=1,INPUT4=1"; false where a name is unknown.
bool parse(const std::string& text, nsk::gpu::pipeline_key& key) {
  const std::string name = text.substr(0, text.find(':'));
  int found = -1;
  for (int i = 0; i < nsk::gpu::kernel_count; ++i) {
    if (name == nsk::gpu::name_of(static_cast<nsk::gpu::kernel>(i))) found = i;
  }
  if (found < 0) return false;
  key.kernel = static_cast<nsk::gpu::kernel>(found);
  std::size_t at = name.size();
  while (at < text.size()) {
    const std::size_t equals = text.find('=', at), end = text.find(',', at + 1);
    if (equals == std::string::npos) return false;
    int number = -1;
    for (int i = 0; i < nsk::gpu::specialization_count; ++i) {
      if (text.substr(at + 1, equals - at - 1) == nsk::gpu::specialization_names[i]) number = i;
    }
    if (number < 0) return false;
    key.specialization[number] = static_cast<std::uint8_t>(std::atoi(text.c_str() + equals + 1));
    at = end;
  }
  return true;
}

std::vector<std::uint32_t> spirv_of(const options& o, nsk::gpu::kernel k) {
  if (o.spirv.empty()) {
    const auto words = nsk::gpu::spirv_of(k);
    return {words.data(), words.data() + words.size()};
  }
  std::vector<std::uint32_t> words;
  if (std::FILE* const file = std::fopen(o.spirv.c_str(), "rb")) {
    for (std::uint32_t w; std::fread(&w, sizeof w, 1, file) == 1;) words.push_back(w);
    std::fclose(file);
  }
  return words;
}

VkResult create(const statistics_device& d, const options& o, const nsk::gpu::pipeline_key& key, VkPipeline& made) {
  const std::vector<std::uint32_t> words = spirv_of(o, key.kernel);
  VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module_info.codeSize = words.size() * sizeof words[0];
  module_info.pCode = words.data();
  VkShaderModule module;
  if (const VkResult r = d.vk.CreateShaderModule(d.device, &module_info, nullptr, &module)) return r;
  std::uint32_t value[nsk::gpu::specialization_count];
  VkSpecializationMapEntry entry[nsk::gpu::specialization_count];
  for (std::uint32_t i = 0; i < nsk::gpu::specialization_count; ++i) {
    value[i] = key.specialization[i];
    entry[i] = {i, i * 4, 4};
  }
  const VkSpecializationInfo specialization{nsk::gpu::specialization_count, entry, sizeof value, value};
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  if (o.assembly) info.flags |= VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization;
  info.layout = d.layout;
  const VkResult r = d.vk.CreateComputePipelines(d.device, VK_NULL_HANDLE, 1, &info, nullptr, &made);
  d.vk.DestroyShaderModule(d.device, module, nullptr);
  return r;
}

void print_assembly(const statistics_device& d, const VkPipelineExecutableInfoKHR& which) {
  std::uint32_t count = 0;
  d.representations(d.device, &which, &count, nullptr);
  std::vector<VkPipelineExecutableInternalRepresentationKHR> r(
      count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR});
  d.representations(d.device, &which, &count, r.data());
  std::vector<std::string> text(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    text[i].resize(r[i].dataSize + 1);
    r[i].pData = &text[i][0];
  }
  d.representations(d.device, &which, &count, r.data());
  for (std::uint32_t i = 0; i < count; ++i) std::printf("text %s\n%s\nend of text\n", r[i].name, text[i].c_str());
}

/// Prints each statistic of a pipeline as "name: value", a subgroup's width as "Subgroup".
void print(const statistics_device& d, VkPipeline pipeline, bool assembly) {
  const VkPipelineInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, nullptr, pipeline};
  std::uint32_t executables = 0;
  d.executables(d.device, &info, &executables, nullptr);
  std::vector<VkPipelineExecutablePropertiesKHR> properties(executables,
                                                            {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR});
  d.executables(d.device, &info, &executables, properties.data());
  for (std::uint32_t e = 0; e < executables; ++e) {
    std::printf("executable %s\nSubgroup: %u\n", properties[e].name, properties[e].subgroupSize);
    const VkPipelineExecutableInfoKHR which{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, e};
    std::uint32_t count = 0;
    d.statistics(d.device, &which, &count, nullptr);
    std::vector<VkPipelineExecutableStatisticKHR> s(count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR});
    d.statistics(d.device, &which, &count, s.data());
    for (const VkPipelineExecutableStatisticKHR& one : s) {
      if (one.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR)
        std::printf("%s: %g\n", one.name, one.value.f64);
      else
        std::printf("%s: %lld\n", one.name, static_cast<long long>(one.value.i64));
    }
    if (assembly) print_assembly(d, which);
  }
}

bool parse(int argc, char** argv, options& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--assembly") {
      o.assembly = true;
    } else if (argument == "--spirv") {
      if (++i == argc) return false;
      o.spirv = argv[i];
    } else {
      o.kernels.push_back(argument);
    }
  }
  return !o.kernels.empty();
}

}

int main(int argc, char** argv) {
  options o;
  if (!parse(argc, argv, o)) {
    std::fprintf(stderr, "usage: gpu_statistics [--assembly] [--spirv FILE] KERNEL[:NAME=VALUE,...]...\n");
    return 2;
  }
  statistics_device device;
  if (const char* const missing = device.open()) {
    std::fprintf(stderr, "gpu_statistics: %s\n", missing);
    return 1;
  }
  std::printf("device %s\n", device.properties.deviceName);
  for (const std::string& kernel : o.kernels) {
    nsk::gpu::pipeline_key key;
    if (!parse(kernel, key)) {
      std::fprintf(stderr, "gpu_statistics: %s: no such kernel, or no such specialisation constant\n", kernel.c_str());
      return 2;
    }
    std::printf("kernel %s\n", kernel.c_str());
    VkPipeline pipeline;
    if (const VkResult r = create(device, o, key, pipeline)) {
      std::fprintf(stderr, "gpu_statistics: %s: the driver refuses it (VkResult %d)\n", kernel.c_str(), r);
      return 1;
    }
    print(device, pipeline, o.assembly);
    device.vk.DestroyPipeline(device.device, pipeline, nullptr);
  }
  return 0;
}
