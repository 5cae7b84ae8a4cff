// SPDX-License-Identifier: MIT
#pragma once
/// The headless half of vulkan_device: instance, device, memory, submission. A game has all of this already.
#include "vulkan.hpp"

inline std::string vulkan_device::create_instance(bool validate) {
  VkApplicationInfo app{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  app.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &app;
  const char* const layer = "VK_LAYER_KHRONOS_validation";
  const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const VkValidationFeatureEnableEXT features[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  const VkValidationFeaturesEXT validation{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, nullptr, 1, features, 0, nullptr};
  VkDebugUtilsMessengerCreateInfoEXT messenger{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT, &validation};
  messenger.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  messenger.pUserData = &messages;
  messenger.pfnUserCallback = [](VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                 const VkDebugUtilsMessengerCallbackDataEXT* data, void* to) -> VkBool32 {
    static_cast<std::vector<std::string>*>(to)->push_back(data->pMessage);
    return VK_FALSE;
  };
  if (validate) {
    info.pNext = &messenger;
    info.enabledLayerCount = info.enabledExtensionCount = 1;
    info.ppEnabledLayerNames = &layer;
    info.ppEnabledExtensionNames = &extension;
  }
  const VkResult r = vk.CreateInstance(&info, nullptr, &m_instance);
  if (r == VK_ERROR_LAYER_NOT_PRESENT) return "the validation layer is not installed";
  if (r != VK_SUCCESS) return "Vulkan has no driver here";
  vk.load(m_instance);
  messenger.pNext = nullptr;
  if (validate) vk.CreateDebugUtilsMessengerEXT(m_instance, &messenger, nullptr, &m_messenger);
  return {};
}

inline std::string vulkan_device::create_device() {
  std::uint32_t count = 1;
  vk.EnumeratePhysicalDevices(m_instance, &count, &m_physical);
  if (count == 0 || !m_physical) return "Vulkan has no device here";
  vk.GetPhysicalDeviceProperties(m_physical, &properties);
  vk.GetPhysicalDeviceMemoryProperties(m_physical, &m_memory);
  std::uint32_t families = 0;
  vk.GetPhysicalDeviceQueueFamilyProperties(m_physical, &families, nullptr);
  std::vector<VkQueueFamilyProperties> family(families);
  vk.GetPhysicalDeviceQueueFamilyProperties(m_physical, &families, family.data());
  while (m_family < families && !(family[m_family].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++m_family;
  if (m_family == families) return "the Vulkan device has no compute queue";
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = m_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  if (vk.CreateDevice(m_physical, &info, nullptr, &m_device)) return "the Vulkan device cannot be opened";
  vk.load(m_device);
  vk.GetDeviceQueue(m_device, m_family, 0, &m_queue);
  return {};
}

inline nsk::gpu::status vulkan_device::create_layout() {
  VkDescriptorSetLayoutBinding binding[6];
  for (std::uint32_t i = 0; i < 6; ++i)
    binding[i] = {i,
                  i < 4    ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                  : i == 4 ? VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
                           : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                  1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set_info.bindingCount = 6;
  set_info.pBindings = binding;
  if (const VkResult r = vk.CreateDescriptorSetLayout(m_device, &set_info, nullptr, &m_set_layout)) return status_of(r);
  const VkPushConstantRange constants{VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &m_set_layout;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &constants;
  if (const VkResult r = vk.CreatePipelineLayout(m_device, &layout, nullptr, &m_layout)) return status_of(r);
  const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4 * set_count},
                                        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, set_count},
                                        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, set_count}};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = set_count;
  pool.poolSizeCount = 3;
  pool.pPoolSizes = sizes;
  if (const VkResult r = vk.CreateDescriptorPool(m_device, &pool, nullptr, &m_set_pool)) return status_of(r);
  VkDescriptorSetLayout layouts[set_count];
  for (VkDescriptorSetLayout& l : layouts) l = m_set_layout;
  VkDescriptorSetAllocateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  sets.descriptorPool = m_set_pool;
  sets.descriptorSetCount = set_count;
  sets.pSetLayouts = layouts;
  return status_of(vk.AllocateDescriptorSets(m_device, &sets, m_set));
}

inline std::string vulkan_device::open(bool validate) {
  if (!vk.load()) return "there is no Vulkan loader (libvulkan.so.1)";
  if (std::string missing = create_instance(validate); !missing.empty()) return missing;
  if (std::string missing = create_device(); !missing.empty()) return missing;
  if (!create_layout()) return "the Vulkan device refuses the binding layout";
  VkSamplerCreateInfo sampler{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = m_family;
  VkQueryPoolCreateInfo queries{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queries.queryCount = 2;
  if (vk.CreateSampler(m_device, &sampler, nullptr, &m_sampler) ||
      vk.CreateCommandPool(m_device, &pool, nullptr, &m_pool) ||
      vk.CreateQueryPool(m_device, &queries, nullptr, &m_queries))
    return "the Vulkan device is out of memory";
  VkCommandBufferAllocateInfo lists{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  lists.commandPool = m_pool;
  lists.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  lists.commandBufferCount = 1;
  if (vk.AllocateCommandBuffers(m_device, &lists, &m_list) || !create_texture(1, 1, m_no_texture))
    return "the Vulkan device is out of memory";
  return {};
}

inline void vulkan_device::close() {
  if (m_device) {
    vk.DeviceWaitIdle(m_device);
    destroy(m_no_texture);
    vk.DestroyQueryPool(m_device, m_queries, nullptr);
    vk.DestroySampler(m_device, m_sampler, nullptr);
    vk.DestroyCommandPool(m_device, m_pool, nullptr);
    vk.DestroyDescriptorPool(m_device, m_set_pool, nullptr);
    vk.DestroyPipelineLayout(m_device, m_layout, nullptr);
    vk.DestroyDescriptorSetLayout(m_device, m_set_layout, nullptr);
    vk.DestroyDevice(m_device, nullptr);
  }
  if (m_messenger) vk.DestroyDebugUtilsMessengerEXT(m_instance, m_messenger, nullptr);
  if (m_instance) vk.DestroyInstance(m_instance, nullptr);
  m_device = {};
  m_messenger = {};
  m_instance = {};
}

inline nsk::gpu::status vulkan_device::allocate(const VkMemoryRequirements& r, bool seen, VkDeviceMemory& made) {
  const VkMemoryPropertyFlags wanted = seen ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                                            : VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
  for (std::uint32_t i = 0; i < m_memory.memoryTypeCount; ++i) {
    if (!(r.memoryTypeBits >> i & 1) || (m_memory.memoryTypes[i].propertyFlags & wanted) != wanted) continue;
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, r.size, i};
    return status_of(vk.AllocateMemory(m_device, &info, nullptr, &made));
  }
  return code::out_of_memory;
}

inline nsk::gpu::status vulkan_device::create_buffer(std::size_t bytes, bool seen, buffer& made) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = made.bytes = bytes > 16 ? bytes : 16;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (const VkResult r = vk.CreateBuffer(m_device, &info, nullptr, &made.handle)) return status_of(r);
  VkMemoryRequirements needed;
  vk.GetBufferMemoryRequirements(m_device, made.handle, &needed);
  if (const status s = allocate(needed, seen, made.memory); !s) return s;
  if (const VkResult r = vk.BindBufferMemory(m_device, made.handle, made.memory, 0)) return status_of(r);
  return seen ? status_of(vk.MapMemory(m_device, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped)) : status();
}
inline void vulkan_device::destroy(buffer& b) {
  vk.DestroyBuffer(m_device, b.handle, nullptr);
  vk.FreeMemory(m_device, b.memory, nullptr);
  b = {};
}

inline nsk::gpu::status vulkan_device::create_texture(std::uint32_t width, std::uint32_t height, texture& made) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = VK_FORMAT_R8G8B8A8_UNORM;
  info.extent = {made.width = width, made.height = height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
               VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  if (const VkResult r = vk.CreateImage(m_device, &info, nullptr, &made.image)) return status_of(r);
  VkMemoryRequirements needed;
  vk.GetImageMemoryRequirements(m_device, made.image, &needed);
  if (const status s = allocate(needed, false, made.memory); !s) return s;
  if (const VkResult r = vk.BindImageMemory(m_device, made.image, made.memory, 0)) return status_of(r);
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = made.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = info.format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  if (const VkResult r = vk.CreateImageView(m_device, &view, nullptr, &made.view)) return status_of(r);
  VkImageMemoryBarrier to_general{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  to_general.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  to_general.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  to_general.srcQueueFamilyIndex = to_general.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  to_general.image = made.image;
  to_general.subresourceRange = view.subresourceRange;
  vk.CmdPipelineBarrier(begin(), VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                        VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, nullptr, 0,
                        nullptr, 1, &to_general);
  return submit();
}
inline void vulkan_device::destroy(texture& t) {
  vk.DestroyImageView(m_device, t.view, nullptr);
  vk.DestroyImage(m_device, t.image, nullptr);
  vk.FreeMemory(m_device, t.memory, nullptr);
  t = {};
}

inline VkCommandBuffer& vulkan_device::begin() {
  const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  vk.BeginCommandBuffer(m_list, &info);
  vk.CmdResetQueryPool(m_list, m_queries, 0, 2);
  vk.CmdWriteTimestamp(m_list, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, m_queries, 0);
  return m_list;
}
inline nsk::gpu::status vulkan_device::submit() {
  vk.CmdWriteTimestamp(m_list, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, m_queries, 1);
  const VkMemoryBarrier to_host{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT};
  vk.CmdPipelineBarrier(m_list, VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                        VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, nullptr, 0, nullptr);
  if (const VkResult r = vk.EndCommandBuffer(m_list)) return status_of(r);
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &m_list;
  if (const VkResult r = vk.QueueSubmit(m_queue, 1, &info, VK_NULL_HANDLE)) return status_of(r);
  if (const VkResult r = vk.QueueWaitIdle(m_queue)) return status_of(r);
  std::uint64_t ticks[2] = {0, 0};
  vk.GetQueryPoolResults(m_device, m_queries, 0, 2, sizeof ticks, ticks, 8, VK_QUERY_RESULT_64_BIT);
  m_microseconds =
      static_cast<double>(ticks[1] - ticks[0]) * static_cast<double>(properties.limits.timestampPeriod) / 1000;
  return {};
}

inline nsk::gpu::status vulkan_device::write(buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
  if (bytes == 0) return {};
  if (to.mapped) return std::memcpy(static_cast<char*>(to.mapped) + offset, from, bytes), status();
  buffer staging;
  status s = create_buffer(bytes, true, staging);
  if (s) {
    std::memcpy(staging.mapped, from, bytes);
    copy(begin(), staging, 0, to, offset, bytes);
    s = submit();
  }
  destroy(staging);
  return s;
}
inline nsk::gpu::status vulkan_device::read(const buffer& from, std::size_t offset, void* to, std::size_t bytes) {
  if (bytes == 0) return {};
  if (from.mapped) return std::memcpy(to, static_cast<const char*>(from.mapped) + offset, bytes), status();
  buffer staging;
  status s = create_buffer(bytes, true, staging);
  if (s) {
    copy(begin(), from, offset, staging, 0, bytes);
    s = submit();
  }
  if (s) std::memcpy(to, staging.mapped, bytes);
  destroy(staging);
  return s;
}
inline nsk::gpu::status vulkan_device::write(texture& to, const void* rgba) {
  const std::size_t bytes = std::size_t{to.width} * to.height * 4;
  buffer staging;
  status s = create_buffer(bytes, true, staging);
  if (s) {
    std::memcpy(staging.mapped, rgba, bytes);
    const VkBufferImageCopy region{0, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, {}, {to.width, to.height, 1}};
    vk.CmdCopyBufferToImage(begin(), staging.handle, to.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    s = submit();
  }
  destroy(staging);
  return s;
}
inline nsk::gpu::status vulkan_device::read(const texture& from, void* rgba) {
  const std::size_t bytes = std::size_t{from.width} * from.height * 4;
  buffer staging;
  status s = create_buffer(bytes, true, staging);
  if (s) {
    const VkBufferImageCopy region{0, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, {}, {from.width, from.height, 1}};
    vk.CmdCopyImageToBuffer(begin(), from.image, VK_IMAGE_LAYOUT_GENERAL, staging.handle, 1, &region);
    s = submit();
  }
  if (s) std::memcpy(rgba, staging.mapped, bytes);
  destroy(staging);
  return s;
}
