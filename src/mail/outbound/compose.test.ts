import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { MailRefused } from '#platform/smtp/mail-transport.ts'

import { compose } from './compose.ts'

const MESSAGE = {
  messageId: 'msg_0123456789abcdef',
  siteId: 'site_aaaaaaaaaaaa',
  siteDomain: 'one.test',
  kind: 'invite',
  from: 'no-reply@one.test',
  to: 'vic@example.org',
  subject: 'Grüße',
  text: 'Hallo\nWelt',
  html: '<p>Hallo</p>',
  createdAt: new Date('2026-11-20T12:00:00.250Z'),
}
const HEADERS = [
  'Auto-Submitted',
  'Content-Type',
  'Date',
  'From',
  'MIME-Version',
  'Message-ID',
  'Subject',
  'To',
  'X-Auto-Response-Suppress',
]

/** What is no address, part of one, or a name is refused; words are made to fit. */
const REFUSABLE: readonly string[] = ['siteDomain', 'from', 'to', 'messageId']

/** The message's own header names; continuation lines belong to the line before. */
async function headerNames(message: typeof MESSAGE): Promise<string[]> {
  const mime = Buffer.from((await compose(message)).mime).toString()
  const head = mime.slice(0, mime.indexOf('\r\n\r\n'))
  const lines = head.split(/\r\n|\r|\n/).filter((line) => !/^[ \t]/.test(line))
  return lines.map((line) => line.slice(0, line.indexOf(':'))).toSorted()
}

describe('a composed message', () => {
  test('is the same bytes at every try', async () => {
    const [first, second] = [await compose(MESSAGE), await compose(MESSAGE)]
    expect(Buffer.from(second.mime)).toEqual(Buffer.from(first.mime))
    expect(Buffer.from(first.mime).toString()).toContain(
      'Message-ID: <msg_0123456789abcdef@one.test>\r\n',
    )
    expect(Buffer.from(first.mime).toString()).toContain('Date: Fri, 20 Nov 2026 12:00:00 +0000')
  })

  test('has no line end that a mail server could see otherwise', async () => {
    const ends = ['\r', '\n', '\r\n', '\n\r', '\r\r\n']
    const bodies = ends.flatMap((before) =>
      ends.map((after) => `a${before}.${after}MAIL FROM:<e@v.il>`),
    )
    for (const text of bodies) {
      const { mime } = await compose({ ...MESSAGE, text, html: `<p>${text}</p>` })
      expect(Buffer.from(mime).toString()).not.toMatch(/\r(?!\n)|(?<!\r)\n/)
    }
  })

  test.each([
    ['a recipient that is two', { to: 'vic,eve@example.org' }],
    ['a recipient with a line break', { to: 'vic@example.org\r\nBcc: eve@evil.test' }],
    ['a sender with a line break', { from: 'no-reply@one.test\nBcc: eve@evil.test' }],
    ['a reply address with a line break', { replyTo: 'vic@example.org\r\nBcc: eve@evil.test' }],
    ['a reply address that is two', { replyTo: 'vic@example.org,eve@example.org' }],
    ['a domain with a line break', { siteDomain: 'one.test\r\nBcc: eve@evil.test' }],
    ['a domain with a form feed', { siteDomain: 'one.test\fBcc: eve@evil.test' }],
    ['an id with a bracket', { messageId: 'msg_a>\r\nBcc:' }],
  ])('is refused for %s', async (_what, part) => {
    await expect(compose({ ...MESSAGE, ...part })).rejects.toBeInstanceOf(MailRefused)
  })

  test('names where answers go, and carries text or html alone', async () => {
    const mime = async (part: object) =>
      Buffer.from((await compose({ ...MESSAGE, ...part })).mime).toString()
    const text = await mime({ replyTo: 'ann@shop.test', html: '' })
    expect(text).toContain('Reply-To: ann@shop.test\r\n')
    expect(text).toContain('Content-Type: text/plain')
    expect(text).not.toContain('text/html')
    const html = await mime({ text: '' })
    expect(html).toContain('Content-Type: text/html')
    expect(html).not.toContain('Reply-To')
  })

  test('is not that of another id', async () => {
    const [one, other] = await Promise.all(
      ['msg_a', 'msg_b'].map(async (messageId) =>
        /boundary="?([^"\r]+)/.exec(
          Buffer.from((await compose({ ...MESSAGE, messageId })).mime).toString(),
        ),
      ),
    )
    expect(one?.[1]).toBeTruthy()
    expect(one?.[1]).not.toBe(other?.[1])
  })

  test.each(['subject', 'siteDomain', 'from', 'to', 'text', 'html', 'messageId'] as const)(
    'has no other headers, whatever its %s holds',
    async (field) => {
      const breaks = fc.constantFrom(
        '\r\n',
        '\n',
        '\r',
        '\n\n',
        '\0',
        '\u0085',
        '\u2028',
        '\v',
        '\f',
      )
      const piece = fc.oneof(
        breaks,
        fc.constant('Bcc: eve@evil.test'),
        fc.string({ maxLength: 20 }),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
          const message = { ...MESSAGE, [field]: `${MESSAGE[field]}${pieces.join('')}` }
          const names = await headerNames(message).catch((error: unknown) => error)
          const refused = names instanceof MailRefused && REFUSABLE.includes(field)
          expect(refused ? HEADERS : names).toEqual(HEADERS)
        }),
        { numRuns: 150 },
      )
    },
  )
})
