// SPDX-License-Identifier: MIT
#pragma once
/// A device for nsk::gpu on Vulkan 1.1, and the headless program around it. The first half of the class is what a
/// renderer writes; the second half it has already: buffers, textures, command lists, a queue.
#include <cstring>
#include <string>
#include <vector>

#include <netsuke/gpu.hpp>
#include <netsuke/gpu/generated/spirv.hpp>

#include "vulkan_functions.hpp"

class vulkan_device {
 public:
  struct buffer {
    VkBuffer handle{};
    VkDeviceMemory memory{};
    std::size_t bytes = 0;
    void* mapped = nullptr;  ///< null where the CPU does not see it
  };
  struct texture {
    VkImage image{};
    VkDeviceMemory memory{};
    VkImageView view{};
    std::uint32_t width = 0, height = 0;
  };
  using list = VkCommandBuffer;
  using pipeline = VkPipeline;
  using status = nsk::gpu::status;
  using code = nsk::gpu::status_code;

  // --- what a session asks for ---

  nsk::gpu::limits limits() const { return {properties.limits.maxStorageBufferRange}; }

  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& made) {
    return create_pipeline(key, find_spirv(key.kernel), made);
  }
  /// Makes a pipeline from other SPIR-V of the kernel.
  status create_pipeline(const nsk::gpu::pipeline_key& key, nsk::span<const std::uint32_t> words, pipeline& made) {
    VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    module_info.codeSize = words.size() * 4;
    module_info.pCode = words.data();
    VkShaderModule module;
    if (const VkResult r = vk.CreateShaderModule(m_device, &module_info, nullptr, &module)) return status_of(r);
    std::uint32_t value[nsk::gpu::specialization_count];
    VkSpecializationMapEntry entry[nsk::gpu::specialization_count];
    for (std::uint32_t i = 0; i < nsk::gpu::specialization_count; ++i) {
      value[i] = key.specialization[i];
      entry[i] = {i, i * 4, 4};
    }
    const VkSpecializationInfo specialization{nsk::gpu::specialization_count, entry, sizeof value, value};
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &specialization;
    info.layout = m_layout;
    const VkResult r = vk.CreateComputePipelines(m_device, VK_NULL_HANDLE, 1, &info, nullptr, &made);
    vk.DestroyShaderModule(m_device, module, nullptr);
    return r == VK_SUCCESS ? status() : status_of(r);
  }
  void destroy_pipeline(pipeline p) { vk.DestroyPipeline(m_device, p, nullptr); }

  /// Takes the next of the descriptor sets, which are made once: one that was bound `set_count` binds ago must not be
  /// in use any more. With VK_KHR_push_descriptor there is nothing to take. Drivers look at descriptors that no shader
  /// uses, so that a texture which is not there is one of a single texel.
  void bind(list& l, const nsk::gpu::bindings<vulkan_device>& b) {
    const VkDescriptorSet set = m_set[m_next_set++ % set_count];
    const VkDescriptorBufferInfo buffers[] = {{b.weights.handle, 0, VK_WHOLE_SIZE},
                                              {b.weights.handle, 0, VK_WHOLE_SIZE},
                                              {b.arena.handle, 0, VK_WHOLE_SIZE},
                                              {b.arena.handle, 0, VK_WHOLE_SIZE}};
    const VkDescriptorImageInfo read{m_sampler, b.read_texture.view ? b.read_texture.view : m_no_texture.view,
                                     VK_IMAGE_LAYOUT_GENERAL},
        written{VK_NULL_HANDLE, b.written_texture.view ? b.written_texture.view : m_no_texture.view,
                VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet write[3];
    const std::uint32_t first[] = {0, 4, 5}, count[] = {4, 1, 1};
    const VkDescriptorType type[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                     VK_DESCRIPTOR_TYPE_STORAGE_IMAGE};
    for (int i = 0; i < 3; ++i)
      write[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                  nullptr,
                  set,
                  first[i],
                  0,
                  count[i],
                  type[i],
                  i == 1 ? &read : &written,
                  buffers,
                  nullptr};
    vk.UpdateDescriptorSets(m_device, 3, write, 0, nullptr);
    vk.CmdBindDescriptorSets(l, VK_PIPELINE_BIND_POINT_COMPUTE, m_layout, 0, 1, &set, 0, nullptr);
  }

  void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    vk.CmdBindPipeline(l, VK_PIPELINE_BIND_POINT_COMPUTE, p);
    vk.CmdPushConstants(l, m_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, static_cast<std::uint32_t>(count) * 4, constants);
    vk.CmdDispatch(l, groups[0], groups[1], groups[2]);
  }

  void barrier(list& l) {
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkMemoryBarrier b{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                            VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                                VK_ACCESS_TRANSFER_WRITE_BIT};
    vk.CmdPipelineBarrier(l, stages, stages, 0, 1, &b, 0, nullptr, 0, nullptr);
  }

  void copy(list& l, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes) {
    const VkBufferCopy region{from_offset, to_offset, bytes};
    vk.CmdCopyBuffer(l, from.handle, to.handle, 1, &region);
  }

  // --- what nsk::gpu::checked_device asks for ---

  std::size_t bytes_of(const buffer& b) const { return b.bytes; }
  bool is_rgba8(const texture&) const { return true; }  // create_texture makes no others

  // --- what a renderer has already ---

  vulkan_device() = default;
  vulkan_device(const vulkan_device&) = delete;
  vulkan_device& operator=(const vulkan_device&) = delete;
  ~vulkan_device() { close(); }

  VkPhysicalDeviceProperties properties{};
  /// Returns the SPIR-V of a kernel. What another compiler made of shaders/ has the same interface.
  nsk::span<const std::uint32_t> (*find_spirv)(nsk::gpu::kernel) = nsk::gpu::spirv_of;
  std::vector<std::string> messages;  ///< of the validation layer

  /// Opens the first device that the loader names; with `validate`, under the validation layer. Returns what is
  /// missing.
  std::string open(bool validate = false);
  /// Destroys the device, after which it can only be destroyed itself. What it made has to be destroyed before.
  void close();
  const char* name() const { return properties.deviceName; }
  /// Whether the device is a program on the CPU, whose times say nothing about GPUs.
  bool is_software() const { return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }

  /// A buffer that shaders and copies use; `seen` says whether the CPU sees it (mapped).
  status create_buffer(std::size_t bytes, bool seen, buffer& made);
  void destroy(buffer& b);
  /// A texture of RGBA bytes that shaders read and write.
  status create_texture(std::uint32_t width, std::uint32_t height, texture& made);
  void destroy(texture& t);
  /// Copy between memory and buffers or textures at once: submit and wait.
  status write(buffer& to, std::size_t offset, const void* from, std::size_t bytes);
  status read(const buffer& from, std::size_t offset, void* to, std::size_t bytes);
  status write(texture& to, const void* rgba);
  status read(const texture& from, void* rgba);

  /// Opens the command list; submits it and waits until it is done. Between the two, sessions record.
  list& begin();
  status submit();
  /// Microseconds that the device took for the last list, where it can tell; 0 elsewhere.
  double microseconds() const { return m_microseconds; }

  static status status_of(VkResult r) {
    if (r == VK_SUCCESS) return {};
    if (r == VK_ERROR_OUT_OF_HOST_MEMORY || r == VK_ERROR_OUT_OF_DEVICE_MEMORY) return code::out_of_memory;
    return r == VK_ERROR_DEVICE_LOST ? code::device_lost : code::pipeline_refused;
  }

 private:
  static constexpr std::uint32_t set_count = 64;
  std::string create_instance(bool validate);
  std::string create_device();
  status create_layout();
  status allocate(const VkMemoryRequirements& r, bool seen, VkDeviceMemory& made);

  vulkan_functions vk{};
  VkInstance m_instance{};
  VkDebugUtilsMessengerEXT m_messenger{};
  VkPhysicalDevice m_physical{};
  VkPhysicalDeviceMemoryProperties m_memory{};
  VkDevice m_device{};
  VkQueue m_queue{};
  std::uint32_t m_family = 0;
  VkSampler m_sampler{};
  texture m_no_texture{};
  VkCommandPool m_pool{};
  VkCommandBuffer m_list{};
  VkQueryPool m_queries{};
  VkDescriptorSetLayout m_set_layout{};
  VkPipelineLayout m_layout{};
  VkDescriptorPool m_set_pool{};
  VkDescriptorSet m_set[set_count]{};
  std::uint32_t m_next_set = 0;
  double m_microseconds = 0;
};

#include "vulkan_host.hpp"
