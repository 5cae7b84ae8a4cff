// SPDX-License-Identifier: MIT
// Runs a WebAssembly program: run_wasm.mjs PROGRAM.wasm [FILE ...].
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { WASI } from 'node:wasi';

const [, , program, ...files] = process.argv;
const wasi = new WASI({ version: 'preview1', args: ['program', ...files.map((f) => resolve(f))], preopens: { '/': '/' } });
const compiled = await WebAssembly.compile(await readFile(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(compiled, wasi.getImportObject()));
