// SPDX-License-Identifier: MIT
#pragma once
/// Logs that a shipped game keeps: traces for ui.perfetto.dev, and a line of JSON with the times of the last runs, both
/// in blocks of the caller. Not part of the umbrella netsuke.hpp: a program without it carries nothing of it.
///
///     char text[65536];
///     nsk::trace_writer trace(text);                                   // or (text, sink): pieces of it to a sink
///     { nsk::trace_scope scope(trace, clock, nsk::trace_stage::input); write(net.input<float>("image")); }
///     save(trace.finish());
///
///     alignas(8) std::byte memory[nsk::run_log::required_bytes(256)];
///     nsk::run_log log({memory, sizeof memory});
///     log.slice(nanoseconds, net.run_for(nsk::microseconds{500}, clock)); // every frame
///     print(log.line(line));                                           // once a minute
///
/// docs/guide/logs.md is the long form of this comment.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/log/run_log.hpp>
#include <netsuke/log/trace_session.hpp>
#include <netsuke/log/trace_writer.hpp>
#include <netsuke/core/restore_macros.hpp>
