// SPDX-License-Identifier: MIT
#pragma once
// A tag counts how often a block of code has it.
#define LLM_DECLARE_TAG_API(name, api) extern api int llm_tag_##name
#define LLM_DEFINE_TAG(name) int llm_tag_##name = 0
#define LLM_SCOPE_BYTAG(name) ++llm_tag_##name
