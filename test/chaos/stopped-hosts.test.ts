import { randomBytes } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { slowestMs } from '#test/call-log.ts'
import type { CroftProcess } from '#test/croft-process.ts'
import { workThrough } from '#test/fault-journey.ts'
import { type RunningProcess, isRunning } from '#test/process-table.ts'
import { startCroft } from '#test/started-croft.ts'
import { tellTallies } from '#test/tally.ts'

const OPERATOR_KEY = randomBytes(32).toString('base64url')
/** The longest that code may compute at a stretch, what its host gets beside, and a new one's start. */
const GIVEN_UP_MS = 5000

let cleanUp: AsyncDisposableStack
let croft: CroftProcess
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  croft = await startCroft(cleanUp, { CROFT_OPERATOR_KEY: OPERATOR_KEY })
})
afterEach(() => cleanUp.disposeAsync())

describe('sandbox hosts that', () => {
  test('are stopped are replaced, and fail no call that needs none', async () => {
    const stopped: RunningProcess[] = []
    const seen = await workThrough(croft, OPERATOR_KEY, {
      begin() {
        for (const host of croft.sandboxHosts()) {
          process.kill(host.pid, 'SIGSTOP')
          stopped.push(host)
        }
      },
    })
    const { log, away, missing } = seen
    tellTallies({
      backMs: log.recoveryMs('echo', away.fromMs + 1000),
      slowestMs: slowestMs(log.during({ kind: 'echo' })),
      faults: log.faults({}),
    })
    expect(stopped.length).toBeGreaterThan(0)
    expect(missing).toEqual([])
    expect(log.faults({ kind: 'putItem' })).toEqual({})
    expect(log.recoveryMs('echo', away.fromMs + 1000)).toBeLessThan(GIVEN_UP_MS)
    expect(stopped.filter(isRunning).map(({ pid }) => pid)).toEqual([])
    const blamed = log.calls.filter(({ fault = '503' }) => !fault.startsWith('503'))
    expect(blamed.map(({ fault }) => fault)).toEqual([])
  })
})
