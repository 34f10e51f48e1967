import ivm from 'isolated-vm'
import { expect, test } from 'vitest'

import { bundleGuest } from '#sandbox/guest/bundle.ts'
import { FROM_GUEST } from '#sandbox/protocol/grammars.ts'
import { readRecords } from '#sandbox/protocol/records.ts'

import { withSmallCaches } from './v8-flags.ts'
import { warmUpScript } from './warm-up.ts'

const { prelude } = await bundleGuest()
const plain = snapshot()

function snapshot(warmUp?: string): ivm.ExternalCopy<ArrayBuffer> {
  return withSmallCaches(() =>
    ivm.Isolate.createSnapshot([{ code: prelude, filename: 'croft:prelude' }], warmUp),
  )
}

test('lives through a whole call', () => {
  const isolate = new ivm.Isolate({ memoryLimit: 64, snapshot: plain })
  const output: unknown = isolate
    .compileScriptSync(warmUpScript())
    .runSync(isolate.createContextSync())
  isolate.dispose()
  const records = readRecords(String(output), FROM_GUEST)
  const textsOf = (kind: string) =>
    records.flatMap((record) => (record.kind === kind ? record.texts : []))
  expect(textsOf('log')).toEqual([expect.stringMatching(/^warm .*Ada/)])
  expect(textsOf('result').map((text): unknown => JSON.parse(text))).toEqual([
    { payload: { name: 'Ada' }, status: 201, type: 'application/json' },
  ])
})

test('leaves its code in the snapshot, and nothing that a site would see', () => {
  const warmed = snapshot(warmUpScript())
  expect(warmed.copy().byteLength).toBeGreaterThan(plain.copy().byteLength + 30_000)
  expect(globalNames(warmed)).toEqual(globalNames(plain))
})

function globalNames(of: ivm.ExternalCopy<ArrayBuffer>): unknown {
  const isolate = new ivm.Isolate({ memoryLimit: 64, snapshot: of })
  const names: unknown = isolate
    .createContextSync()
    .evalSync('JSON.stringify(Reflect.ownKeys(globalThis).map(String))')
  isolate.dispose()
  return names
}
