// SPDX-License-Identifier: MIT
#pragma once
/// A device for nsk::gpu on Direct3D 12, and the headless program around it. The first half of the class is what a
/// renderer writes; the second half it has already: buffers, textures, command lists, a queue. On Linux it runs on
/// vkd3d.
#include "hlsl_compiler.hpp"

class d3d12_device {
 public:
  struct buffer {
    ID3D12Resource* resource = nullptr;
    std::size_t bytes = 0;
    void* mapped = nullptr;  ///< null where the CPU does not see it
  };
  struct texture {
    ID3D12Resource* resource = nullptr;
    std::uint32_t width = 0, height = 0;
  };
  /// A command list, and the states of resources in it: each is in the common state when a list begins and ends.
  struct list {
    struct use {
      ID3D12Resource* resource;
      D3D12_RESOURCE_STATES state;
    };
    ID3D12GraphicsCommandList* commands = nullptr;
    std::vector<use> uses;
    ID3D12Resource* arena = nullptr;  ///< of the last bind
  };
  using pipeline = ID3D12PipelineState*;
  using status = nsk::gpu::status;
  using code = nsk::gpu::status_code;

  // --- what a session asks for ---

  nsk::gpu::limits limits() const { return {}; }

  /// Direct3D has no specialisation constants: each permutation is a blob of its own, made when the game is built, or
  /// compiled now where `find_blob` is null or finds nothing.
  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& made) {
    // Wine 8.0 drops descriptor tables: textures would be empty.
    const bool textured =
        key.kernel == nsk::gpu::kernel::texture_to_tensor || key.kernel == nsk::gpu::kernel::tensor_to_texture;
    if (textured && d3d12_functions::is_wine()) return code::pipeline_refused;
    nsk::span<const unsigned char> blob;
    if (find_blob) blob = find_blob(key);
    std::vector<char> compiled;
    if (blob.empty()) compiled = hlsl::compile(key, messages);
    if (blob.empty() && compiled.empty()) return code::pipeline_refused;
    D3D12_COMPUTE_PIPELINE_STATE_DESC about{};
    about.pRootSignature = m_signature;
    about.CS = {blob.empty() ? static_cast<const void*>(compiled.data()) : blob.data(), blob.size() + compiled.size()};
    return create(made, [&](REFIID id, void** to) { return m_device->CreateComputePipelineState(&about, id, to); });
  }
  void destroy_pipeline(pipeline p) { p->Release(); }

  /// Sets root signature and descriptor heap, which a renderer sets to its own again after us. Takes the next pair of
  /// descriptors of that heap: one that was bound `pair_count` binds ago must not be in use any more. A texture that is
  /// not there has a null descriptor.
  void bind(list& l, const nsk::gpu::bindings<d3d12_device>& b) {
    const auto state_read = D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE;
    const auto state_written = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
    change_state(l, b.weights.resource, state_read);
    change_state(l, l.arena = b.arena.resource, state_written);
    change_state(l, b.read_texture.resource, state_read);
    change_state(l, b.written_texture.resource, state_written);
    const UINT first = m_next_pair++ % pair_count * 2;
    write_descriptors(first, b.read_texture, b.written_texture);
    D3D12_GPU_DESCRIPTOR_HANDLE table = m_heap->GetGPUDescriptorHandleForHeapStart();
    table.ptr += UINT64{first} * m_descriptor_bytes;
    l.commands->SetDescriptorHeaps(1, &m_heap);
    l.commands->SetComputeRootSignature(m_signature);
    const D3D12_GPU_VIRTUAL_ADDRESS weights = b.weights.resource->GetGPUVirtualAddress(),
                                    arena = b.arena.resource->GetGPUVirtualAddress();
    l.commands->SetComputeRootShaderResourceView(1, weights);
    l.commands->SetComputeRootShaderResourceView(2, weights);
    l.commands->SetComputeRootUnorderedAccessView(3, arena);
    l.commands->SetComputeRootUnorderedAccessView(4, arena);
    l.commands->SetComputeRootDescriptorTable(5, table);
  }

  void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    change_state(l, l.arena, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    l.commands->SetPipelineState(p);
    l.commands->SetComputeRoot32BitConstants(0, static_cast<UINT>(count), constants, 0);
    l.commands->Dispatch(groups[0], groups[1], groups[2]);
  }

  /// Unordered accesses of all resources are ordered by one barrier, copies by the change of state that follows them.
  void barrier(list& l) {
    D3D12_RESOURCE_BARRIER b{};
    b.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    l.commands->ResourceBarrier(1, &b);
    for (const typename list::use& u : std::vector<typename list::use>(l.uses)) {
      if (u.state == D3D12_RESOURCE_STATE_COPY_SOURCE || u.state == D3D12_RESOURCE_STATE_COPY_DEST)
        change_state(l, u.resource, D3D12_RESOURCE_STATE_COMMON);
    }
  }

  /// Between two buffers: Direct3D has no state in which one is read and written by a copy.
  void copy(list& l, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes) {
    change_state(l, from.resource, D3D12_RESOURCE_STATE_COPY_SOURCE);
    change_state(l, to.resource, D3D12_RESOURCE_STATE_COPY_DEST);
    l.commands->CopyBufferRegion(to.resource, to_offset, from.resource, from_offset, bytes);
  }

  // --- what a renderer has already ---

  d3d12_device() = default;
  d3d12_device(const d3d12_device&) = delete;
  d3d12_device& operator=(const d3d12_device&) = delete;
  ~d3d12_device() { close(); }

  /// Returns the blob of a permutation: `dxbc_of` or `dxil_of` of a header that tools/compile_hlsl.py wrote.
  using blob_finder = nsk::span<const unsigned char> (*)(const nsk::gpu::pipeline_key&);
  blob_finder find_blob = nullptr;
  std::vector<std::string> messages;  ///< of the compiler

  /// Opens the first adapter. Returns what is missing.
  std::string open();
  const char* name() const { return m_name.c_str(); }
  /// Whether the device is a program on the CPU, whose times say nothing about GPUs.
  bool is_software() const { return m_software; }

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

 private:
  static constexpr UINT pair_count = 64;
  void close();
  status create_signature();
  void write_descriptors(UINT first, const texture& read, const texture& written);
  status create_resource(const D3D12_RESOURCE_DESC& about, bool seen, ID3D12Resource*& made);
  D3D12_TEXTURE_COPY_LOCATION rows_of(const texture& t, const buffer& staging) const;

  /// Calls a method that makes an object of the type of `made`.
  template <class T, class Method>
  status create(T*& made, Method&& method) {
    void* object = nullptr;
    const HRESULT r = method(__uuidof(T), &object);
    if (SUCCEEDED(r)) made = static_cast<T*>(object);
    return status_of(r);
  }
  status status_of(HRESULT r) const {
    if (SUCCEEDED(r)) return {};
    if (m_device && FAILED(m_device->GetDeviceRemovedReason())) return code::device_lost;
    return r == E_OUTOFMEMORY ? code::out_of_memory : code::pipeline_refused;
  }
  static void change_state(list& l, ID3D12Resource* r, D3D12_RESOURCE_STATES state) {
    if (!r) return;
    std::size_t i = 0;
    while (i < l.uses.size() && l.uses[i].resource != r) ++i;
    if (i == l.uses.size()) l.uses.push_back({r, D3D12_RESOURCE_STATE_COMMON});
    if (l.uses[i].state == state) return;
    D3D12_RESOURCE_BARRIER b{};
    b.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
    b.Transition.pResource = r;
    b.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
    b.Transition.StateBefore = l.uses[i].state;
    b.Transition.StateAfter = l.uses[i].state = state;
    l.commands->ResourceBarrier(1, &b);
  }

  d3d12_functions m_functions{};
  std::string m_name;
  bool m_software = false;
  ID3D12Device* m_device = nullptr;
  ID3D12CommandQueue* m_queue = nullptr;
  ID3D12CommandAllocator* m_allocator = nullptr;
  list m_list;
  ID3D12Fence* m_fence = nullptr;
  std::uint64_t m_submitted = 0;
  ID3D12RootSignature* m_signature = nullptr;
  ID3D12DescriptorHeap* m_heap = nullptr;
  UINT m_descriptor_bytes = 0, m_next_pair = 0;
  ID3D12QueryHeap* m_queries = nullptr;
  buffer m_ticks{};
  double m_microseconds = 0;
};

#include "d3d12_host.hpp"
