import { describe, expect, test } from 'vitest'

import { SiteHistory } from './site-history.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const WARM = { cold: false, nowMs: 0 }

describe('what is known of a site', () => {
  test.each([
    ['a short call', 1, false, 'ordinary'],
    ['a call that takes a little longer', 6, false, 'apart'],
    ['a cold call that loads its code at the same time', 40, true, 'ordinary'],
    ['a cold call that takes much longer', 60, true, 'apart'],
    ['a call that others must not wait for', 101, false, 'long'],
    ['a cold one of those', 101, true, 'long'],
  ])('puts it, after %s, on a host of its kind', (_, costMs, cold, role) => {
    const history = new SiteHistory()
    history.measured(costMs, { cold, nowMs: 0 })
    expect(history.roleAt(1)).toBe(role)
    expect(history.roleAt(11 * SECOND)).toBe('ordinary')
  })

  test('keeps it among the long ones twice as long after each long call, for an hour at most', () => {
    const history = new SiteHistory()
    let nowMs = 0
    const lasted: number[] = []
    for (let call = 0; call < 12; call += 1) {
      history.measured(900, { cold: false, nowMs })
      const beganMs = nowMs
      while (history.roleAt(nowMs) === 'long') nowMs += SECOND
      lasted.push((nowMs - beganMs) / SECOND)
    }
    expect(lasted.slice(0, 4)).toEqual([10, 20, 40, 80])
    expect(lasted.at(-1)).toBe(HOUR / SECOND)
  })

  test('forgets after a day without any', () => {
    const history = new SiteHistory()
    for (let call = 0; call < 5; call += 1) history.measured(900, WARM)
    const nowMs = 26 * HOUR
    history.measured(900, { cold: false, nowMs })
    expect(history.roleAt(nowMs + 9 * SECOND)).toBe('long')
    expect(history.roleAt(nowMs + 11 * SECOND)).toBe('ordinary')
  })

  test('keeps it in quarantine after a lost host, and holds its next call, longer each time', () => {
    const history = new SiteHistory()
    history.quarantine(0)
    expect(history.roleAt(MINUTE - 1)).toBe('quarantine')
    expect(history.roleAt(MINUTE)).toBe('ordinary')
    expect(history.heldUntilMs).toBe(250)
    history.quarantine(MINUTE)
    expect(history.roleAt(3 * MINUTE - 1)).toBe('quarantine')
    expect(history.heldUntilMs).toBe(MINUTE + 500)
    for (let loss = 0; loss < 40; loss += 1) history.quarantine(5 * MINUTE)
    expect(history.heldUntilMs).toBe(5 * MINUTE + 30 * SECOND)
    expect(history.roleAt(6 * HOUR)).toBe('quarantine')
    expect(history.roleAt(6 * HOUR + 5 * MINUTE)).toBe('ordinary')
  })

  test('is the mean of its calls, the latest most, and whether there was any', () => {
    const history = new SiteHistory()
    expect([history.isMeasured, history.costMs]).toEqual([false, 1])
    for (let call = 0; call < 100; call += 1) history.measured(3, WARM)
    expect(history.isMeasured).toBe(true)
    expect(history.costMs).toBeCloseTo(3)
  })

  test('whose streams take much of each second is apart, and one whose streams take little is not', () => {
    const [idle, busy] = [new SiteHistory(), new SiteHistory()]
    for (let nowMs = 0; nowMs < 60_000; nowMs += 100) {
      idle.streamed(1, nowMs)
      busy.streamed(10, nowMs)
    }
    expect([idle.roleAt(60_000), busy.roleAt(60_000)]).toEqual(['ordinary', 'apart'])
    expect(busy.roleAt(80_000)).toBe('ordinary')
  })
})
