// SPDX-License-Identifier: MIT
#pragma once
/// Direct3D 12 without linking it: d3d12.dll and dxgi.dll on Windows, vkd3d on Linux, opened when the program runs, so
/// that a program starts where there are none. The standard library comes first: vkd3d's headers define its words.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#if defined(__GNUC__) && !defined(WIDL_EXPLICIT_AGGREGATE_RETURNS)
#define WIDL_EXPLICIT_AGGREGATE_RETURNS  // methods that return structs, as Microsoft's compiler calls them
#endif
#if defined(_WIN32)
#include <windows.h>
#include <d3d12.h>
#include <d3dcompiler.h>
#include <dxgi1_4.h>
#else
#include <vkd3d_windows.h>
#include <vkd3d_d3d12.h>
#include <vkd3d.h>
#include <dlfcn.h>
#undef __uuidof
#define __uuidof(type) __vkd3d_uuidof<type>()
#endif

/// Releases an object that was made, and forgets it.
template <class T>
void release(T*& object) {
  if (object) object->Release();
  object = nullptr;
}

/// What comes from the libraries: null until loaded.
struct d3d12_functions {
  using serialize_function = HRESULT(WINAPI*)(const D3D12_ROOT_SIGNATURE_DESC*, D3D_ROOT_SIGNATURE_VERSION, ID3DBlob**,
                                              ID3DBlob**);
  PFN_D3D12_CREATE_DEVICE CreateDevice = nullptr;
  serialize_function SerializeRootSignature = nullptr;

  template <class F>
  static F cast(void* found) {
    return reinterpret_cast<F>(found);
  }

#if defined(_WIN32)
  using factory_function = HRESULT(WINAPI*)(REFIID, void**);
  factory_function CreateDXGIFactory1 = nullptr;

  static void* find(const char* library, const char* name) {
    const HMODULE opened = LoadLibraryA(library);
    return opened ? reinterpret_cast<void*>(GetProcAddress(opened, name)) : nullptr;
  }
  static bool is_wine() { return find("ntdll.dll", "wine_get_version") != nullptr; }
  /// Opens the libraries; false where this machine has none.
  bool load() {
    CreateDevice = cast<PFN_D3D12_CREATE_DEVICE>(find("d3d12.dll", "D3D12CreateDevice"));
    SerializeRootSignature = cast<serialize_function>(find("d3d12.dll", "D3D12SerializeRootSignature"));
    CreateDXGIFactory1 = cast<factory_function>(find("dxgi.dll", "CreateDXGIFactory1"));
    return CreateDevice && SerializeRootSignature && CreateDXGIFactory1;
  }
  /// Makes a device of the first adapter; false where there is none.
  bool create_device(ID3D12Device*& made, std::string& name, bool& software) const {
    IDXGIFactory1* factory = nullptr;
    IDXGIAdapter1* adapter = nullptr;
    DXGI_ADAPTER_DESC1 about{};
    bool done = SUCCEEDED(CreateDXGIFactory1(__uuidof(IDXGIFactory1), reinterpret_cast<void**>(&factory))) &&
                SUCCEEDED(factory->EnumAdapters1(0, &adapter)) && SUCCEEDED(adapter->GetDesc1(&about));
    done = done && SUCCEEDED(CreateDevice(adapter, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                                          reinterpret_cast<void**>(&made)));
    for (const WCHAR* c = about.Description; *c; ++c) name += *c < 128 ? static_cast<char>(*c) : '?';
    software = (about.Flags & DXGI_ADAPTER_FLAG_SOFTWARE) != 0;
    if (is_wine()) {
      // Wine gives the name of an adapter that it guesses: what computes is not known here, and may be the CPU.
      name = "an unknown device (Wine)";
      software = true;
    }
    release(adapter);
    release(factory);
    return done;
  }
  /// Waits until a fence has reached a value.
  static bool wait(ID3D12Fence* fence, std::uint64_t value) {
    const HANDLE event = CreateEventA(nullptr, FALSE, FALSE, nullptr);
    const bool done = event && SUCCEEDED(fence->SetEventOnCompletion(value, event)) &&
                      WaitForSingleObject(event, INFINITE) == WAIT_OBJECT_0;
    if (event) CloseHandle(event);
    return done;
  }
#else
  HANDLE (*create_event)() = nullptr;
  unsigned (*wait_event)(HANDLE, unsigned) = nullptr;
  void (*destroy_event)(HANDLE) = nullptr;

  static void* find(const char* library, const char* name) {
    void* const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    return opened ? dlsym(opened, name) : nullptr;
  }
  static bool is_wine() { return false; }
  bool load() {
    const char* const utils = "libvkd3d-utils.so.1";
    CreateDevice = cast<PFN_D3D12_CREATE_DEVICE>(find(utils, "D3D12CreateDevice"));
    SerializeRootSignature = cast<serialize_function>(find(utils, "D3D12SerializeRootSignature"));
    create_event = cast<decltype(create_event)>(find(utils, "vkd3d_create_event"));
    wait_event = cast<decltype(wait_event)>(find(utils, "vkd3d_wait_event"));
    destroy_event = cast<decltype(destroy_event)>(find(utils, "vkd3d_destroy_event"));
    return CreateDevice && SerializeRootSignature && create_event && wait_event && destroy_event;
  }
  bool create_device(ID3D12Device*& made, std::string& name, bool& software) const {
    if (FAILED(CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), reinterpret_cast<void**>(&made))))
      return false;
    const auto physical = cast<PFN_vkd3d_get_vk_physical_device>(find("libvkd3d.so.1", "vkd3d_get_vk_physical_device"));
    const auto properties =
        cast<PFN_vkGetPhysicalDeviceProperties>(find("libvulkan.so.1", "vkGetPhysicalDeviceProperties"));
    VkPhysicalDeviceProperties about{};
    if (physical && properties) properties(physical(made), &about);
    name = std::string(about.deviceName) + " (vkd3d)";
    software = about.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    return true;
  }
  bool wait(ID3D12Fence* fence, std::uint64_t value) const {
    const HANDLE event = create_event();
    const bool done = event && SUCCEEDED(fence->SetEventOnCompletion(value, event)) && wait_event(event, ~0u) == 0;
    if (event) destroy_event(event);
    return done;
  }
#endif
};
