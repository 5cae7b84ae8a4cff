// SPDX-License-Identifier: MIT
// Compiles HLSL to DXBC by d3dcompiler_47.dll, with the arguments of fxc.exe that our scripts use: for Wine, where
// there is no Windows SDK. tools/hlsl_compilers.py builds it.
//   nsk_fxc.exe [/nologo] [/O3] [/Gis] [/WX] [/E main] /T cs_5_1 /Fo OUT IN [/Fo OUT IN]...
// Exits with 2 where a text is refused.
#include <windows.h>
#include <d3dcompiler.h>
#include <cstdio>
#include <string>

namespace {

struct options {
  std::string profile, entry = "main", output;
  UINT flags = 0;
};

bool compile(pD3DCompile function, const options& o, const char* input) {
  std::FILE* const in = std::fopen(input, "rb");
  if (!in) return std::printf("%s: cannot be read\n", input), false;
  std::string text;
  char block[4096];
  for (std::size_t n; (n = std::fread(block, 1, sizeof block, in)) > 0;) text.append(block, n);
  std::fclose(in);
  ID3DBlob *code = nullptr, *said = nullptr;
  function(text.data(), text.size(), input, nullptr, nullptr, o.entry.c_str(), o.profile.c_str(), o.flags, 0, &code,
           &said);
  if (said) std::printf("%s\n", static_cast<const char*>(said->GetBufferPointer()));
  std::FILE* const out = code ? std::fopen(o.output.c_str(), "wb") : nullptr;
  const bool written =
      out && std::fwrite(code->GetBufferPointer(), 1, code->GetBufferSize(), out) == code->GetBufferSize();
  if (out && std::fclose(out) == 0 && written) return true;
  return std::printf("%s: not compiled\n", input), false;
}

}

int main(int count, char** arguments) {
  const HMODULE library = LoadLibraryA("d3dcompiler_47.dll");
  const auto function =
      library ? reinterpret_cast<pD3DCompile>(reinterpret_cast<void*>(GetProcAddress(library, "D3DCompile"))) : nullptr;
  if (!function) return std::printf("d3dcompiler_47.dll is missing: put it beside nsk_fxc.exe\n"), 1;
  options o;
  bool good = true;
  for (int i = 1; i < count; ++i) {
    const std::string a = arguments[i];
    const bool named = (a == "/T" || a == "/E" || a == "/Fo") && i + 1 < count;
    if (named)
      (a == "/T" ? o.profile : a == "/E" ? o.entry : o.output) = arguments[++i];
    else if (a == "/O3")
      o.flags |= D3DCOMPILE_OPTIMIZATION_LEVEL3;
    else if (a == "/Gis")
      o.flags |= D3DCOMPILE_IEEE_STRICTNESS;
    else if (a == "/WX")
      o.flags |= D3DCOMPILE_WARNINGS_ARE_ERRORS;
    else if (a != "/nologo")
      good = compile(function, o, arguments[i]) && good;
  }
  return good ? 0 : 2;
}
