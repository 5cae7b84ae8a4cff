/* SPDX-License-Identifier: MIT */
#ifndef NETSUKE_CORE_STATUS_LIST_H
#define NETSUKE_CORE_STATUS_LIST_H
/*
 * Every status, of the engine, of the GPU path and of the C interface: this list is their only one. C99 and C++.
 *
 * NSK_STATUS_PLACE_LIST, X(place, text): what the number of a status counts.
 * NSK_STATUS_LIST, X(code, place, text): a code has one cause, and its text says the cause, then the cure. Codes are
 * append-only: their numbers are those of nsk_status_code.
 */
/* clang-format off */
#define NSK_STATUS_PLACE_LIST(X)                                                                                      \
  X(none, "none") X(step, "step") X(tensor, "tensor") X(buffer, "buffer") X(port, "port") X(input, "input")           \
  X(output, "output") X(state, "state") X(variant, "variant") X(check_vector, "check vector") X(part, "part")         \
  X(recurrent_state, "recurrent state") X(agent, "agent") X(rows, "rows") X(pipeline, "pipeline")                     \
  X(dispatch, "dispatch") X(argument, "argument")

#define NSK_STATUS_LIST(X)                                                                                            \
  X(ok, none, "no error")                                                                                             \
  X(not_open, none, "no model is open: call nsk::open and check its status before making a session")                  \
  X(too_short, none, "the bytes end before the file does: the file is truncated, or not all of it was read")          \
  X(misaligned_bytes, none, "the file's bytes must start at an address that is a multiple of 16: copy them there")    \
  X(bad_magic, none, "this is not a .nsk file: convert the model with `nsk convert`")                                 \
  X(wrong_version, none,                                                                                              \
    "the file has another format version than this engine: convert the model again with the matching tool")           \
  X(bad_header, none, "the file header contradicts itself: the file is damaged, convert the model again")             \
  X(wrong_hash, none, "the content does not match its hash: the file is damaged, copy or convert it again")           \
  X(bad_structure, none, "the table is not well formed: the file is damaged, convert the model again")                \
  X(too_complex, step,                                                                                                \
    "verifying the file takes longer than its size allows, because its tables share lists or its steps are "          \
    "entangled: convert the model again, or split it")                                                                \
  X(bad_variant, variant, "the model has no such variant: use a number below variant_count()")                        \
  X(bad_buffer, buffer,                                                                                               \
    "a buffer is outside its memory, is misaligned, or has an impossible lifetime: the file is damaged, "             \
    "convert the model again")                                                                                        \
  X(bad_tensor, tensor,                                                                                               \
    "a tensor's rank, type, shape, strides or border are impossible: the file is damaged, convert the model "         \
    "again")                                                                                                          \
  X(tensor_outside_buffer, tensor,                                                                                    \
    "a tensor reaches outside its buffer: the file is damaged, convert the model again")                              \
  X(buffers_overlap, buffer,                                                                                          \
    "two arena buffers that live at the same time overlap: the file is damaged, convert the model again")             \
  X(bad_port, port,                                                                                                   \
    "a model input or output is not a dense tensor in its own buffer, or its description contradicts it: the "        \
    "file is damaged, convert the model again")                                                                       \
  X(bad_state, state,                                                                                                 \
    "a state's tensors differ in type or shape, are not dense, or do not live through the run: the file is "          \
    "damaged, convert the model again")                                                                               \
  X(bad_check, check_vector,                                                                                          \
    "a check vector does not have one block of the right size per input and output: the file is damaged, "            \
    "convert the model again")                                                                                        \
  X(unknown_op, step, "a step has an operator that this engine does not know: use a newer engine")                    \
  X(bad_index, step, "a step names a tensor that does not exist: the file is damaged, convert the model again")       \
  X(bad_arity, step,                                                                                                  \
    "a step has the wrong number of inputs or outputs for its operator: the file is damaged, convert the "            \
    "model again")                                                                                                    \
  X(bad_step, step,                                                                                                   \
    "a step's shapes, types or parameters contradict its operator: the file is damaged, convert the model "           \
    "again")                                                                                                          \
  X(bad_weights, step,                                                                                                \
    "packed weights are missing, too small or arranged for another operator: the file is damaged, convert the "       \
    "model again")                                                                                                    \
  X(bad_tile, step,                                                                                                   \
    "a step's tiles do not cut its output as the format says: the file is damaged, convert the model again")          \
  X(bad_scratch, step,                                                                                                \
    "a step needs more lane scratch than the file gives it: the file is damaged, convert the model again")            \
  X(dead_buffer, step, "a step uses a buffer outside its lifetime: the file is damaged, convert the model again")     \
  X(read_before_write, step,                                                                                          \
    "a step reads elements that no earlier step has written: the file is damaged, convert the model again")           \
  X(bad_overlap, step,                                                                                                \
    "a step writes elements that belong to another tensor, or that it still reads: the file is damaged, "             \
    "convert the model again")                                                                                        \
  X(read_only, step, "a step writes a constant or a model input: the file is damaged, convert the model again")       \
  X(unsupported_op, step,                                                                                             \
    "the settings type does not list the step's operator: use nsk::all_settings (netsuke/all_ops.hpp), or the "       \
    "type that `nsk inspect --settings` prints")                                                                      \
  X(unsupported_function, step,                                                                                       \
    "the settings type does not list the step's activation: add it to `functions`, use nsk::all_settings "            \
    "(netsuke/all_ops.hpp), or the type that `nsk inspect --settings` prints")                                        \
  X(misaligned_memory, port,                                                                                          \
    "the memory must start at a multiple of nsk::arena_alignment (64); a block that is bound, of its element "        \
    "size; that of a GPU plan or session, of 8")                                                                      \
  X(too_little_memory, none,                                                                                          \
    "the memory is smaller than it has to be: ask required_bytes() of what takes it (the model for a session)")       \
  X(no_such_port, port, "the model has no input or output of that name or number: `nsk inspect` lists them")          \
  X(wrong_type, port, "the element type differs from the port's: ask port_view::type()")                              \
  X(wrong_size, port,                                                                                                 \
    "the block has the wrong size: ask port_view::bytes() (of a batch, those of its rows; a block that is "           \
    "bound needs over_read bytes more where it is read), session::state_bytes() or batcher::row_bytes()")             \
  X(not_bindable, port,                                                                                               \
    "only the first settings::bindable_ports inputs and outputs can be bound: copy through write() or read()")        \
  X(no_check_vectors, none, "the file carries no check vectors: convert it with --embed-check")                       \
  X(check_failed, output,                                                                                             \
    "an output differs from the recorded one: this build, machine or device does not compute what the "               \
    "converter did; run another build, or on the CPU, and report it")                                                 \
  X(other_ports, port,                                                                                                \
    "inputs, outputs, states or recurrent states differ from those that the model, the batcher or a recurrent "       \
    "pair has: open another session")                                                                                 \
  X(bad_batch, step,                                                                                                  \
    "the rows of a batch do not fit a tensor, or a step does not keep them apart: the file is damaged, "              \
    "convert it again")                                                                                               \
  X(memory_unreachable, none,                                                                                         \
    "the model needs more memory than 32-bit pointers can address: convert it for a smaller input or batch")          \
  X(unknown_feature, none,                                                                                            \
    "the file needs an addition to the format that this engine does not know: use a newer engine")                    \
  X(queue_full, agent, "all slots of the batcher are taken: ask again after its next run, or give it more slots")     \
  X(already_waiting, agent, "this agent has asked already and has no answer yet: ask again when it is answered")      \
  X(not_prepared, none,                                                                                               \
    "the file is a small one (nsk convert --small): expand it with nsk::prepare (netsuke/prepare.hpp) before "        \
    "it is opened")                                                                                                   \
  X(bad_part, part,                                                                                                   \
    "a part of a small file contradicts itself or what it stores: the file is damaged, convert it again")             \
  X(bad_border, tensor,                                                                                               \
    "a tensor has a border, but is no float32 image whose channels are neighbours in memory: the file is "            \
    "damaged, convert the model again")                                                                               \
  X(bad_rows, step,                                                                                                   \
    "a step reads rows of a batch from where runs of fewer rows have not written them: the file is damaged, "         \
    "convert the model again")                                                                                        \
  X(bad_sums, step,                                                                                                   \
    "a layer of stored integers has a scale that is no number, or sums beyond 32 bits: the file is damaged, "         \
    "convert or quantize the model again")                                                                            \
  X(unsupported_kind, step,                                                                                           \
    "the settings type does not list the step's kind of reduction or pooling: add it to `reduce_kinds` or "           \
    "`pool_kinds`, or use the type that `nsk inspect --settings` prints")                                             \
  X(unsupported_winograd, step,                                                                                       \
    "the settings type says `winograd = false`, and the step is a convolution by Winograd's algorithm: set it "       \
    "to true, or convert with --no-winograd")                                                                         \
  X(unsupported_half_weights, step,                                                                                   \
    "the step's weights are float16, and the settings type does not take them: set `half_weights = true`, use "       \
    "nsk::all_settings, or convert without --weights fp16")                                                           \
  X(unsupported_int8_weights, step,                                                                                   \
    "the step's weights are int8 with scales, and the settings type does not take them: set `int8_weights = "         \
    "true`, use nsk::all_settings, or convert without --weights w8")                                                  \
  X(unsupported_bytes, step,                                                                                          \
    "the step pools or resizes bytes, and the settings type lists no operator of quantised models: use the "          \
    "type that `nsk inspect --settings` prints, or nsk::all_settings")                                                \
  X(unsupported_unsafe_quads, step,                                                                                   \
    "the step's int8 weights are not pair-safe, and the settings type says `unsafe_quads = false`: set it to "        \
    "true, or quantise with `nsk quantize`")                                                                          \
  X(unsupported_weight_offset, step,                                                                                  \
    "the step's int8 weights have an offset, and the settings type says `weight_offsets = false`: set it to "         \
    "true, or quantise with `nsk quantize`")                                                                          \
  X(is_bound, input, "the input reads a block that is bound to it: write there, or unbind it with an empty block")    \
  X(rows_out_of_range, rows,                                                                                          \
    "the variant computes 1 to variant_view::batch() rows (`nsk convert --batch-max`), and `where` is another "       \
    "number; 0 in plan_settings::rows means all")                                                                     \
  X(no_rows, none,                                                                                                    \
    "a batcher needs a variant with a batch (`nsk convert --batch-max`) and without states (`--no-states`), "         \
    "and one agent and one slot at least")                                                                            \
  X(not_of_a_row, port,                                                                                               \
    "the port is no part of a row: write recurrent states through batcher::recurrent_states(), inputs and "           \
    "outputs without rows in the session")                                                                            \
  X(no_such_slot, none,                                                                                               \
    "the row has no slot in a batcher: batcher::ask() gives it one, and its status says whether it did")              \
  X(wrong_weights_file, none,                                                                                         \
    "the file of weights is not the one that `nsk codegen` wrote beside this header, or it is cut or "                \
    "misaligned: generate both again")                                                                                \
  X(no_such_agent, agent, "the batcher has no such agent: numbers are 0 to batcher_options::agents - 1")              \
  X(not_ready, none, "the plan or the session was not made: check the status that making it returned")                \
  X(no_shader, step,                                                                                                  \
    "a step has no shader: `nsk inspect --gpu` says which and why; allow a hybrid plan "                              \
    "(plan_settings::hybrid) or run the model on the CPU")                                                            \
  X(too_many_pipelines, none, "the model needs more than 256 different pipelines: split it")                          \
  X(too_large, none,                                                                                                  \
    "weights or arena are larger than the device can bind (limits::max_binding_bytes): split the model, or "          \
    "run it on the CPU")                                                                                              \
  X(pipeline_refused, pipeline,                                                                                       \
    "the driver refused a pipeline: run the model on the CPU, and report the driver's version with the "              \
    "pipeline's name")                                                                                                \
  X(out_of_memory, none, "the device has too little memory: free some and make the session again, or run on the CPU") \
  X(device_lost, none, "the device was lost: make device and session again, or run on the CPU")                       \
  X(not_an_image, port,                                                                                               \
    "the port is no dense float32 image [1, H, W, C] with as many channels as the settings' order names")             \
  X(no_texture_pipeline, port, "the plan was made without texture inputs or outputs: set them in plan_settings")      \
  X(bad_range, dispatch, "dispatches or bytes outside the plan, the port or the buffer")                              \
  X(misaligned_offset, port, "offsets and sizes of copies must be multiples of 4: round them up")                     \
  X(device_broken_rule, dispatch, "a rule of the device was broken: checked_device::violation_text() says which")     \
  X(alpha_not_kept, output,                                                                                           \
    "a texture is written whole: set tensor_settings::alpha to opaque, or give the tensor an alpha")                  \
  X(hybrid_plan, none,                                                                                                \
    "the plan has parts on the CPU: record it by parts (session::record_part), with run_cpu between them")            \
  X(no_free_slot, none,                                                                                               \
    "every slot of the ring waits for the device, or holds what is being read: give it more slots, or tell it "       \
    "what is complete")                                                                                               \
  X(bad_gpu_buffer, none, "a buffer of the caller is missing, or smaller than the plan or the session says")          \
  X(bad_lengths, tensor,                                                                                              \
    "the lengths of a variant, or the numbers of a tensor that follow them, contradict each other or grow past "      \
    "their bounds: the file is damaged, convert the model again")                                                     \
  X(no_such_length, none,                                                                                             \
    "the variant has no length of that name: `nsk inspect` lists them, `nsk convert --bound` makes them")             \
  X(length_out_of_range, none,                                                                                        \
    "`where` is below the minimum of the length, above its bound or no multiple of its step: ask length_view")        \
  X(unsupported_lengths, none,                                                                                        \
    "the file has lengths, and the settings type says `lengths = false`: set it to true, use the type that `nsk "     \
    "inspect --settings` prints, or convert without --bound")                                                         \
  X(not_a_tokenizer, none,                                                                                            \
    "this is no .nskt file: make one with `nsk tokenizer`")                                                           \
  X(wrong_tokenizer_version, none,                                                                                    \
    "the tokenizer has another format version than this engine: make it again with the matching tool")                \
  X(bad_tokenizer, none,                                                                                              \
    "the tokenizer's tables contradict each other: the file is damaged, make it again with `nsk tokenizer`")          \
  X(no_tokenizer, none,                                                                                               \
    "no tokenizer is open: call nsk::text::open and check its status first")                                          \
  X(text_memory_too_small, none,                                                                                      \
    "the text needs more memory than it was given: tokenizer::memory_bytes() is enough for any text of its "          \
    "length")                                                                                                         \
  X(too_many_ids, none,                                                                                               \
    "the text has more ids than there is place for: give a longer range, or a shorter text")                          \
  X(text_too_complex, none,                                                                                           \
    "a pattern of the tokenizer takes longer than a text of this length may: cut the text, or make the "              \
    "tokenizer of a source that you trust")                                                                           \
  X(no_such_token, none,                                                                                              \
    "the tokenizer has no such id: ids are below tokenizer::token_count()")                                           \
  X(no_allowed_token, none,                                                                                           \
    "no token is allowed, or no logit of an allowed token is a number: allow one, and check the network's "           \
    "output")

