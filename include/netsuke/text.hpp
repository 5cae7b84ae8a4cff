// SPDX-License-Identifier: MIT
#pragma once
/// Words for language models: text to ids and back, and the choice of the next id, all in blocks of the caller. Not
/// part of the umbrella netsuke.hpp, and independent of it: a program can have either without the other.
///
///     nsk::text::tokenizer words;                                          // of a file that nsk tokenizer wrote
///     if (nsk::status s = nsk::text::open(bytes, words); !s) { log(s.message()); return; }
///     auto sentence = words.encode("open the gate", ids, memory);          // ids for the network
///     auto next = nsk::text::sample(logits, how, so_far, memory);          // its answer, id by id
///     auto piece = stream.put(next.id(), to);                              // an nsk::text::stream_decoder
///
/// docs/guide/text.md is the long form of this comment.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/text/decoder.hpp>
#include <netsuke/text/sampling.hpp>
#include <netsuke/text/tokenizer.hpp>
#include <netsuke/core/restore_macros.hpp>
