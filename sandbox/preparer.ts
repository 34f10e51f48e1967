import process from 'node:process'

import { syntaxReady } from './modules/module-syntax.ts'
import { prepare } from './modules/prepare.ts'
import { encodeFrame, FrameReader } from './protocol/frames.ts'
import type { FunctionFiles, PreparerAnswer } from './protocol/protocol.ts'

/**
 * Entry of the process that prepares code. A frame on stdin is JSON of `FunctionFiles`, one on stdout JSON of
 * `PreparerAnswer`, in the same order; the first says that it is ready. It ends with its stdin.
 */
await syntaxReady
const frames = new FrameReader()
let done = Promise.resolve()
process.stdin.on('data', (chunk) => {
  for (const text of frames.push(chunk)) {
    done = done.then(async () => answer(await prepare(JSON.parse(text) as FunctionFiles)))
  }
})
answer({ ready: true })

function answer(content: PreparerAnswer): void {
  process.stdout.write(encodeFrame(JSON.stringify(content)))
}
