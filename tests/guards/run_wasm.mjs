// SPDX-License-Identifier: MIT
// Runs a WebAssembly program on one file: run_wasm.mjs PROGRAM.wasm FILE.
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { WASI } from 'node:wasi';

const [, , program, file] = process.argv;
const wasi = new WASI({ version: 'preview1', args: ['program', '/files/' + basename(file)], preopens: { '/files': dirname(file) } });
const compiled = await WebAssembly.compile(await readFile(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(compiled, wasi.getImportObject()));
