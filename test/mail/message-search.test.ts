import fc from 'fast-check'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { mailSettings } from '#test/inbound-mail.ts'
import { SEARCH_CASES, SEARCH_LANGUAGES, type SearchCase } from '#test/search-languages.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOSTS = ['one.test', 'two.test']
const CASES = Object.keys(SEARCH_CASES) as SearchCase[]

let stack: Stack
let port: number
/** A side is a site with the owner of the mailbox `info`, and that of another one. */
let sides: readonly {
  readonly host: string
  readonly owner: Member
  readonly neighbour: Member
  readonly admin: Member
}[]
beforeAll(async () => {
  stack = await startStack({ sites: HOSTS, config: { mail: mailSettings() } })
  port = await stack.context.smtp.start()
  sides = await Promise.all(
    HOSTS.map(async (host) => {
      const pool = new AdminPool(stack, host)
      const admin = await pool.first()
      const [owner, neighbour] = [await pool.joined('user'), await pool.joined('user')]
      for (const [name, { userId }] of [
        ['info', owner],
        ['other', neighbour],
      ] as const) {
        const body = { address: `${name}@${host}`, owners: [userId] }
        await admin.call('POST', '/mailboxes', { body })
      }
      return { host, owner, neighbour, admin }
    }),
  )
})
afterAll(async () => {
  await stack.context.smtp.drain(1000)
  await stack[Symbol.asyncDispose]()
})

const list = (by: Member, query: Readonly<Record<string, string>>): Promise<Answer> =>
  by.call('GET', `/messages?${new URLSearchParams(query).toString()}`)
const search = (by: Member, q: string) => list(by, { q })
const subjects = ({ json }: Answer): string[] =>
  json.items.map(({ subject }: { subject: string }) => subject)

interface Sent {
  readonly to?: readonly string[]
  readonly cc?: string
  readonly from?: string
  readonly subject: string
  readonly text: string
  readonly filename?: string
}

/** Over SMTP, to the mailbox `info` of both sites by default; resolves when it was parsed. */
async function send({ to = HOSTS.map((host) => `info@${host}`), ...sent }: Sent): Promise<void> {
  const { cc, from = 'Eve <eve@else.test>', subject, text, filename } = sent
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
  const attachments = filename === undefined ? [] : [{ filename, content: 'x' }]
  const envelope = { from: 'eve@else.test', to: [...to] }
  await transport.sendMail({ envelope, from, to: [...to], cc, subject, text, attachments })
  transport.close()
  const hosts = new Set(to.map((address) => address.split('@')[1]))
  for (const { host, admin } of sides.filter((side) => hosts.has(side.host))) {
    await vi.waitFor(
      async () => {
        const rows = await stack.inSite(host, (tx, { siteId }) =>
          tx.db
            .selectFrom('mail_raw')
            .select('raw_id')
            .where('site_id', '=', siteId)
            .where('parse_status', '=', 'pending')
            .execute(),
        )
        expect(rows).toEqual([])
        expect(subjects(await list(admin, {}))).toContain(subject)
      },
      { timeout: 20_000 },
    )
  }
}

describe('a search in a language', () => {
  beforeAll(async () => {
    for (const { mail } of SEARCH_LANGUAGES) {
      const { subject, sender, filename, text } = mail
      const from = `"${sender}" <sales@vendor-one.example>`
      await send({ from, subject, text, filename })
    }
  }, 120_000)

  test.each(SEARCH_LANGUAGES.flatMap((language) => CASES.map((each) => [language, each] as const)))(
    '$name: %s',
    async ({ mail, queries }, searchCase) => {
      const q = queries[searchCase]
      const expected = SEARCH_CASES[searchCase] ? [mail.subject] : []
      for (const { host, owner, neighbour, admin } of sides) {
        const answer = await search(owner, q)
        expect(subjects(answer), `${host}: ${q}`).toEqual(expected)
        expect(subjects(await search(admin, q))).toEqual(expected)
        expect(subjects(await search(neighbour, q))).toEqual([])
      }
    },
  )

  test.each(SEARCH_LANGUAGES)('$name: what was found is marked', async ({ mail, queries }) => {
    const owner = sides[0]?.owner ?? raise()
    for (const each of ['word', 'part of a word', 'phrase'] as const) {
      const { items } = (await search(owner, queries[each])).json
      const { snippet, matches } = items[0]
      expect(matches.snippet.length, each).toBeGreaterThan(0)
      for (const { start, end } of matches.snippet) {
        expect(mail.text.normalize('NFKC').replaceAll(/\s/g, '')).toContain(
          snippet.slice(start, end).normalize('NFKC').replaceAll(/\s/g, ''),
        )
      }
    }
  })

  test('finds an address of all of them by its parts', async () => {
    for (const q of [
      'vendor',
      'from:vendor-one',
      'sales@vendor-one.example',
      'from:sales@vendor',
    ]) {
      for (const { owner } of sides) {
        expect((await search(owner, q)).json.items).toHaveLength(SEARCH_LANGUAGES.length)
      }
    }
  })
})

