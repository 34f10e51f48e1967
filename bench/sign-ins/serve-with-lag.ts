import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

/** The service, with a watch on how late its event loop comes to a timer. A line on its input asks for the worst since the last. */
const EVERY_MS = 5

let worstMs = 0
let dueAt = performance.now() + EVERY_MS
setInterval(() => {
  const now = performance.now()
  worstMs = Math.max(worstMs, now - dueAt)
  dueAt = now + EVERY_MS
}, EVERY_MS)

createInterface({ input: process.stdin }).on('line', () => {
  process.stdout.write(`lag ${worstMs}\n`)
  worstMs = 0
})

await import(pathToFileURL(`${import.meta.dirname}/../../src/main.ts`).href)
