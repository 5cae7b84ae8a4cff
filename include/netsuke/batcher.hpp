// SPDX-License-Identifier: MIT
#pragma once
/// One run for many callers: rows that any number of threads hand in become the batch of one inference per frame. Not
/// part of the umbrella netsuke.hpp: include it where agents ask.
///
///     const nsk::batcher_options how{1000, 256};                         // agents, slots for rows that wait
///     std::byte* memory = my_aligned_alloc(nsk::arena_alignment, nsk::batcher::required_bytes(model, how));
///     nsk::batcher crowd(model, how, {memory, nsk::batcher::required_bytes(model, how)});
///     if (!crowd) log(crowd.status().message());
///
///     nsk::batch_row row;                                                // any thread, for agent 17
///     if (nsk::status s = crowd.ask(17, row); !s) return s;              // queue_full: in the next frame
///     if (nsk::status s = row.write<float>("obs_0", seen); !s) return s;
///     crowd.submit(row);
///
///     crowd.run(net);                                                    // one thread, once per frame
///     if (crowd.answered(17)) return crowd.read<float>(17, "actions", todo);  // the agent, until it asks again
///
/// docs/guide/batcher.md says what is promised about order, fairness, waiting and recurrent states.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/run/batcher.hpp>
#include <netsuke/core/restore_macros.hpp>
