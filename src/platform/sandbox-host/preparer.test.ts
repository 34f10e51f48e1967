import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'

import { Preparer } from './preparer.ts'

const SOURCE = { entry: 'a.ts', files: new Map([['a.ts', '']]) }

describe('a process that prepares code', () => {
  let preparer: Preparer | undefined
  afterEach(() => preparer?.stop())

  test.each([
    ['ends at once', 'exit 1'],
    ['crashes before it is ready', 'kill -SEGV $$'],
    ['is killed by another process', 'kill -KILL $$'],
  ])('and %s is reported as an error of the service', async (_, script) => {
    preparer = new Preparer({
      command: () => ({ file: '/bin/sh', args: ['-c', script], env: {}, isNested: false }),
      processes: 1,
      limits: { cpuMs: 1000, memoryBytes: 1e9 },
      logger: pino({ enabled: false }),
    })
    await expect(preparer.prepare('site', SOURCE)).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: 'Reading "a.ts" was interrupted: try again',
    })
  })

  // What is around a process ends after it: until then only its own file tells that it is gone.
  test('and is killed while it reads is reported as an error of the service, however late its end is noticed', async () => {
    const ready = String.raw`\016\000\000\000{"ready":true}`
    const killed = `printf '${ready}'; head -c 4 >/dev/null; sleep 0.4 & kill -KILL $$`
    const scripts = [killed, killed]
    preparer = new Preparer({
      command: () => ({
        file: '/bin/sh',
        args: ['-c', scripts.shift() ?? 'exit 1'],
        env: {},
        isNested: false,
      }),
      processes: 1,
      limits: { cpuMs: 300, memoryBytes: 1e9 },
      logger: pino({ enabled: false }),
    })
    await expect(preparer.prepare('site', SOURCE)).rejects.toMatchObject({
      code: 'ServiceUnavailable',
    })
    expect(scripts).toEqual([])
  })

  test('that does not start is reported as an error of the service', async () => {
    preparer = new Preparer({
      command: () => ({ file: '/nowhere/node', args: [], env: {}, isNested: false }),
      processes: 1,
      limits: { cpuMs: 1000, memoryBytes: 1e9 },
      logger: pino({ enabled: false }),
    })
    await expect(preparer.prepare('site', SOURCE)).rejects.toMatchObject({
      code: 'ServiceUnavailable',
    })
  })
})
