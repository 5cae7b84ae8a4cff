// SPDX-License-Identifier: MIT
// One text for every shader compiler. Exactly one of these is defined before it:
//   NSK_GLSL_VULKAN  GLSL 450 for SPIR-V (glslc)          NSK_HLSL_VULKAN  HLSL for SPIR-V (glslang, DXC)
//   NSK_GLSL         GLSL 430, NSK_ESSL  ESSL 310         NSK_HLSL         HLSL 5.0 for DXBC and DXIL
//   NSK_CPP          C++, after tests/gpu/shader_runtime.hpp
//
// Bindings, the same for every kernel (0/1 and 2/3 are one buffer each, seen as float4 and as 32-bit words):
//   0 W4, 1 W: the weights section   2 A4, 3 A: the arena   4 a texture that is read   5 a texture that is written
// A permutation is seven numbers: specialisation constants 0 to 6 for SPIR-V, macros of these names for all others:
//   FUNCTION  number of nsk::function in the epilogue     RESIDUAL  0 none, 1 before the function, 2 after it
//   INPUT4    inputs can be read as float4                OUTPUT4   output and residual can be touched as float4
//   MODE      what a kernel says of it                    WINDOW    constant window of a kernel, 0: any
//   HALVES    what is stored as 16-bit floats: bit 0 the (first) input, 1 the output, 2 the residual, 3 the second input,
//             4 the panels
//
// The subset: SM 5.0, scalars only in constants, no templates, no 16-bit types, no wave operations; a group has
// 64 x 1 x 1 threads and computes two-dimensional indices. FMA may round once or twice: never rely on its last bit.
#if defined(NSK_CPP)
#define BARRIER nsk_shader::wait_for_group()
#elif defined(NSK_HLSL) || defined(NSK_HLSL_VULKAN)
#if defined(NSK_HLSL_VULKAN)
#define BIND(number) [[vk::binding(number, 0)]]
#define UNORM
#define CONSTANTS(list) struct Constants { list }; [[vk::push_constant]] ConstantBuffer<Constants> pc;
[[vk::constant_id(0)]] const uint FUNCTION = 0;
[[vk::constant_id(1)]] const uint RESIDUAL = 0;
[[vk::constant_id(2)]] const uint INPUT4 = 0;
[[vk::constant_id(3)]] const uint MODE = 0;
[[vk::constant_id(4)]] const uint OUTPUT4 = 0;
[[vk::constant_id(5)]] const uint WINDOW = 0;
[[vk::constant_id(6)]] const uint HALVES = 0;
#else
// FXC warns of each loop with one round, and takes functions with two returns for unset (variables are errors still).
#pragma warning(disable : 3557 4000)
#define BIND(number)
#define UNORM unorm
#define CONSTANTS(list) struct Constants { list }; cbuffer ConstantsBlock : register(b0) { Constants pc; };
#endif
BIND(0) StructuredBuffer<float4> W4 : register(t0);
BIND(1) StructuredBuffer<uint> W : register(t1);
BIND(2) RWStructuredBuffer<float4> A4 : register(u0);
BIND(3) RWStructuredBuffer<uint> A : register(u1);
#define READ_TEXTURE(name) BIND(4) Texture2D<float4> name : register(t2);
#define FETCH(name, x, y) name.Load(int3(x, y, 0))
#define WRITE_TEXTURE(name) BIND(5) RWTexture2D<UNORM float4> name : register(u2);
#define STORE(name, x, y, color) name[uint2(x, y)] = color
#define KERNEL [numthreads(64, 1, 1)] void main(uint3 GROUP : SV_GroupID, uint3 LOCAL : SV_GroupThreadID)
#define GROUP_SHARED groupshared
#define BARRIER GroupMemoryBarrierWithGroupSync()
#define FMA(a, b, c) mad(a, b, c)
#define AS_FLOAT(x) asfloat(x)
#define AS_UINT(x) asuint(x)
#define AS_INT(x) asint(x)
#define ROUND_EVEN(x) round(x)
#define UNPACK_HALVES(x) float2(f16tof32(x), f16tof32((x) >> 16))
#define PACK_HALVES(x, y) (f32tof16(x) | f32tof16(y) << 16)
#else
#if defined(NSK_ESSL)
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp image2D;
#define FMA(a, b, c) ((a) * (b) + (c))
#else
#define FMA(a, b, c) fma(a, b, c)
#endif
#define float2 vec2
#define float4 vec4
#define uint2 uvec2
#define uint3 uvec3
#define uint4 uvec4
#define int2 ivec2
#if defined(NSK_GLSL_VULKAN)
#define BUFFER(number) layout(std430, set = 0, binding = number)
#define CONSTANTS(list) layout(push_constant) uniform Constants { list } pc;
#define READ_TEXTURE(name) layout(set = 0, binding = 4) uniform sampler2D name;
#define WRITE_TEXTURE(name) layout(set = 0, binding = 5, rgba8) writeonly uniform image2D name;
layout(constant_id = 0) const uint FUNCTION = 0u;
layout(constant_id = 1) const uint RESIDUAL = 0u;
layout(constant_id = 2) const uint INPUT4 = 0u;
layout(constant_id = 3) const uint MODE = 0u;
layout(constant_id = 4) const uint OUTPUT4 = 0u;
layout(constant_id = 5) const uint WINDOW = 0u;
layout(constant_id = 6) const uint HALVES = 0u;
#else
#define BUFFER(number) layout(std430, binding = number)
#define CONSTANTS(list) layout(std140, binding = 0) uniform Constants { list } pc;
#define READ_TEXTURE(name) layout(binding = 0) uniform sampler2D name;
#define WRITE_TEXTURE(name) layout(binding = 0, rgba8) writeonly uniform image2D name;
#endif
BUFFER(0) readonly buffer Weights4 { float4 W4[]; };
BUFFER(1) readonly buffer Weights { uint W[]; };
BUFFER(2) buffer Arena4 { float4 A4[]; };
BUFFER(3) buffer Arena { uint A[]; };
#define FETCH(name, x, y) texelFetch(name, int2(x, y), 0)
#define STORE(name, x, y, color) imageStore(name, int2(x, y), color)
#define KERNEL layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in; void main()
#define GROUP gl_WorkGroupID
#define LOCAL gl_LocalInvocationID
#define GROUP_SHARED shared
#if defined(NSK_GLSL_VULKAN)
#define BARRIER barrier()
#else
// Old texts of both languages let barrier() order the flow alone.
#define BARRIER memoryBarrierShared(); barrier()
#endif
#define AS_FLOAT(x) uintBitsToFloat(x)
#define AS_UINT(x) floatBitsToUint(x)
#define AS_INT(x) int(x)
#define ROUND_EVEN(x) roundEven(x)
#define UNPACK_HALVES(x) unpackHalf2x16(x)
#define PACK_HALVES(x, y) packHalf2x16(float2(x, y))
#endif
#define SPLAT(x) float4(x, x, x, x)
// Two numbers in one word.
#define ROWS(pair) ((pair) & 65535u)
#define COLUMNS(pair) ((pair) >> 16)
// The largest finite number, and what is beyond it.
#define LARGEST 3.402823466e38
#define INFINITE AS_FLOAT(0x7f800000u)
#define NOT_A_NUMBER AS_FLOAT(0x7fc00000u)
// Number of the thread in the whole dispatch, whose groups go on in y after 65535 in x.
#define THREAD (GROUP.x * 64u + LOCAL.x + GROUP.y * 4194240u)
// Number of the block of pixels of a dispatch whose x are channels: it goes on in z after 65535 in y.
#define BLOCK (GROUP.y + GROUP.z * 65535u)
