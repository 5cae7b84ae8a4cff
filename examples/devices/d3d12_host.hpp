// SPDX-License-Identifier: MIT
#pragma once
/// The headless half of d3d12_device: device, memory, submission. A game has all of this already.
#include "d3d12.hpp"

/// One layout for every kernel: 32 constants (b0), weights twice (t0, t1), arena twice (u0, u1), and a table with the
/// texture that is read (t2) and the one that is written (u2): 41 of the 64 words that a root signature may have.
inline nsk::gpu::status d3d12_device::create_signature() {
  D3D12_DESCRIPTOR_RANGE range[2]{};
  range[0] = {D3D12_DESCRIPTOR_RANGE_TYPE_SRV, 1, 2, 0, 0};
  range[1] = {D3D12_DESCRIPTOR_RANGE_TYPE_UAV, 1, 2, 0, 1};
  D3D12_ROOT_PARAMETER parameter[6]{};
  parameter[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameter[0].Constants = {0, 0, 32};
  for (UINT i = 0; i < 4; ++i) {
    parameter[1 + i].ParameterType = i < 2 ? D3D12_ROOT_PARAMETER_TYPE_SRV : D3D12_ROOT_PARAMETER_TYPE_UAV;
    parameter[1 + i].Descriptor = {i % 2, 0};
  }
  parameter[5].ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
  parameter[5].DescriptorTable = {2, range};
  const D3D12_ROOT_SIGNATURE_DESC about{6, parameter, 0, nullptr, D3D12_ROOT_SIGNATURE_FLAG_NONE};
  ID3DBlob *blob = nullptr, *said = nullptr;
  status s = status_of(m_functions.SerializeRootSignature(&about, D3D_ROOT_SIGNATURE_VERSION_1, &blob, &said));
  if (s)
    s = create(m_signature, [&](REFIID id, void** to) {
      return m_device->CreateRootSignature(0, blob->GetBufferPointer(), blob->GetBufferSize(), id, to);
    });
  release(blob);
  release(said);
  return s;
}

inline std::string d3d12_device::open() {
  if (!m_functions.load()) return "there is no Direct3D 12 (d3d12.dll, libvkd3d-utils.so.1)";
  if (!m_functions.create_device(m_device, m_name, m_software)) return "Direct3D 12 has no device here";
  const auto type = D3D12_COMMAND_LIST_TYPE_DIRECT;
  D3D12_COMMAND_QUEUE_DESC queue{};
  D3D12_DESCRIPTOR_HEAP_DESC heap{};
  heap.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  heap.NumDescriptors = 2 * pair_count;
  heap.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
  D3D12_QUERY_HEAP_DESC queries{};
  queries.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
  queries.Count = 2;
  ID3D12Device* const d = m_device;
  const bool made =
      create(m_queue, [&](REFIID id, void** to) { return d->CreateCommandQueue(&queue, id, to); }) &&
      create(m_allocator, [&](REFIID id, void** to) { return d->CreateCommandAllocator(type, id, to); }) &&
      create(m_list.commands,
             [&](REFIID id, void** to) { return d->CreateCommandList(0, type, m_allocator, nullptr, id, to); }) &&
      create(m_fence, [&](REFIID id, void** to) { return d->CreateFence(0, D3D12_FENCE_FLAG_NONE, id, to); }) &&
      create(m_heap, [&](REFIID id, void** to) { return d->CreateDescriptorHeap(&heap, id, to); }) &&
      create(m_queries, [&](REFIID id, void** to) { return d->CreateQueryHeap(&queries, id, to); }) &&
      create_buffer(16, true, m_ticks) && create_signature();
  if (!made || FAILED(m_list.commands->Close())) return "the Direct3D 12 device is out of memory";
  m_descriptor_bytes = m_device->GetDescriptorHandleIncrementSize(heap.Type);
  return {};
}

inline void d3d12_device::close() {
  destroy(m_ticks);
  release(m_queries);
  release(m_heap);
  release(m_signature);
  release(m_fence);
  release(m_list.commands);
  release(m_allocator);
  release(m_queue);
  release(m_device);
}

inline void d3d12_device::write_descriptors(UINT first, const texture& read, const texture& written) {
  D3D12_CPU_DESCRIPTOR_HANDLE at = m_heap->GetCPUDescriptorHandleForHeapStart();
  at.ptr += SIZE_T{first} * m_descriptor_bytes;
  D3D12_SHADER_RESOURCE_VIEW_DESC seen{};
  seen.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  seen.ViewDimension = D3D12_SRV_DIMENSION_TEXTURE2D;
  seen.Shader4ComponentMapping = D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING;
  seen.Texture2D.MipLevels = 1;
  m_device->CreateShaderResourceView(read.resource, &seen, at);
  at.ptr += m_descriptor_bytes;
  D3D12_UNORDERED_ACCESS_VIEW_DESC stored{};
  stored.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  stored.ViewDimension = D3D12_UAV_DIMENSION_TEXTURE2D;
  m_device->CreateUnorderedAccessView(written.resource, nullptr, &stored, at);
}

/// Memory that the CPU sees is a custom heap: upload and read-back heaps cannot be written by shaders.
inline nsk::gpu::status d3d12_device::create_resource(const D3D12_RESOURCE_DESC& about, bool seen,
                                                      ID3D12Resource*& made) {
  D3D12_HEAP_PROPERTIES heap{};
  heap.Type = seen ? D3D12_HEAP_TYPE_CUSTOM : D3D12_HEAP_TYPE_DEFAULT;
  if (seen) heap.CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
  if (seen) heap.MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
  return create(made, [&](REFIID id, void** to) {
    return m_device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &about, D3D12_RESOURCE_STATE_COMMON, nullptr,
                                             id, to);
  });
}

