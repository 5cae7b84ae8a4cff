// SPDX-License-Identifier: MIT
#pragma once
/// A permutation of a kernel becomes a blob (DXBC, cs_5_1) when the program runs. A game ships blobs instead:
/// tools/compile_hlsl.py makes them. On Windows d3dcompiler_47.dll does it; elsewhere the command in the environment
/// variable NSK_FXC, which takes the arguments of fxc.exe, and whose blobs are kept in the folder NSK_FXC_CACHE.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <netsuke/gpu.hpp>
#include <netsuke/gpu/generated/text.hpp>

#include "d3d12_functions.hpp"

namespace hlsl {

/// Returns the text of a permutation: its numbers as macros, then the kernel.
inline std::string text_of(const nsk::gpu::pipeline_key& key) {
  const nsk::gpu::kernel_text text = nsk::gpu::text_of(key.kernel);
  std::string s = "#define NSK_HLSL\n";
  for (int i = 0; i < nsk::gpu::specialization_count; ++i)
    s += std::string("#define ") + nsk::gpu::specialization_names[i] + " " + std::to_string(key.specialization[i]) +
         "u\n";
  s += "#define PIXELS " + std::to_string(text.pixels) + "\n";
  for (int i = 0; i < text.count; ++i) s += text.piece[i];
  return s;
}

/// Returns kernel and permutation in one word: "conv_2d_1_0_1_0_1_0_0".
inline std::string name_of(const nsk::gpu::pipeline_key& key) {
  std::string s = nsk::gpu::name_of(key.kernel);
  for (const std::uint8_t number : key.specialization) s += "_" + std::to_string(number);
  return s;
}

#if defined(_WIN32)

/// Returns why nothing can be compiled here; "" where it can.
inline std::string missing_compiler() {
  return d3d12_functions::find("d3dcompiler_47.dll", "D3DCompile") ? "" : "there is no d3dcompiler_47.dll";
}

/// Returns the blob, empty where the compiler refuses; what it says is added to `messages`.
inline std::vector<char> compile(const nsk::gpu::pipeline_key& key, std::vector<std::string>& messages) {
  const auto compile_text =
      d3d12_functions::cast<pD3DCompile>(d3d12_functions::find("d3dcompiler_47.dll", "D3DCompile"));
  if (!compile_text) return {};
  const std::string text = text_of(key), name = name_of(key);
  ID3DBlob *code = nullptr, *said = nullptr;
  compile_text(text.data(), text.size(), name.c_str(), nullptr, nullptr, "main", "cs_5_1",
               D3DCOMPILE_OPTIMIZATION_LEVEL3 | D3DCOMPILE_IEEE_STRICTNESS | D3DCOMPILE_WARNINGS_ARE_ERRORS, 0, &code,
               &said);
  std::vector<char> blob;
  if (code) {
    const char* const bytes = static_cast<const char*>(code->GetBufferPointer());
    blob.assign(bytes, bytes + code->GetBufferSize());
  }
  if (said) messages.push_back(name + ": " + static_cast<const char*>(said->GetBufferPointer()));
  release(code);
  release(said);
  return blob;
}

#else

inline std::string missing_compiler() {
  return std::getenv("NSK_FXC") ? "" : "there is no compiler of HLSL: set NSK_FXC (docs/reference/gpu_d3d12.md)";
}

/// Returns the bytes of a file, none where it cannot be read.
inline std::vector<char> bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns a blob of the folder, or makes it there. Files are named after their text, so none is too old.
inline std::vector<char> compile(const nsk::gpu::pipeline_key& key, std::vector<std::string>& messages) {
  const char* const command = std::getenv("NSK_FXC");
  const char* const cache = std::getenv("NSK_FXC_CACHE");
  if (!command) return {};
  const std::filesystem::path folder = cache ? cache : std::filesystem::temp_directory_path() / "nsk_fxc";
  const std::string text = text_of(key);
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  const std::string name = name_of(key) + "_" + std::to_string(hash);
  const std::filesystem::path blob = folder / (name + ".dxbc");
  std::error_code failed;
  if (!std::filesystem::exists(blob, failed)) {
    std::filesystem::create_directories(folder, failed);
    std::ofstream(folder / (name + ".hlsl"), std::ios::binary) << text;
    const std::string call = "cd '" + folder.string() + "' && " + command +
                             " /nologo /T cs_5_1 /E main /O3 /Gis /WX /Fo " + name + ".dxbc " + name + ".hlsl > " +
                             name + ".log 2>&1";
    if (std::system(call.c_str()) != 0) {
      const std::vector<char> said = bytes_of(folder / (name + ".log"));
      messages.push_back(name + ": " + std::string(said.begin(), said.end()));
      std::filesystem::remove(blob, failed);
    }
  }
  return bytes_of(blob);
}

#endif

}