/* X(code, number, place, text): statuses that the C interface alone has. */
#define NSK_C_STATUS_LIST(X)                                                                                          \
  X(bad_handle, 1000, none,                                                                                           \
    "the handle is null, closed, was moved, or is of another kind: pass what nsk_model_open, "                        \
    "nsk_session_open or the like gave, and keep its memory")                                                         \
  X(bad_argument, 1001, argument,                                                                                     \
    "an argument is null, misaligned, too small or outside its range: `where` is its number, counted from 0")         \
  X(wrong_library, 1002, none,                                                                                        \
    "the library has another version of the C interface than netsuke/c/netsuke.h, which the program was "             \
    "compiled with: use both from one release")                                                                       \
  X(unsupported_cpu, 1003, none,                                                                                      \
    "this processor lacks the instruction set that the library was compiled for: ask nsk_library_isa(), and "         \
    "ship a build with NSK_ISA_SCALAR beside it")                                                                     \
  X(no_image, 1004, port,                                                                                             \
    "the port is no float32 image [N, H, W, C] with as many channels as the settings' order has: ask nsk_port, and "  \
    "choose another order")                                                                                           \
  X(wrong_image_size, 1005, output,                                                                                   \
    "the image's width and height differ from the output's: ask nsk_port.shape")
/* clang-format on */
#endif
