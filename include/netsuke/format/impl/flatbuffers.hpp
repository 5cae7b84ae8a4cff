// SPDX-License-Identifier: MIT
#pragma once
/// What reading needs of FlatBuffers: versions 2.0.8 (the first one with these headers and Verifier::Options) to
/// 25.12.19 are tested, newer ones accepted.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/impl/flatbuffers_assert.hpp>
#include <flatbuffers/base.h>
#if FLATBUFFERS_VERSION_MAJOR < 2 || \
    (FLATBUFFERS_VERSION_MAJOR == 2 && FLATBUFFERS_VERSION_MINOR == 0 && FLATBUFFERS_VERSION_REVISION < 8)
// clang-format off
#error "netsuke: these FlatBuffers headers are too old. Put the include folder of version 2.0.8 or newer first on the include path."
// clang-format on
#endif
#include <flatbuffers/buffer.h>
#include <flatbuffers/string.h>
#include <flatbuffers/table.h>
#include <flatbuffers/vector.h>
#include <flatbuffers/verifier.h>
#include <netsuke/core/restore_macros.hpp>
