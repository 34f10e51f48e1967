import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'

import { QuickCrypto } from '#sandbox/crypto/quick-crypto.ts'
import { bundleGuest } from '#sandbox/guest/bundle.ts'
import { CpuClock } from '#sandbox/host/cpu-clock.ts'
import { GuestParts } from '#sandbox/host/guest-parts.ts'
import { Instance } from '#sandbox/host/instance.ts'
import { blankIsolate, GuestIsolate } from '#sandbox/host/isolate.ts'
import { sectionOf } from '#sandbox/host/sections.ts'
import { loadSnapshot, snapshotFile } from '#sandbox/host/snapshot.ts'
import { instanceOptions } from '#sandbox/host/testing/instance-options.ts'
import { WorkerOutput } from '#sandbox/host/worker-output.ts'
import { FROM_WORKER, TO_GUEST } from '#sandbox/protocol/grammars.ts'
import { readRecords, RecordWriter } from '#sandbox/protocol/records.ts'

/**
 * Entry of a process that runs functions one after the other, for a test that gives it little processor time. A line on
 * stdin is JSON of `StarvedCall`, one on stdout JSON of its outcome, with the processor time that the thread used.
 */
export interface StarvedCall {
  readonly code: string
  readonly cpuMs: number
}

export interface StarvedOutcome {
  readonly kind: 'result' | 'failure'
  /** The result, or JSON of the failure. */
  readonly text: string
  readonly lines: readonly string[]
  /** Processor time of the thread. */
  readonly usedMs: number
}

const directory = mkdtempSync(join(tmpdir(), 'croft-starved-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
const { prelude, parts } = await bundleGuest()
const paths = { kept: join(directory, 'kept'), draft: join(directory, 'draft') }
const snapshot = loadSnapshot(snapshotFile(prelude, paths))
const guestParts = new GuestParts(parts)
const crypto = new QuickCrypto()

const cpu = new CpuClock()

function outcomeOf({ code, cpuMs }: StarvedCall): Omit<StarvedOutcome, 'usedMs'> {
  const sent: string[] = []
  const outbox = new WorkerOutput((text) => sent.push(text))
  const begin = (section: string, tries: number): void => {
    const home = new GuestIsolate('program', blankIsolate(64, snapshot))
    const tested = { code, cpuMs, timeoutMs: 600_000, memoryMb: 64, logLineLength: 400 }
    const instance = new Instance(home, {
      ...instanceOptions(guestParts, tested),
      tries,
      cpu,
      outbox,
      crypto,
      stopped: (_, left, again = 0) => {
        home.dispose()
        if (left.length > 0) begin(sectionOf(left), again)
      },
    })
    instance.start(section)
    home.dispose()
  }
  const writer = new RecordWriter(TO_GUEST)
  writer.add('call', [1, 0], ['work', 'r', 'null', '{"payload":1}'])
  begin(writer.take(), 0)
  outbox.flush()
  const records = sent.flatMap((text) => readRecords(text, FROM_WORKER))
  const lines = records.flatMap((record) => (record.kind === 'log' ? record.texts : []))
  for (const { kind, texts } of records)
    if (kind === 'result' || kind === 'failure') return { kind, text: texts[0], lines }
  throw new Error('The call did not end')
}

process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const before = process.threadCpuUsage()
  const outcome = outcomeOf(JSON.parse(line) as StarvedCall)
  const { user, system } = process.threadCpuUsage(before)
  process.stdout.write(`${JSON.stringify({ ...outcome, usedMs: (user + system) / 1000 })}\n`)
}
