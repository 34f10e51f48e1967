import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type ivm from 'isolated-vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { bundleGuest } from '#sandbox/guest/bundle.ts'
import { TO_GUEST } from '#sandbox/protocol/grammars.ts'
import { RecordWriter } from '#sandbox/protocol/records.ts'

import { GuestParts } from './guest-parts.ts'
import { Instance } from './instance.ts'
import { blankIsolate, GuestIsolate } from './isolate.ts'
import { loadSnapshot, snapshotFile } from './snapshot.ts'
import { instanceOptions } from './testing/instance-options.ts'
import { setIsolateFlags } from './v8-flags.ts'

const KB = 1024
const CALLS = 600

let directory: string
let guestParts: GuestParts
let snapshot: ivm.ExternalCopy<ArrayBuffer>

beforeAll(async () => {
  setIsolateFlags()
  directory = mkdtempSync(join(tmpdir(), 'croft-'))
  const paths = { kept: join(directory, 'kept'), draft: join(directory, 'draft') }
  const { prelude, parts } = await bundleGuest()
  snapshot = loadSnapshot(snapshotFile(prelude, paths))
  guestParts = new GuestParts(parts)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const usedKb = ({ isolate }: { readonly isolate: ivm.Isolate }): number =>
  isolate.getHeapStatisticsSync().used_heap_size / KB

function sectionOf(call: number): string {
  const writer = new RecordWriter(TO_GUEST)
  writer.add('call', [call, 0], ['work', 'r', 'null', '{"payload":1}'])
  return writer.take()
}

/** A function whose every call leaves 2 KB behind. */
function instanceOf(home: GuestIsolate): Instance {
  const code = 'export default () => Array.from({ length: 128 }, (_, at) => [at]).length'
  const tested = { code, cpuMs: 1000, timeoutMs: 5000, memoryMb: 128, logLineLength: 100 }
  return new Instance(home, instanceOptions(guestParts, tested))
}

describe('an isolate', () => {
  test('holds no more than it needs before it has run anything', () => {
    const blank = blankIsolate(128, snapshot)
    expect(usedKb(blank)).toBeLessThan(2700)
    blank.isolate.dispose()
  })

  test('is rid of what its calls leave behind before V8 would see to it', () => {
    const home = new GuestIsolate('program', blankIsolate(128, snapshot))
    const instance = instanceOf(home)
    instance.start(sectionOf(1))
    const firstKb = usedKb(home)
    const growth: number[] = []
    for (let call = 2; call < CALLS; call += 1) {
      instance.start(sectionOf(call))
      growth.push(usedKb(home) - firstKb)
    }
    // Not the most: on a loaded machine a collection now and then begins late. Left to V8 the median is 470.
    const median = growth.toSorted((one, other) => one - other)[growth.length / 2]
    expect(median).toBeLessThan(360)
    home.dispose()
  })
})
