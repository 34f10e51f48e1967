import { describe, expect, test } from 'vitest'

import { smtpConnection } from './smtp-url.ts'

describe('SMTP_URL', () => {
  test.each([
    ['smtps://mail.test', { host: 'mail.test', port: 465, secure: true, requireTLS: false }],
    ['smtp://mail.test', { port: 587, secure: false, requireTLS: false, ignoreTLS: false }],
    ['smtp://mail.test:25', { port: 25 }],
    ['smtp://me:pw@mail.test', { requireTLS: true, auth: { user: 'me', pass: 'pw' } }],
    ['smtp://me:pw@mail.test?starttls=optional', { requireTLS: false, ignoreTLS: false }],
    ['smtp://mail.test?starttls=required', { requireTLS: true }],
    ['smtp://127.0.0.1:1025', { requireTLS: false, ignoreTLS: true }],
    ['smtp://me:pw@127.0.0.53', { requireTLS: false, ignoreTLS: true }],
    ['smtp://localhost', { ignoreTLS: true }],
    ['smtp://[::1]:25', { host: '::1', ignoreTLS: true }],
    ['smtp://[2001:db8::1]', { host: '2001:db8::1', ignoreTLS: false }],
    ['smtp://localhost?starttls=required', { requireTLS: true, ignoreTLS: false }],
    ['smtp://a%40b:p%2Fw@mail.test', { auth: { user: 'a@b', pass: 'p/w' } }],
  ])('%s connects so', (url, connection) => {
    expect(smtpConnection(url)).toMatchObject(connection)
  })

  test('without a user has no login', () => {
    expect(smtpConnection('smtp://mail.test')).not.toHaveProperty('auth')
  })
})
