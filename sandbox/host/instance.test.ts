import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type ivm from 'isolated-vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { bundleGuest } from '#sandbox/guest/bundle.ts'
import { FROM_WORKER, TO_GUEST } from '#sandbox/protocol/grammars.ts'
import { readRecords, RecordWriter } from '#sandbox/protocol/records.ts'

import { GuestParts } from './guest-parts.ts'
import { Instance } from './instance.ts'
import { blankIsolate, GuestIsolate } from './isolate.ts'
import { loadSnapshot, snapshotFile } from './snapshot.ts'
import { steadyNowMs } from './steady-clock.ts'
import { instanceOptions } from './testing/instance-options.ts'
import { WorkerOutput } from './worker-output.ts'

let directory: string
let snapshot: ivm.ExternalCopy<ArrayBuffer>
let guestParts: GuestParts

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'croft-'))
  const paths = { kept: join(directory, 'kept'), draft: join(directory, 'draft') }
  const { prelude, parts } = await bundleGuest()
  snapshot = loadSnapshot(snapshotFile(prelude, paths))
  guestParts = new GuestParts(parts)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/**
 * The lines and the result of one call of a function with this code; `wakeAfterMs` later its timers are looked at. A busy machine
 * may take long for what is done at once.
 */
function called(
  code: string,
  { wakeAfterMs = 0, cpuMs = 10_000 } = {},
): { lines: string[]; results: string[] } {
  const sent: string[] = []
  const outbox = new WorkerOutput((text) => sent.push(text))
  const home = new GuestIsolate('program', blankIsolate(128, snapshot))
  const tested = { code, cpuMs, timeoutMs: 60_000, memoryMb: 128, logLineLength: 400 }
  const instance = new Instance(home, { ...instanceOptions(guestParts, tested), outbox })
  const writer = new RecordWriter(TO_GUEST)
  writer.add('call', [1, 0], ['work', 'r', 'null', '{"payload":1}'])
  instance.start(writer.take())
  if (wakeAfterMs > 0) instance.wake(steadyNowMs() + wakeAfterMs)
  outbox.flush()
  home.dispose()
  const records = sent.flatMap((text) => readRecords(text, FROM_WORKER))
  return {
    lines: records.flatMap((record) => (record.kind === 'log' ? record.texts : [])),
    results: records.flatMap((record) => (record.kind === 'result' ? record.texts : [])),
  }
}

const handler = (body: string): string => `export default () => { ${body}; return 'done' }`

describe('an unhandled rejection', () => {
  test('is logged', () => {
    expect(called(handler(`Promise.reject(new RangeError('lost'))`))).toEqual({
      lines: ['Uncaught: lost'],
      results: ['"done"'],
    })
  })

  test('is offered to the site with its reason, which may take it', () => {
    const code = `addEventListener('unhandledrejection', (event) => {
      event.preventDefault()
      const { reason, promise } = event
      console.log(reason.name, reason.message, reason instanceof RangeError, promise instanceof Promise, reason.stack.includes('main.js'))
    })
    ${handler(`Promise.reject(new RangeError('lost'))`)}`
    expect(called(code).lines).toEqual(['RangeError lost true true true'])
  })

  test('is logged after all when the site only looks at it', () => {
    const code = `globalThis.onunhandledrejection = ({ reason }) => console.log(typeof reason, reason)
    ${handler(`Promise.reject(7)`)}`
    expect(called(code).lines).toEqual(['Uncaught: Thrown: 7', 'number 7'])
  })

  test('is logged when the listener never ends', () => {
    const code = `addEventListener('unhandledrejection', () => { for (;;); })
    ${handler(`Promise.reject(new Error('lost'))`)}`
    expect(called(code, { cpuMs: 1000 })).toEqual({
      lines: ['Uncaught: lost'],
      results: ['"done"'],
    })
  })
})

describe('timers that are due together', () => {
  test('run one after the other, and after what promises of the one before continue', () => {
    const code = handler(`
      for (const at of [1, 2, 3]) setTimeout(() => {
        console.log('timer', at)
        Promise.resolve().then(() => {}).then(() => console.log('then', at))
      }, 0)
      const until = Date.now() + 5
      while (Date.now() < until);
    `)
    const lines = ['timer 1', 'then 1', 'timer 2', 'then 2', 'timer 3', 'then 3']
    expect(called(code, { wakeAfterMs: 1 }).lines).toEqual(lines)
  })

  test('leave the rest for later when they take long', () => {
    const code = handler(`
      for (const at of [1, 2, 3]) setTimeout(() => {
        console.log('timer', at)
        const until = Date.now() + 150
        while (Date.now() < until);
      }, 0)
      const until = Date.now() + 5
      while (Date.now() < until);
    `)
    expect(called(code, { wakeAfterMs: 1, cpuMs: 500 }).lines).toEqual(['timer 1', 'timer 2'])
  })
})
