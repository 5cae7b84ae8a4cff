// SPDX-License-Identifier: MIT
#pragma once
/// netsuke: a neural network inside your program.
///
/// A file that `nsk convert` wrote is opened, given one block of your memory, and run on your threads:
///
///     nsk::model model;
///     if (nsk::status s = nsk::open(bytes, model); !s) { log(s.message()); return; }       // a view; copies nothing
///     std::byte* memory = my_aligned_alloc(nsk::arena_alignment, model.required_bytes());      // or static storage
///     nsk::session<nsk::all_settings> net(model, {memory, model.required_bytes()});            // netsuke/all_ops.hpp
///     if (!net) { log(net.status().message()); return; }
///     if (nsk::status s = net.write<float>("image", pixels); !s) { log(s.message()); return; }
///     net.run();
///     if (auto boxes = net.output<float>(0)) draw(boxes);
///
/// - *More threads*: `model.required_bytes(lanes)` bytes of memory, then `net.run(jobs, lanes)` with anything that has
///   `parallel_for(count, f)`.
/// - *Part of a frame*: `while (!net.run_for(nsk::microseconds{500}, clock)) next_frame();`, or, where every machine
/// must
///   stop at the same place, `net.run_for(nsk::work{1000000})`.
/// - *Your own scheduler*: `step_count()`, `tile_count(step)`, `run_tile(step, tile, lane)`, `finish()`.
/// - *Images*: `#include <netsuke/image.hpp>`, which is not included here, for framebuffers to inputs and back.
/// - *No copies*: `bind_input`, `bind_output`.
/// - *Recurrent networks*: `reset()`, `save(bytes)`, `load(bytes)`.
/// - *Hot reload*: `rebind(net, next_model, memory, snapshot)`.
/// - *Smaller programs*: `nsk::session<>` has the operators of float networks of convolutions and dense layers;
///   `nsk::session<my_settings>`, with the type that `nsk inspect --settings model.nsk` prints, those of one model. Put
///   it into one .cpp.
///
/// The bits of the results depend on the file and the inputs alone: not on the machine, the instruction set, the number
/// of lanes or the slices of time. Nothing allocates, locks or throws. Errors are `nsk::status`, which says cause and
/// cure, and writes both with the name of the step or port (`format`); mistakes of the caller reach NSK_ASSERT, and
/// what would go on to write through an input that is not there ends the program (NSK_STOP). Macros that change the
/// build are listed in config.hpp. docs/guide/embedding.md is the long form of this comment.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/config.hpp>
#include <netsuke/version.hpp>
#include <netsuke/core/bytes.hpp>
#include <netsuke/format/op.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/core/profile.hpp>
#include <netsuke/run/settings.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/model/open.hpp>
#include <netsuke/model/model.hpp>
#include <netsuke/run/session.hpp>
#include <netsuke/run/kernels.hpp>
#include <netsuke/run/rebind.hpp>
#include <netsuke/run/selftest.hpp>
#include <netsuke/core/restore_macros.hpp>