inline nsk::gpu::status d3d12_device::create_buffer(std::size_t bytes, bool seen, buffer& made) {
  D3D12_RESOURCE_DESC about{};
  about.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  about.Width = made.bytes = bytes > 16 ? bytes : 16;
  about.Height = about.DepthOrArraySize = about.MipLevels = 1;
  about.SampleDesc.Count = 1;
  about.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  about.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  const status s = create_resource(about, seen, made.resource);
  return s && seen ? status_of(made.resource->Map(0, nullptr, &made.mapped)) : s;
}
inline void d3d12_device::destroy(buffer& b) {
  release(b.resource);
  b = {};
}

inline nsk::gpu::status d3d12_device::create_texture(std::uint32_t width, std::uint32_t height, texture& made) {
  D3D12_RESOURCE_DESC about{};
  about.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  about.Width = made.width = width;
  about.Height = made.height = height;
  about.DepthOrArraySize = about.MipLevels = 1;
  about.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  about.SampleDesc.Count = 1;
  about.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  return create_resource(about, false, made.resource);
}
inline void d3d12_device::destroy(texture& t) {
  release(t.resource);
  t = {};
}

inline d3d12_device::list& d3d12_device::begin() {
  m_allocator->Reset();
  m_list.commands->Reset(m_allocator, nullptr);
  m_list.uses.clear();
  m_list.commands->EndQuery(m_queries, D3D12_QUERY_TYPE_TIMESTAMP, 0);
  return m_list;
}
inline nsk::gpu::status d3d12_device::submit() {
  ID3D12GraphicsCommandList* const l = m_list.commands;
  for (const list::use& u : std::vector<list::use>(m_list.uses))
    change_state(m_list, u.resource, D3D12_RESOURCE_STATE_COMMON);
  change_state(m_list, m_ticks.resource, D3D12_RESOURCE_STATE_COPY_DEST);
  l->EndQuery(m_queries, D3D12_QUERY_TYPE_TIMESTAMP, 1);
  l->ResolveQueryData(m_queries, D3D12_QUERY_TYPE_TIMESTAMP, 0, 2, m_ticks.resource, 0);
  if (const HRESULT r = l->Close(); FAILED(r)) return status_of(r);
  ID3D12CommandList* const lists[] = {l};
  m_queue->ExecuteCommandLists(1, lists);
  if (const HRESULT r = m_queue->Signal(m_fence, ++m_submitted); FAILED(r)) return status_of(r);
  if (!m_functions.wait(m_fence, m_submitted)) return code::device_lost;
  std::uint64_t ticks[2] = {0, 0}, frequency = 0;
  std::memcpy(ticks, m_ticks.mapped, sizeof ticks);
  if (SUCCEEDED(m_queue->GetTimestampFrequency(&frequency)) && frequency != 0)
    m_microseconds = static_cast<double>(ticks[1] - ticks[0]) * 1e6 / static_cast<double>(frequency);
  return status_of(m_device->GetDeviceRemovedReason());
}

