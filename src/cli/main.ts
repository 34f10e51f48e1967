import { pipeline } from 'node:stream/promises'

import { hasCode } from '#base/error-code.ts'
import { terminalBytes } from '#base/terminal-text.ts'

import { run } from './run.ts'

// A reader such as `head` that has seen enough ends the program, as it ends others.
process.stdout.on('error', (error) => {
  if (!hasCode(error, 'EPIPE')) throw error
  process.exit(0)
})

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  bytes: writeBytes,
})

async function writeBytes(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const { stdout } = process
  try {
    await pipeline(stdout.isTTY ? terminalBytes(chunks) : chunks, stdout, { end: false })
  } catch (error) {
    // The reader has closed the pipe, as `head` does.
    if (!hasCode(error, 'EPIPE')) throw error
  }
}
