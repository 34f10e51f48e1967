import { randomBytes } from 'node:crypto'

import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { mail } from '#corpus/sample.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import { Accepting } from '#mail/parsing/accepting.ts'
import { MailParsing } from '#mail/parsing/mail-parsing.ts'
import type { MailParser, ParseOutcome } from '#platform/mail-parser/mail-parser.ts'
import { loneMailParser, sharedMailParser } from '#platform/mail-parser/process-mail-parser.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { PostgresQueue } from '#platform/queue/postgres-queue.ts'
import { AdminPool } from '#test/admin-api.ts'
import { builtMailParser } from '#test/built-sandbox.ts'
import { RawSmtp, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { receive, stored } from '#test/received-mail.ts'
import { silentLog } from '#test/silent-log.ts'
import { stackWithQueue } from '#test/stack-with-queue.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MIB = 1024 * 1024
const WAIT = { timeout: 20_000 }
const running = () => new AbortController().signal
const LINE = 'Some words of plain text, line by line.\r\n'
/** As much work as a message can be that is parsed beside others. */
const SHORT_LINES = 'a b\r\n'.repeat(200_000)
const CUT = { status: 'parsed', attempts: 1, truncated: true }
const largeText = (bytes: number): string => LINE.repeat(Math.ceil(bytes / LINE.length))

describe('a large message', () => {
  let stack: Stack
  let postgres: PostgresPlatform
  let queue: PostgresQueue
  const cleanUp = new AsyncDisposableStack()
  beforeAll(async () => {
    ;({ stack, postgres, queue } = await stackWithQueue(cleanUp))
  })
  afterAll(() => cleanUp.disposeAsync())
  beforeEach(() =>
    stack.inSite('one.test', (tx) =>
      sql`delete from pgboss.job where name = 'large-mail-parse'`.execute(tx.db),
    ),
  )

  type Limits = Parameters<typeof loneMailParser>[0]['limits']

  /** Counts how often a message is read. */
  function parsingWith({ shared = {}, lone = {} }: { shared?: Limits; lone?: Limits } = {}) {
    const used = new AsyncDisposableStack()
    const counted = (parser: MailParser) => {
      used.use(parser)
      return Object.assign(parser, { parse: vi.fn<MailParser['parse']>(parser.parse.bind(parser)) })
    }
    const deps = { command: builtMailParser, logger: silentLog }
    const parsers = {
      mailParser: counted(sharedMailParser({ ...deps, limits: shared ?? {} })),
      loneMailParser: counted(loneMailParser({ ...deps, limits: lone ?? {} })),
    }
    const rest = { accepting: new Accepting(), noteBounce: () => Promise.resolve() }
    const parsing = new MailParsing({ ...stack.context, ...postgres, queue, ...parsers, ...rest })
    return { used, parsing, ...parsers }
  }
  const jobs = () =>
    stack.inSite('one.test', async (tx) => {
      const { rows } = await sql<{ key: string; isLater: boolean }>`
        select singleton_key as key, start_after > now() as "isLater" from pgboss.job
        where name = 'large-mail-parse' and data ->> 'siteId' = ${tx.siteId}
          and state = 'created'`.execute(tx.db)
      return rows
    })

  test('is left to a worker of its own', async () => {
    const { used, parsing, mailParser, loneMailParser: lone } = parsingWith()
    await using _ = used
    const received = await receive(stack, Buffer.from(mail(['Subject: large'], largeText(MIB))))
    await parsing.run(received, running())
    expect(mailParser.parse).not.toHaveBeenCalled()
    expect(await stored(stack, received)).toMatchObject([{ status: 'pending' }])
    expect(await jobs()).toEqual([{ key: received.siteId, isLater: false }])
    await parsing.large.run(received, running())
    expect(lone.parse).toHaveBeenCalledTimes(1)
    expect(await stored(stack, received)).toMatchObject([{ status: 'parsed', truncated: true }])
  })

  test('of 25 MiB of text is shown with the text that was parsed', async () => {
    const { used, parsing } = parsingWith()
    await using _ = used
    const text = largeText(25 * MIB)
    const raw = mail(['Subject: 25 MiB', 'Content-Type: text/plain'], text)
    const received = await receive(stack, Buffer.from(raw))
    await parsing.large.run(received, running())
    const [row] = await stored(stack, received)
    expect(row).toMatchObject({
      ...CUT,
      attachments: [{ filename: 'message.txt', sizeBytes: text.length }],
    })
    expect(row?.snippet).toMatch(/^Some words of plain text/)
    expect(Buffer.byteLength(row?.text ?? '')).toBe(512 * 1024)
  })

  test('of very many short lines is shown with the text that was parsed', async () => {
    const { used, parsing } = parsingWith()
    await using _ = used
    const raw = mail(['Subject: short', 'Content-Type: text/plain'], 'a\r\n'.repeat(8 * MIB))
    const received = await receive(stack, Buffer.from(raw))
    await parsing.large.run(received, running())
    const [row] = await stored(stack, received)
    expect(row).toMatchObject({ ...CUT, attachments: [{ filename: 'message.txt' }] })
    expect(row?.text).toMatch(/^(?:a\n)+$/)
  })

  test.each([
    ['hangs', { cpuMs: -1 }],
    ['takes all memory', { memoryBytes: 1024 }],
  ])('that %s is tried once, and shown with its beginning', async (_, lone) => {
    const { used, parsing, loneMailParser: parser } = parsingWith({ lone })
    await using __ = used
    const content = mail(['Subject: costly'], 'words '.repeat(4_000_000))
    const received = await receive(stack, Buffer.from(content))
    await parsing.large.run(received, running())
    const [row] = await stored(stack, received)
    expect(row).toMatchObject({
      status: 'failed',
      attempts: 1,
      subject: 'costly',
      html: null,
      truncated: true,
      text: expect.stringMatching(/^From: Eve[^]*words words/),
    })
    await parsing.run(received, running())
    await parsing.large.run(received, running())
    expect(parser.parse).toHaveBeenCalledTimes(1)
  })

  test('that is small and takes too much beside others is tried alone once', async () => {
    const limits = { cpuMs: -1 }
    const { used, parsing, ...parsers } = parsingWith({ shared: limits, lone: limits })
    await using _ = used
    const received = await receive(stack, Buffer.from(mail(['Subject: bomb'], SHORT_LINES)))
    await parsing.run(received, running())
    expect(await stored(stack, received)).toMatchObject([{ status: 'pending', attempts: 1 }])
    expect(await jobs()).toEqual([{ key: received.siteId, isLater: false }])
    await parsing.run(received, running())
    expect(parsers.mailParser.parse).toHaveBeenCalledTimes(1)
    await parsing.large.run(received, running())
    expect(await stored(stack, received)).toMatchObject([{ status: 'failed', attempts: 2 }])
    expect(parsers.loneMailParser.parse).toHaveBeenCalledTimes(1)
  })

  test('is shown alone where it only takes too much beside others', async () => {
    const { used, parsing } = parsingWith({ shared: { memoryBytes: 1024 } })
    await using _ = used
    const received = await receive(stack, Buffer.from(mail(['Subject: slow'], SHORT_LINES)))
    await parsing.run(received, running())
    await parsing.large.run(received, running())
    expect(await stored(stack, received)).toMatchObject([{ status: 'parsed' }])
  })

  test('during whose parsing the service was killed again and again is not tried any more', async () => {
    const { used, parsing, loneMailParser: parser } = parsingWith()
    await using _ = used
    const received = await receive(stack, Buffer.from(mail(['Subject: killer'], largeText(MIB))))
    await stack.inSite('one.test', (tx) =>
      tx.db
        .updateTable('mail_raw')
        .set({ parse_attempts: 3 })
        .where('site_id', '=', tx.siteId)
        .where('raw_id', '=', received.rawId)
        .execute(),
    )
    await parsing.large.run(received, running())
    expect(parser.parse).not.toHaveBeenCalled()
    expect(await stored(stack, received)).toMatchObject([{ status: 'failed', truncated: true }])
  })

  test('whose bytes cannot be read now hinders none behind it, and comes again', async () => {
    const { used, parsing } = parsingWith()
    await using _ = used
    const raw = () =>
      Buffer.from(mail(['Subject: l'], `${randomBytes(9).toString('hex')}${largeText(MIB)}`))
    const missing = await receive(stack, raw())
    const { objects } = stack.context
    await objects.delete(rawKey(missing.siteId, missing.rawId))
    const good = await receive(stack, raw())
    await parsing.large.run(missing, running())
    expect(await stored(stack, good)).toMatchObject([{ status: 'parsed' }])
    await parsing.large.run(missing, running())
    expect(await stored(stack, missing)).toMatchObject([{ status: 'pending', attempts: 0 }])
    expect(await jobs()).toContainEqual({ key: `${missing.siteId} later`, isLater: true })
  })
})

describe('large messages of one site', () => {
  const TEXT = { html: null, truncated: false, attachments: [], snippet: '', bounce: null }
  /** The large messages in the order in which they are parsed; each waits until it is released. */
  const order: string[] = []
  const held: PromiseWithResolvers<void>[] = []
  const read = async (open: Parameters<MailParser['parse']>[0]): Promise<string> => {
    const { body } = await open()
    const text = await new Response(body).text()
    return /Subject: (.*)\r\n/.exec(text)?.[1] ?? ''
  }
  const parsed = (text: string): ParseOutcome => ({ mail: { ...TEXT, text } })
  const disposed = { [Symbol.asyncDispose]: async () => {} }
  const platform = {
    mailParser: { parse: async (open) => parsed(await read(open)), ...disposed },
    loneMailParser: {
      parse: async (open) => {
        const subject = await read(open)
        const until = Promise.withResolvers<void>()
        held.push(until)
        order.push(subject)
        await until.promise
        return parsed(subject)
      },
      ...disposed,
    },
  } satisfies { mailParser: MailParser; loneMailParser: MailParser }
  let stack: Stack
  let port: number
  beforeAll(async () => {
    const mailConfig = mailSettings({ smtpLimits: { messageBytes: 4 * MIB } })
    stack = await startStack({ config: { mail: mailConfig }, platform })
    port = await stack.context.smtp.start()
    for (const site of ['one.test', 'two.test']) await makeMailboxes(stack, site, ['info'])
  })
  afterAll(async () => {
    for (const each of held) each.resolve()
    await stack.context.smtp.drain(1000)
    await stack[Symbol.asyncDispose]()
  })

  const send = async (site: string, subject: string, body: string) => {
    await using client = await RawSmtp.greeted(port)
    const text = `From: Ann <ann@a.test>\r\nSubject: ${subject}\r\n\r\n${body}`
    expect(await client.message('ann@a.test', [`info@${site}`], text)).toMatch(/^250/)
  }
  const textOf = async (site: string, subject: string): Promise<string> => {
    const ann = await new AdminPool(stack, site).first()
    const list = await ann.call('GET', '/messages')
    const items: readonly { id: string; subject: string }[] = list.json.items
    const found = items.find((each) => each.subject === subject)
    return found ? (await ann.call('GET', `/messages/${found.id}`)).json.text : ''
  }

  test('leave the small ones of all sites alone, and take turns with the large ones of others', async () => {
    for (const name of ['a', 'b', 'c']) await send('one.test', `one ${name}`, largeText(MIB))
    await vi.waitUntil(() => order.length === 1, WAIT)
    await send('two.test', 'two a', largeText(MIB))
    await send('two.test', 'small', 'w\r\n')
    await send('one.test', 'small', 'w\r\n')
    // None of the large ones is parsed yet.
    for (const site of ['one.test', 'two.test']) {
      await vi.waitUntil(async () => (await textOf(site, 'small')) === 'small', WAIT)
    }
    expect(order).toEqual(['one a'])
    for (let count = 1; count <= 4; count += 1) {
      await vi.waitUntil(() => held.length === count, WAIT)
      held.at(-1)?.resolve()
    }
    await vi.waitUntil(async () => (await textOf('one.test', 'one c')) === 'one c', WAIT)
    expect(order.toSorted()).toEqual(['one a', 'one b', 'one c', 'two a'])
    expect(order[0]).toBe('one a')
    // A job of the first site may have been queued before: one message of it, never the rest.
    expect(order.indexOf('two a')).toBeLessThan(order.indexOf('one c'))
    expect(await textOf('two.test', 'two a')).toBe('two a')
  })
})
