import { describe, expect, test } from 'vitest'

import type { GatedRequest } from '#http/plugins/pages.ts'

import { clearedSession, readSession, sessionCookie } from './session-cookie.ts'

const sent = (cookie?: string) =>
  new Request(
    'http://one.test/',
    cookie === undefined ? {} : { headers: { cookie } },
  ) as GatedRequest
const SESSION = { token: 't0ken', expiresAt: new Date('2026-12-20T12:00:00Z') }

describe('the session cookie', () => {
  test('over TLS has a name that no neighbouring domain can give a cookie', () => {
    expect(sessionCookie({ issuer: 'https://one.test/oidc/eu-central-1_Ab' }, SESSION)).toBe(
      '__Host-croft_session.eu-central-1_Ab=t0ken; Path=/; HttpOnly; SameSite=Lax; Secure; Expires=Sun, 20 Dec 2026 12:00:00 GMT',
    )
  })

  test('over plain HTTP stays with its pool by its path', () => {
    expect(sessionCookie({ issuer: 'http://one.test/oidc/p' }, SESSION)).toBe(
      'croft_session=t0ken; Path=/oidc/p; HttpOnly; SameSite=Lax; Expires=Sun, 20 Dec 2026 12:00:00 GMT',
    )
  })

  test('is cleared where it was set', () => {
    expect(clearedSession({ issuer: 'https://one.test/oidc/p' })).toBe(
      '__Host-croft_session.p=; Path=/; HttpOnly; SameSite=Lax; Secure; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    )
  })

  test.each([
    ['its own', '__Host-croft_session.p=abc', 'abc'],
    ['the other pool’s beside it', '__Host-croft_session.p2=no; __Host-croft_session.p=abc', 'abc'],
    ['only the other pool’s', '__Host-croft_session.p2=no', undefined],
    ['one that a neighbouring domain planted', 'croft_session=evil', undefined],
    ['one that came over plain HTTP', 'croft_session.p=evil', undefined],
  ])('over TLS is read from %s', (_what, cookie, token) => {
    expect(readSession(sent(cookie), { issuer: 'https://one.test/oidc/p' })).toBe(token)
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
  ])('over plain HTTP is read when it comes %s', (_how, cookie, token) => {
    expect(readSession(sent(cookie), { issuer: 'http://one.test/oidc/p' })).toBe(token)
  })
})
