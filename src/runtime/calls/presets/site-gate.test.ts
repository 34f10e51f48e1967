import { describe, expect, test } from 'vitest'

import { SiteGate } from './site-gate.ts'

const LIMITS = { concurrency: 2, queueLength: 1, queueMs: 30 }
const one = { siteId: 'one', limits: LIMITS }
const patient = { siteId: 'one', limits: { concurrency: 1, queueLength: 10, queueMs: 60_000 } }

describe('a gate', () => {
  test('lets some in, keeps some waiting, and turns the rest away', async () => {
    const gate = new SiteGate()
    const open = Promise.withResolvers<number>()
    const runs = [1, 2].map(() => gate.run(one, () => open.promise))
    const waiting = gate.run({ ...one, limits: { ...LIMITS, queueMs: 10_000 } }, async () => 2)
    const refused = await gate.run(one, async () => 3)
    expect(refused).toMatchObject({ met: { what: 'queueLength', limit: 1, used: 2 } })
    expect(await gate.run({ ...one, siteId: 'two' }, async () => 4)).toEqual({ result: 4 })
    open.resolve(1)
    expect(await Promise.all([...runs, waiting])).toEqual([
      { result: 1 },
      { result: 1 },
      { result: 2 },
    ])
    expect(await gate.run(one, async () => 5)).toEqual({ result: 5 })
  })

  test('ends a wait that takes too long, and a failure gives its place back', async () => {
    const gate = new SiteGate()
    const open = Promise.withResolvers<void>()
    const asked = { ...one, limits: { ...LIMITS, concurrency: 1 } }
    const failing = gate.run(asked, async () => {
      await open.promise
      throw new Error('broken')
    })
    expect(await gate.run(asked, async () => 5)).toMatchObject({ met: { what: 'queueMs' } })
    open.resolve()
    await expect(failing).rejects.toThrow('broken')
    expect(await gate.run(asked, async () => 6)).toEqual({ result: 6 })
  })

  test('lets those go whose answer nobody waits for any more', async () => {
    const gate = new SiteGate()
    const open = Promise.withResolvers<string>()
    const begun: string[] = []
    const work = (name: string) => () => {
      begun.push(name)
      return open.promise
    }
    const leaving = new AbortController()
    const first = gate.run(patient, work('first'))
    const second = gate.run({ ...patient, signal: leaving.signal }, work('second'))
    const third = gate.run(patient, work('third'))
    leaving.abort()
    expect(await second).toMatchObject({ met: { kind: 'interrupted' } })
    open.resolve('done')
    expect(await Promise.all([first, third])).toEqual([{ result: 'done' }, { result: 'done' }])
    expect(begun).toEqual(['first', 'third'])
  })

  test('lets nobody in whose answer is not waited for', async () => {
    const gate = new SiteGate()
    const gone = gate.run({ ...one, signal: AbortSignal.abort() }, () => {
      throw new Error('it was begun')
    })
    expect(await gone).toMatchObject({ met: { kind: 'interrupted' } })
  })
})