inline nsk::gpu::status d3d12_device::write(buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
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
inline nsk::gpu::status d3d12_device::read(const buffer& from, std::size_t offset, void* to, std::size_t bytes) {
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

/// A texture in a buffer: rows begin at multiples of 256 bytes.
inline D3D12_TEXTURE_COPY_LOCATION d3d12_device::rows_of(const texture& t, const buffer& staging) const {
  D3D12_TEXTURE_COPY_LOCATION l{};
  l.pResource = staging.resource;
  l.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  l.PlacedFootprint.Footprint = {DXGI_FORMAT_R8G8B8A8_UNORM, t.width, t.height, 1, (t.width * 4 + 255) / 256 * 256};
  return l;
}
inline nsk::gpu::status d3d12_device::write(texture& to, const void* rgba) {
  const std::size_t row = std::size_t{to.width} * 4, pitch = (row + 255) / 256 * 256;
  buffer staging;
  status s = create_buffer(pitch * to.height, true, staging);
  if (s) {
    for (std::uint32_t y = 0; y < to.height; ++y)
      std::memcpy(static_cast<char*>(staging.mapped) + y * pitch, static_cast<const char*>(rgba) + y * row, row);
    list& l = begin();
    change_state(l, staging.resource, D3D12_RESOURCE_STATE_COPY_SOURCE);
    change_state(l, to.resource, D3D12_RESOURCE_STATE_COPY_DEST);
    D3D12_TEXTURE_COPY_LOCATION target{};
    target.pResource = to.resource;
    target.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
    const D3D12_TEXTURE_COPY_LOCATION rows = rows_of(to, staging);
    l.commands->CopyTextureRegion(&target, 0, 0, 0, &rows, nullptr);
    s = submit();
  }
  destroy(staging);
  return s;
}
inline nsk::gpu::status d3d12_device::read(const texture& from, void* rgba) {
  const std::size_t row = std::size_t{from.width} * 4, pitch = (row + 255) / 256 * 256;
  buffer staging;
  status s = create_buffer(pitch * from.height, true, staging);
  if (s) {
    list& l = begin();
    change_state(l, from.resource, D3D12_RESOURCE_STATE_COPY_SOURCE);
    change_state(l, staging.resource, D3D12_RESOURCE_STATE_COPY_DEST);
    D3D12_TEXTURE_COPY_LOCATION source{};
    source.pResource = from.resource;
    source.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
    const D3D12_TEXTURE_COPY_LOCATION rows = rows_of(from, staging);
    l.commands->CopyTextureRegion(&rows, 0, 0, 0, &source, nullptr);
    s = submit();
  }
  for (std::uint32_t y = 0; s && y < from.height; ++y)
    std::memcpy(static_cast<char*>(rgba) + y * row, static_cast<const char*>(staging.mapped) + y * pitch, row);
  destroy(staging);
  return s;
}
