import { expect, test } from 'vitest'

import { verificationMail } from './verification-mail.ts'

const REQUEST = {
  siteDomain: 'one.test',
  mailbox: 'info@one.test',
  target: 'eve@example.org',
  url: 'https://one.test/admin/public/forwarding/verify?token=t&mailbox=m',
  expiresAt: new Date('2026-12-01T08:00:00Z'),
}

test('the mail to a forwarding target says in text and HTML who asks, for how long, and that it can be ignored', () => {
  const { subject, text, html } = verificationMail(REQUEST, 'en')
  expect(subject).toBe('Confirm that mail to info@one.test is forwarded to you')
  for (const body of [text, html]) {
    for (const words of ['info@one.test', 'the site one.test', 'eve@example.org', '1 Dec 2026']) {
      expect(body).toContain(words)
    }
    expect(body).toContain('ignore this message')
  }
  expect(text).toContain(REQUEST.url)
})

test('the mail to a forwarding target shows an address as it is, whatever it would mean in HTML or a header', () => {
  const mailbox = `=?utf-8?q?free?=&'@one.test`
  const { subject, html } = verificationMail({ ...REQUEST, mailbox }, 'en')
  expect(subject).not.toContain('=?')
  expect(html).not.toContain(`&'@one.test`)
  expect(html).toContain('&#38;&#39;@one.test')
})
