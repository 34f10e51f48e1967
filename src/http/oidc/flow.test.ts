import { randomBytes } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { type Flow, Flows } from './flow.ts'

const FLOW: Flow = { step: 'confirm', email: 'ann@one.test', registrationId: 'reg_1' }
const DAY_MS = 24 * 60 * 60 * 1000

describe('a flow', () => {
  let nowMs = Date.parse('2026-11-20T12:00:00Z')
  const clock = { now: () => new Date(nowMs) }
  const flows = new Flows(randomBytes(32), clock)
  const sealed = flows.seal(FLOW, 'browser')

  test('opens on the browser that it was sealed for', () => {
    expect(flows.open(sealed, 'browser')).toEqual(FLOW)
  })

  test('reveals nothing in the URL', () => {
    expect(sealed).toMatch(/^[\w-]+$/)
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('ann')
  })

  test.each([
    ['on another browser', () => flows.open(sealed, 'another')],
    ['with another key', () => new Flows(randomBytes(32), clock).open(sealed, 'browser')],
    [
      'when a letter has changed',
      () => {
        const other = sealed.at(-9) === 'A' ? 'B' : 'A'
        return flows.open(`${sealed.slice(0, -9)}${other}${sealed.slice(-8)}`, 'browser')
      },
    ],
    ['when it is cut', () => flows.open(sealed.slice(0, 20), 'browser')],
    ['when it is empty', () => flows.open('', 'browser')],
    ['when it is longer than any of ours', () => flows.open('A'.repeat(100_000), 'browser')],
  ])('does not open %s', (_when, open) => {
    expect(open()).toBeUndefined()
  })

  test('does not open after a day', () => {
    nowMs += DAY_MS - 1
    expect(flows.open(sealed, 'browser')).toEqual(FLOW)
    nowMs += 1
    expect(flows.open(sealed, 'browser')).toBeUndefined()
  })
})
