import { describe, expect, test } from 'vitest'

import { KnownDeviceCookie } from './known-device-cookie.ts'

const ISSUER = 'https://one.test/oidc/eu-1_AbCdEf123'
const DAY_MS = 24 * 3600 * 1000
const state = { now: new Date('2026-11-27T12:00:00Z') }
const clock = { now: () => state.now }
const browsers = new KnownDeviceCookie({ key: Buffer.alloc(32, 1), clock })

describe('a browser with an earlier sign-in', () => {
  test('has a name for that account, in every spelling, and for no other', () => {
    const { cookie } = browsers.remember(undefined, ISSUER, 'Ann@One.test')
    const id = browsers.idOf(cookie, ISSUER, 'ann@one.test')
    expect(id).toMatch(/^[\w-]{16}$/)
    expect(browsers.idOf(cookie, ISSUER, ' ANN@one.test')).toBe(id)
    expect(browsers.idOf(cookie, ISSUER, 'bob@one.test')).toBeUndefined()
    expect(cookie).not.toContain('ann')
  })

  test('keeps it at the next sign-in, beside four others', () => {
    let cookie: string | undefined
    const emails = ['a@x.org', 'b@x.org', 'c@x.org', 'd@x.org', 'e@x.org', 'f@x.org']
    for (const email of emails) ({ cookie } = browsers.remember(cookie, ISSUER, email))
    expect(emails.map((email) => browsers.idOf(cookie, ISSUER, email) !== undefined)).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
    ])
    const before = browsers.idOf(cookie, ISSUER, 'b@x.org')
    ;({ cookie } = browsers.remember(cookie, ISSUER, 'b@x.org'))
    expect(browsers.idOf(cookie, ISSUER, 'b@x.org')).toBe(before)
    expect(cookie.length).toBeLessThan(1500)
  })

  test('is another one at another pool, and with a cookie of its own making', () => {
    const { cookie } = browsers.remember(undefined, ISSUER, 'ann@one.test')
    const other = new KnownDeviceCookie({ key: Buffer.alloc(32, 2), clock })
    expect(browsers.idOf(cookie, `${ISSUER}x`, 'ann@one.test')).toBeUndefined()
    expect(other.idOf(cookie, ISSUER, 'ann@one.test')).toBeUndefined()
    for (const made of ['', 'x', 'x'.repeat(5000), `${cookie.slice(0, -2)}xx`, undefined]) {
      expect(browsers.idOf(made, ISSUER, 'ann@one.test')).toBeUndefined()
    }
  })

  test('is forgotten after 400 days', () => {
    const { cookie, expiresAt } = browsers.remember(undefined, ISSUER, 'ann@one.test')
    expect(expiresAt.getTime() - state.now.getTime()).toBe(400 * DAY_MS)
    const before = state.now
    state.now = new Date(expiresAt.getTime() - 1)
    expect(browsers.idOf(cookie, ISSUER, 'ann@one.test')).toBeDefined()
    state.now = expiresAt
    expect(browsers.idOf(cookie, ISSUER, 'ann@one.test')).toBeUndefined()
    state.now = before
  })
})