describe('operators', () => {
  const [one] = HOSTS
  const mine = (q: string) => {
    return search(sides[0]?.owner ?? raise(), q)
  }
  beforeAll(async () => {
    const to = [`info@${one}`]
    await send({ to, subject: 'Trip to Rome', text: 'pasta', from: 'Ann Lee <ann@lee.test>' })
    await send({
      to,
      cc: 'Bob Roe <bob@roe.test>',
      subject: 'Lunch',
      text: 'pasta from:ann at 10:30, see http://x.test/menu',
      filename: 'MenuRome.pdf',
    })
  }, 60_000)

  test.each([
    ['from:ann', ['Trip to Rome']],
    ['from:"ann lee" pasta', ['Trip to Rome']],
    ['from: lee@', ['Trip to Rome']],
    ['FROM:ann@lee.test', ['Trip to Rome']],
    ['pasta -from:ann', ['Lunch']],
    ['to:bob', ['Lunch']],
    ['to:roe.test to:info', ['Lunch']],
    ['from:bob', []],
    ['subject:rome', ['Trip to Rome']],
    ['subject:pasta', []],
    ['subject:"to rome"', ['Trip to Rome']],
    ['filename:menu', ['Lunch']],
    ['filename:rome', []],
    ['pasta has:attachment', ['Lunch']],
    ['pasta -has:attachment', ['Trip to Rome']],
    ['pasta is:unread', ['Lunch', 'Trip to Rome']],
    ['pasta is:read', []],
    ['pasta in:inbox', ['Lunch', 'Trip to Rome']],
    ['pasta in:sent', []],
    ['pasta -in:inbox', []],
    ['pasta after:2020-01-01', ['Lunch', 'Trip to Rome']],
    ['pasta before:2020-01-01', []],
    ['"from:ann"', ['Lunch']],
    ['10:30 pasta', ['Lunch']],
    ['http://x.test/menu', ['Lunch']],
    ['past', ['Lunch', 'Trip to Rome']],
    ['pas', []],
    ['pas*', ['Lunch', 'Trip to Rome']],
    ['"past"', []],
  ])('%s', async (q, expected) => {
    const answer = await mine(q)
    expect(answer.status).toBe(200)
    expect(subjects(answer)).toEqual(expected)
  })

  test('an operator that there is not is named, with those that there are', async () => {
    const { status, json } = await mine('pasta foo:bar')
    expect([status, json.error.code]).toEqual([400, 'ValidationError'])
    expect(json.error.message).toContain('"foo:"')
    for (const name of ['from', 'to', 'subject', 'has', 'is', 'in', 'before', 'after', 'filename'])
      expect(json.error.message).toContain(`"${name}:"`)
  })

  test.each(['is:starred', 'in:spam', 'has:star', 'before:then', 'from:', 'from:!'])(
    '%s is refused',
    async (q) => {
      const { status, json } = await mine(q)
      expect([status, json.error.code]).toEqual([400, 'ValidationError'])
    },
  )

  test('what was found is marked in subject, sender and snippet; a list marks nothing', async () => {
    const { items } = (await mine('from:lee rome pasta')).json
    expect(items[0].matches).toEqual({
      subject: [{ start: 8, end: 12 }],
      from: [
        { start: 4, end: 7 },
        { start: 13, end: 16 },
      ],
      snippet: [{ start: 0, end: 5 }],
    })
    const { json } = await list(sides[0]?.owner ?? raise(), {})
    expect(json.items[0]).not.toHaveProperty('matches')
  })

  test('no text breaks the query', async () => {
    const signs = `'|"|\\|<->|&|!|(|)|*|-| |\u0640|é|会|İ|\uD800|:*|a`.split('|').concat('|')
    const part = fc.oneof(fc.constantFrom(...signs), fc.string({ unit: 'binary' }))
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
        expect([200, 400]).toContain((await mine(parts.join(''))).status)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a long message', () => {
  const words = Array.from({ length: 24_000 }, (_, n) => n.toString(36)).join(' ')
  const text = `first last ${words} near the end ${'x '.repeat(10_000)} behind`
  beforeAll(() => send({ to: ['other@one.test'], subject: 'Long', text }), 60_000)

  test.each([
    ['its beginning', '"first last"', true],
    ['a word after 16,383 others', 'near', true],
    ['a phrase there', '"near the end"', true],
    ['the words of its beginning in another order', '"last first"', false],
    ['words there in another order, whose positions are not known', '"end the near"', true],
    ['a phrase of words that it does not have', '"first nowhere"', false],
    ['a word behind 100 KiB', 'behind', false],
  ])('is looked for by %s: %s', async (_what, q, isFound) => {
    expect(subjects(await search(sides[0]?.neighbour ?? raise(), q))).toEqual(
      isFound ? ['Long'] : [],
    )
  })
})

describe('a message of several authors', () => {
  const subject = 'Written together'
  const from = 'Ivy <ivy2@else.test>, "Roe, Jack" <jack2@else.test>'
  const by = () => sides[0]?.neighbour ?? raise()
  beforeAll(() => send({ to: ['other@one.test'], from, subject, text: 'Hello' }), 60_000)

  test.each(['from:ivy', 'from:jack', 'from:jack2@else.test', 'jack2 from:"roe jack"'])(
    'is found by %s',
    async (q) => {
      expect(subjects(await search(by(), q))).toEqual([subject])
    },
  )

  test.each([false, true])('is answered to all of them, to all: %s', async (replyAll) => {
    const [{ id }] = (await search(by(), 'from:ivy')).json.items
    const { json: parent } = await by().call('GET', `/messages/${id}`)
    const authors = ['Ivy <ivy2@else.test>', '"Roe, Jack" <jack2@else.test>']
    expect(parent).toMatchObject({ from: authors[0], authors })
    const body = { body: 'Thanks.', replyAll }
    const answer = await by().call('POST', `/messages/${id}/reply`, { body })
    const { json } = await by().call('GET', `/messages/${answer.json.id}`)
    expect([json.to, json.cc]).toEqual([authors, []])
  })
})

describe('a message with one word 257 times', () => {
  const text = `1.234,56 by info+shop@shop.test ${'often '.repeat(257)} behind often`
  const from = '"Zed Young" <zy@young.test>'
  const subject = 'kappa lambda 257'
  beforeAll(() => send({ to: ['other@one.test'], from, subject, text }), 60_000)

  test.each([
    ['"kappa lambda"', true],
    ['"lambda kappa"', false],
    ['subject:"kappa lambda"', true],
    ['subject:"lambda kappa"', false],
    ['from:"zed young"', true],
    ['from:"young zed"', false],
    ['1.234,56', true],
    ['56.234,1', false],
    ['info+shop@shop.test', true],
    ['shop+info@shop.test', false],
    ['"behind often"', true],
    ['"often nowhere"', false],
    // Where that word is also, positions do not tell.
    ['"often kappa"', true],
    ['-"lambda kappa" subject:257', true],
  ])('is looked for by %s: %s', async (q, isFound) => {
    expect(subjects(await search(sides[0]?.neighbour ?? raise(), q))).toEqual(
      isFound ? [subject] : [],
    )
  })
})

function raise(): never {
  throw new Error('There is no site')
}
