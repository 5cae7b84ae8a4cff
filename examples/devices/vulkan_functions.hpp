// SPDX-License-Identifier: MIT
#pragma once
/// Vulkan without linking it: the loader is opened when the program runs, so that a program starts where there is none.
#if defined(_WIN32)
#define VK_USE_PLATFORM_WIN32_KHR
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

// clang-format off
#define VULKAN_GLOBAL_FUNCTIONS(X) \
  X(CreateInstance) X(EnumerateInstanceLayerProperties)
#define VULKAN_INSTANCE_FUNCTIONS(X) \
  X(CreateDebugUtilsMessengerEXT) X(CreateDevice) X(DestroyDebugUtilsMessengerEXT) X(DestroyInstance) \
  X(EnumeratePhysicalDevices) X(GetDeviceProcAddr) X(GetPhysicalDeviceMemoryProperties) \
  X(GetPhysicalDeviceProperties) X(GetPhysicalDeviceQueueFamilyProperties)
#define VULKAN_DEVICE_FUNCTIONS(X) \
  X(AllocateCommandBuffers) X(AllocateDescriptorSets) X(AllocateMemory) X(BeginCommandBuffer) \
  X(BindBufferMemory) X(BindImageMemory) X(CmdBindDescriptorSets) X(CmdBindPipeline) X(CmdCopyBuffer) \
  X(CmdCopyBufferToImage) X(CmdCopyImageToBuffer) X(CmdDispatch) X(CmdPipelineBarrier) X(CmdPushConstants) \
  X(CmdResetQueryPool) X(CmdWriteTimestamp) X(CreateBuffer) X(CreateCommandPool) X(CreateComputePipelines) \
  X(CreateDescriptorPool) X(CreateDescriptorSetLayout) X(CreateFence) X(CreateImage) X(CreateImageView) \
  X(CreatePipelineLayout) X(CreateQueryPool) X(CreateSampler) X(CreateShaderModule) X(DestroyBuffer) \
  X(DestroyCommandPool) X(DestroyDescriptorPool) X(DestroyDescriptorSetLayout) X(DestroyDevice) X(DestroyFence) \
  X(DestroyImage) X(DestroyImageView) X(DestroyPipeline) X(DestroyPipelineLayout) X(DestroyQueryPool) \
  X(DestroySampler) X(DestroyShaderModule) X(DeviceWaitIdle) X(EndCommandBuffer) X(FreeMemory) \
  X(GetBufferMemoryRequirements) X(GetDeviceQueue) X(GetImageMemoryRequirements) X(GetQueryPoolResults) \
  X(MapMemory) X(QueueSubmit) X(QueueWaitIdle) X(ResetFences) X(UpdateDescriptorSets) X(WaitForFences)
// clang-format on

/// Every function by its name without `vk`; null until loaded.
struct vulkan_functions {
#define VULKAN_POINTER(name) PFN_vk##name name = nullptr;
  VULKAN_GLOBAL_FUNCTIONS(VULKAN_POINTER)
  VULKAN_INSTANCE_FUNCTIONS(VULKAN_POINTER)
  VULKAN_DEVICE_FUNCTIONS(VULKAN_POINTER)
#undef VULKAN_POINTER
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;

  /// Opens the loader; false where this machine has none.
  bool load() {
#if defined(_WIN32)
    const HMODULE library = LoadLibraryA("vulkan-1.dll");
    if (!library) return false;
    GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
        reinterpret_cast<void*>(GetProcAddress(library, "vkGetInstanceProcAddr")));
#else
    void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
#endif
    if (!GetInstanceProcAddr) return false;
#define VULKAN_LOAD(name) name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(nullptr, "vk" #name));
    VULKAN_GLOBAL_FUNCTIONS(VULKAN_LOAD)
#undef VULKAN_LOAD
    return CreateInstance != nullptr;
  }
  void load(VkInstance instance) {
#define VULKAN_LOAD(name) name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(instance, "vk" #name));
    VULKAN_INSTANCE_FUNCTIONS(VULKAN_LOAD)
#undef VULKAN_LOAD
  }
  void load(VkDevice device) {
#define VULKAN_LOAD(name) name = reinterpret_cast<PFN_vk##name>(GetDeviceProcAddr(device, "vk" #name));
    VULKAN_DEVICE_FUNCTIONS(VULKAN_LOAD)
#undef VULKAN_LOAD
  }
};
