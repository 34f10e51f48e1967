import { describe, expect, test } from 'vitest'

import { parseMachine, parseStat } from './cpu-clock.ts'

describe('the CPU clock', () => {
  test('reads parent and times behind a name that looks like fields', () => {
    const stat = '4242 (a) S 7 (b) R 99 4242 1 0 -1 4194560 900 0 1 0 250 50 3 2 20 0 11 0 5'
    expect(parseStat(stat)).toEqual({ parent: 99, ticks: 305 })
  })

  test('takes waiting for disks as idle, and guests as counted already', () => {
    const stat = 'cpu  1000 10 500 8000 90 5 20 75 300 40\ncpu0 1 1 1 1 1 1 1 1 1 1\n'
    expect(parseMachine(stat)).toEqual({ busy: 16.1, total: 97 })
  })
})
