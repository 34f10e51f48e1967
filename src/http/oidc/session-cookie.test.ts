import { describe, expect, test } from 'vitest'

import { clearedSession, readSession, sessionCookie } from './session-cookie.ts'

const sent = (cookie?: string) =>
  new Request('http://one.test/', cookie === undefined ? {} : { headers: { cookie } })
const SESSION = { token: 't0ken', expiresAt: new Date('2026-12-20T12:00:00Z') }

describe('the session cookie', () => {
  test('stays with its pool, out of reach of scripts and foreign forms', () => {
    expect(sessionCookie({ issuer: 'https://one.test/oidc/eu-central-1_Ab' }, SESSION)).toBe(
      'croft_session=t0ken; Path=/oidc/eu-central-1_Ab; HttpOnly; SameSite=Lax; Secure; Expires=Sun, 20 Dec 2026 12:00:00 GMT',
    )
  })

  test('goes over plain HTTP only where the site itself does', () => {
    expect(sessionCookie({ issuer: 'http://one.test/oidc/p' }, SESSION)).not.toContain('Secure')
  })

  test('is cleared where it was set', () => {
    expect(clearedSession({ issuer: 'https://one.test/oidc/p' })).toBe(
      'croft_session=; Path=/oidc/p; HttpOnly; SameSite=Lax; Secure; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    )
  })

  test.each([
    ['alone', 'croft_session=abc', 'abc'],
    ['among others', 'a=1; croft_session=abc; xcroft_session=no', 'abc'],
    ['twice the same', 'croft_session=abc; croft_session=abc', 'abc'],
    [
      'twice, because a neighbouring domain set one',
      'croft_session=abc; croft_session=evil',
      undefined,
    ],
    ['empty', 'croft_session=', undefined],
    ['under another name only', 'Croft_session=abc', undefined],
    ['not at all', undefined, undefined],
  ])('is read when it comes %s', (_how, cookie, token) => {
    expect(readSession(sent(cookie))).toBe(token)
  })
})
