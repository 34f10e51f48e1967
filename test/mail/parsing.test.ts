import { randomBytes, randomUUID } from 'node:crypto'

import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { mail, multipart, part } from '#corpus/sample.ts'
import { insertMessages } from '#mail/inbound/queries.ts'
import { partKey, rawKey } from '#mail/objects/mail-keys.ts'
import { Accepting } from '#mail/parsing/accepting.ts'
import { MailParsing } from '#mail/parsing/mail-parsing.ts'
import type { MailParser } from '#platform/mail-parser/mail-parser.ts'
import {
  loneMailParser,
  ProcessMailParser,
  sharedMailParser,
} from '#platform/mail-parser/process-mail-parser.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { PostgresQueue } from '#platform/queue/postgres-queue.ts'
import { builtMailParser } from '#test/built-sandbox.ts'
import { childrenOf } from '#test/process-table.ts'
import { type ReceivedMail, arrivalOf, receive, stored } from '#test/received-mail.ts'
import { silentLog } from '#test/silent-log.ts'
import { stackWithQueue } from '#test/stack-with-queue.ts'
import type { Stack } from '#test/stack.ts'

let stack: Stack
let postgres: PostgresPlatform
let queue: PostgresQueue
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  ;({ stack, postgres, queue } = await stackWithQueue(cleanUp))
})
afterAll(() => cleanUp.disposeAsync())

const running = () => new AbortController().signal
type Limits = ConstructorParameters<typeof ProcessMailParser>[0]['limits']

function parsingWith(limits: Limits = {}): { parser: AsyncDisposable; parsing: MailParsing } {
  const deps = { command: builtMailParser, logger: silentLog, limits }
  const parser = new AsyncDisposableStack()
  const mailParser = parser.use(sharedMailParser(deps))
  const lone = parser.use(loneMailParser(deps))
  const { context } = stack
  return {
    parser,
    parsing: new MailParsing({
      ...context,
      ...postgres,
      queue,
      mailParser,
      loneMailParser: lone,
      accepting,
      noteBounce,
    }),
  }
}

/** None is on its way in. */
const accepting = new Accepting()
/** No message of these is large. */
const none: MailParser = {
  parse: () => Promise.reject(new Error('A message is parsed alone')),
  [Symbol.asyncDispose]: async () => {},
}
/** No message of these was sent from here. */
const noteBounce = () => Promise.resolve()

describe('a message that was accepted', () => {
  test('is shown in each of its mailboxes, its attachments in the object store', async () => {
    const { parser, parsing } = parsingWith()
    await using _ = parser
    const raw = multipart('mixed', [
      part(['Content-Type: text/html'], '<p>Hello <img src="https://e.test/x.gif">zebra</p>'),
      part(['Content-Type: text/csv; name=a.csv'], 'a;b'),
    ])
    const received = await receive(stack, Buffer.from(raw), { mailboxes: ['mbx_a', 'mbx_b'] })
    await parsing.run(received, running())
    const rows = await stored(stack, received)
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatchObject({
      status: 'parsed',
      attempts: 0,
      text: 'Hello zebra',
      html: '<p>Hello <img data-remote-src="https://e.test/x.gif" />zebra</p>\n',
      snippet: 'Hello zebra',
      hasAttachments: true,
      attachments: [
        {
          attachmentId: 'att_1',
          filename: 'a.csv',
          contentType: 'text/csv',
          sizeBytes: 3,
          contentId: null,
          inline: false,
        },
      ],
    })
    const key = partKey(received.siteId, received.rawId, 'att_1')
    const object = await stack.context.objects.get(key)
    expect(await new Response(object?.body).text()).toBe('a;b')
    expect(await found("mbx_b & zebra & 'n:a' <-> 'n:csv'")).toEqual([rows[1]?.messageId])
  })

  test('is parsed once, however often it is asked for', async () => {
    const { parser, parsing } = parsingWith()
    await using _ = parser
    const received = await receive(stack, Buffer.from(mail(['Subject: once'], 'w')))
    await Promise.all([parsing.run(received, running()), parsing.run(received, running())])
    expect(await stored(stack, received)).toMatchObject([{ status: 'parsed', text: 'w\n' }])
  })

  test('that was removed since has its parts removed, too', async () => {
    const received = await receive(stack, Buffer.from(mail(['Subject: gone'], 'w')))
    const { siteId, rawId } = received
    const { context } = stack
    const parsing = new MailParsing({
      ...context,
      ...postgres,
      queue,
      accepting,
      noteBounce,
      loneMailParser: none,
      mailParser: {
        parse: async () => {
          await remove(rawId)
          const mailParts = { html: null, truncated: false, attachments: [], bounce: null }
          return { mail: { text: '', snippet: '', ...mailParts } }
        },
        [Symbol.asyncDispose]: async () => {},
      },
    })
    await parsing.run({ siteId }, running())
    const removed = await stack.inSite('one.test', (tx) =>
      tx.db
        .selectFrom('mail_removed_object')
        .select('raw_id')
        .where('site_id', '=', tx.siteId)
        .where('raw_id', '=', rawId)
        .execute(),
    )
    expect(removed).toHaveLength(1)
  })
})

describe('a message that the parser cannot take', () => {
  test('hinders none that comes behind it', async () => {
    const { parser, parsing } = parsingWith()
    await using _ = parser
    const broken = await receive(stack, Buffer.from(`X: ${'x'.repeat(2 ** 21)}\r\n\r\n`))
    const good = await receive(stack, Buffer.from(mail(['Subject: good'], 'w')))
    await parsing.run(broken, running())
    await parsing.large.run(broken, running())
    expect(await stored(stack, broken)).toMatchObject([{ status: 'failed' }])
    expect(await stored(stack, good)).toMatchObject([{ status: 'parsed' }])
  })
})

describe('messages that are written together', () => {
  test('are written one by one where something hinders one of them', async () => {
    const raws = ['one', 'bounce', 'two'].map((name) => mail([`Subject: ${name}`], name))
    const received: ReceivedMail[] = []
    for (const raw of raws) received.push(await receive(stack, Buffer.from(raw)))
    const unsaid = { recipient: null, status: null, action: null, diagnostic: null }
    const bounce = { kind: 'failed', originalMessageId: 'x@y', ...unsaid } as const
    const rest = { html: null, truncated: false, attachments: [], snippet: '' }
    const parsing = new MailParsing({
      ...stack.context,
      ...postgres,
      queue,
      accepting,
      loneMailParser: none,
      noteBounce: () => Promise.reject(new Error('not now')),
      mailParser: {
        parse: async (open) => {
          const text = await new Response((await open()).body).text()
          const found = text.includes('bounce') ? bounce : null
          return { mail: { ...rest, text, bounce: found } }
        },
        [Symbol.asyncDispose]: async () => {},
      },
    })
    const [one, hindered, two] = received
    if (!one || !hindered || !two) throw new Error('Three were received')
    await expect(parsing.run(one, running())).rejects.toThrow('could not be parsed now')
    expect(await stored(stack, one)).toMatchObject([{ status: 'parsed' }])
    expect(await stored(stack, hindered)).toMatchObject([{ status: 'pending', text: null }])
    expect(await stored(stack, two)).toMatchObject([{ status: 'parsed' }])
    await remove(hindered.rawId)
  })

  test('join the conversations of each other, each in its mailboxes', async () => {
    const { parser, parsing } = parsingWith()
    await using _ = parser
    const question = mail(['Subject: q', 'Message-ID: <together-1@e.test>'], 'w')
    const answer = mail(
      ['Subject: a', 'Message-ID: <together-2@e.test>', 'In-Reply-To: <together-1@e.test>'],
      'w',
    )
    const mailboxes = ['mbx_together_a', 'mbx_together_b']
    const first = await receive(stack, Buffer.from(question), { mailboxes })
    const second = await receive(stack, Buffer.from(answer), { mailboxes })
    const alone = await receive(stack, Buffer.from(answer), { mailboxes: ['mbx_together_c'] })
    await parsing.run(first, running())
    const threads = async (one: ReceivedMail) =>
      (await stored(stack, one)).map(({ threadId }) => threadId)
    const [inA, inB] = await threads(first)
    expect(inA).not.toBe(inB)
    expect(await threads(second)).toEqual([inA, inB])
    expect(await threads(alone)).toEqual([alone.messageId])
  })
})

describe('a process that parses mail', () => {
  test('and does not start leaves no message open', async () => {
    const missing = { ...(await builtMailParser()), file: '/nowhere/node' }
    const command = () => Promise.resolve(missing)
    await using parser = new ProcessMailParser({ command, logger: silentLog })
    const cancelled = vi.fn<() => void>()
    const open = () =>
      Promise.resolve({ sizeBytes: 1, body: new ReadableStream({ cancel: cancelled }) })
    await expect(parser.parse(open, () => Promise.resolve())).rejects.toThrow(/interrupted/)
    expect(cancelled).toHaveBeenCalledTimes(4)
  })

  test('and is killed again and again loses nothing', async () => {
    const { parser, parsing } = parsingWith()
    await using _ = parser
    const big = mail(['Subject: big'], 'some words and more\r\n'.repeat(20_000))
    const all: ReceivedMail[] = []
    for (let at = 0; at < 3; at += 1) all.push(await receive(stack, Buffer.from(big)))
    let isDone = false
    const [first] = all
    if (!first) throw new Error('nothing was received')
    const parsed = parsing.run(first, running()).finally(() => {
      isDone = true
    })
    let kills = 0
    while (!isDone && kills < 3) {
      await new Promise((resolve) => setImmediate(resolve))
      for (const { pid } of ownParsers()) {
        process.kill(pid, 'SIGKILL')
        kills += 1
      }
    }
    await parsed
    expect(kills).toBeGreaterThan(0)
    for (const received of all) {
      expect(await stored(stack, received)).toMatchObject([{ status: 'parsed', attempts: 0 }])
    }
  })
})

describe('conversations', () => {
  let at = 0
  const say = async (id: string, fields: readonly string[] = []): Promise<ReceivedMail> => {
    at += 1
    const raw = Buffer.from(mail([`Message-ID: <${id}>`, 'Subject: talk', ...fields], id))
    const mailboxes = ['mbx_talk']
    return receive(stack, raw, { mailboxes, receivedAt: new Date(2026, 0, 1, 0, at) })
  }
  const threadOf = async (one: ReceivedMail) => (await stored(stack, one))[0]?.threadId

  test('follow ids, whatever the order, and never subjects', async () => {
    const { parser, parsing } = parsingWith()
    await using _ = parser
    const first = await say('a@x')
    const stranger = await say('s@x')
    const late = await say('c@x', ['References: <a@x> <b@x>'])
    await parsing.run(first, running())
    expect(await threadOf(late)).toBe(await threadOf(first))
    expect(await threadOf(stranger)).not.toBe(await threadOf(first))
    const middle = await say('b@x', ['In-Reply-To: <a@x>'])
    const joining = await say('j@x', ['References: <s@x>', 'In-Reply-To: <c@x>'])
    await parsing.run(first, running())
    const threads = await Promise.all([first, late, middle, joining, stranger].map(threadOf))
    expect(new Set(threads)).toEqual(new Set([first.messageId]))
  })
})

describe('the job that parses what a site has', () => {
  const isReliedOn = () =>
    stack.inSite('one.test', async (tx) => {
      const usage = await tx.db
        .selectFrom('mail_usage')
        .select('parsing_since as since')
        .where('site_id', '=', tx.siteId)
        .executeTakeFirst()
      return usage?.since instanceof Date
    })
  const jobs = () =>
    stack.inSite('one.test', async (tx) => {
      const { rows } = await sql<{ key: string; state: string; isLater: boolean }>`
        select singleton_key as key, state::text, start_after > now() as "isLater"
        from pgboss.job where name = 'mail-parse' and data ->> 'siteId' = ${tx.siteId}
        order by created_on`.execute(tx.db)
      return rows
    })

  beforeEach(() =>
    stack.inSite('one.test', async (tx) => {
      await sql`delete from pgboss.job where name = 'mail-parse'`.execute(tx.db)
      await sql`insert into mail_usage (site_id) values (${tx.siteId})
        on conflict (site_id) do update set parsing_since = null`.execute(tx.db)
    }),
  )

  test('is relied on until it has looked again', async () => {
    const { parser, parsing } = parsingWith()
    await using _ = parser
    await stack.inSite('one.test', (tx) => parsing.queueUp(tx))
    expect(await isReliedOn()).toBe(true)
    const received = await receive(stack, Buffer.from(mail(['Subject: relied'], 'w')))
    await parsing.run(received, running())
    expect(await stored(stack, received)).toMatchObject([{ status: 'parsed' }])
    expect(await isReliedOn()).toBe(false)
  })

  test('waits for those who add a message at the same time', async () => {
    const { parser, parsing } = parsingWith()
    await using _ = parser
    const raw = Buffer.from(mail(['Subject: at the same time'], 'w'))
    const arrival = arrivalOf(raw)
    const { siteId } = await stack.context.sites.find('one.test')
    await stack.context.objects.put(rawKey(siteId, arrival.rawId), raw)
    const [added, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const adding = stack.inSite('one.test', async (tx) => {
      const place = { mailboxId: 'mbx_one', messageId: `msg_${randomUUID()}`, recipient: 'a@b' }
      await insertMessages(tx, [{ ...place, hash: randomBytes(32), arrival }], new Date())
      added.resolve()
      await held.promise
    })
    await added.promise
    const job = parsing.run({ siteId }, running())
    await vi.waitUntil(async () => (await waiters()) > 0)
    held.resolve()
    await Promise.all([adding, job])
    expect(await stored(stack, arrival)).toMatchObject([{ status: 'parsed', text: 'w\n' }])
  })

  test('finds what was received before the last one, and added after it', async () => {
    const received: ReceivedMail[] = []
    const add = async (receivedAt: Date) =>
      received.push(await receive(stack, Buffer.from(mail(['Subject: s'], 'w')), { receivedAt }))
    await add(new Date())
    const parsing = new MailParsing({
      ...stack.context,
      ...postgres,
      queue,
      accepting,
      noteBounce,
      loneMailParser: none,
      mailParser: {
        parse: async (open) => {
          const text = await new Response((await open()).body).text()
          if (received.length === 1) await add(new Date(Date.now() - 60_000))
          const rest = { html: null, truncated: false, attachments: [], snippet: '', bounce: null }
          return { mail: { ...rest, text } }
        },
        [Symbol.asyncDispose]: async () => {},
      },
    })
    const { siteId } = await stack.context.sites.find('one.test')
    await parsing.run({ siteId }, running())
    expect(received).toHaveLength(2)
    for (const each of received) {
      expect(await stored(stack, each)).toMatchObject([{ status: 'parsed' }])
    }
  })

  test('lets messages that come go first', async () => {
    await using mailParser = new ProcessMailParser({ command: builtMailParser, logger: silentLog })
    const came = Promise.withResolvers<boolean>()
    const pause = vi.fn<() => Promise<boolean>>(() => came.promise)
    const lone = { loneMailParser: none }
    const deps = { ...stack.context, ...postgres, ...lone, queue, mailParser, noteBounce }
    const parsing = new MailParsing({ ...deps, accepting: { pause } })
    const received = await receive(stack, Buffer.from(mail(['Subject: waits'], 'w')))
    const job = parsing.run(received, running())
    await vi.waitUntil(() => pause.mock.calls.length > 0)
    expect(await stored(stack, received)).toMatchObject([{ status: 'pending' }])
    came.resolve(true)
    await job
    expect(await stored(stack, received)).toMatchObject([{ status: 'parsed' }])
  })

  test('waits for no pause in what its site receives while another site waits', async () => {
    await using mailParser = new ProcessMailParser({ command: builtMailParser, logger: silentLog })
    const lone = { loneMailParser: none }
    const deps = { ...stack.context, ...postgres, ...lone, queue, mailParser, noteBounce }
    const pause = vi.fn<() => Promise<boolean>>(async () => false)
    const parsing = new MailParsing({ ...deps, accepting: { pause }, lookMs: 0 })
    const received = await receive(stack, Buffer.from(mail(['Subject: in turn'], 'w')))
    await stack.inSite('two.test', (tx) => parsing.queueUp(tx))
    await parsing.run(received, running())
    expect(await stored(stack, received)).toMatchObject([{ status: 'parsed' }])
    // Once before its batch, and once before it looks for more.
    expect(pause).toHaveBeenCalledTimes(2)
  })

  test('lets the jobs of others go first now and then', async () => {
    await using parser = new ProcessMailParser({ command: builtMailParser, logger: silentLog })
    const parsers = { mailParser: parser, loneMailParser: none }
    const deps = { ...stack.context, ...postgres, ...parsers, queue, accepting, noteBounce }
    const parsing = new MailParsing({ ...deps, turnMs: 0 })
    const received: ReceivedMail[] = []
    for (let count = 0; count < 21; count += 1) {
      received.push(await receive(stack, Buffer.from(mail([`Subject: ${count}`], 'w'))))
    }
    const [{ siteId } = { siteId: '' }] = received
    await parsing.run({ siteId }, running())
    const statuses = async () =>
      (await Promise.all(received.map((each) => stored(stack, each)))).flatMap((rows) =>
        rows.map(({ status }) => status),
      )
    expect((await statuses()).filter((status) => status === 'pending')).toHaveLength(1)
    expect(await jobs()).toEqual([{ key: siteId, state: 'created', isLater: false }])
    expect(await isReliedOn()).toBe(true)
    await parsing.run({ siteId }, running())
    expect(await statuses()).not.toContain('pending')
  })

  test('ends its turn after the current message where another site waits', async () => {
    await using mailParser = new ProcessMailParser({ command: builtMailParser, logger: silentLog })
    const parsers = { mailParser, loneMailParser: none }
    const deps = { ...stack.context, ...postgres, ...parsers, queue, accepting, noteBounce }
    const parsing = new MailParsing({ ...deps, lookMs: 0 })
    const receiveThree = async () => {
      const received: ReceivedMail[] = []
      for (const name of ['a', 'b', 'c']) {
        received.push(await receive(stack, Buffer.from(mail([`Subject: ${name}`], 'w'))))
      }
      return received
    }
    const statusesOf = async (received: readonly ReceivedMail[]) =>
      (await Promise.all(received.map((each) => stored(stack, each)))).flatMap((rows) =>
        rows.map(({ status }) => status),
      )
    const first = await receiveThree()
    const [{ siteId } = { siteId: '' }] = first
    await parsing.run({ siteId }, running())
    expect(await statusesOf(first)).toEqual(['parsed', 'parsed', 'parsed'])
    const second = await receiveThree()
    await stack.inSite('two.test', (tx) => parsing.queueUp(tx))
    await parsing.run({ siteId }, running())
    expect(await statusesOf(second)).toEqual(['parsed', 'pending', 'pending'])
    expect(await jobs()).toEqual([{ key: siteId, state: 'created', isLater: false }])
    await stack.inSite('two.test', (tx) =>
      sql`delete from pgboss.job where name = 'mail-parse'`.execute(tx.db),
    )
    await parsing.run({ siteId }, running())
    expect(await statusesOf(second)).toEqual(['parsed', 'parsed', 'parsed'])
  })

  test('that was given up comes again after an hour, and new messages before it', async () => {
    const { parser, parsing } = parsingWith()
    await using _ = parser
    const { siteId } = await stack.context.sites.find('one.test')
    await parsing.givenUp({ siteId })
    expect(await isReliedOn()).toBe(false)
    await stack.inSite('one.test', (tx) => parsing.queueUp(tx))
    expect(await jobs()).toEqual([
      { key: `${siteId} later`, state: 'created', isLater: true },
      { key: siteId, state: 'created', isLater: false },
    ])
  })
})

/** Sessions of this database that wait for a lock. */
const waiters = () =>
  stack.inSite('one.test', async (tx) => {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count
      from pg_locks where not granted and locktype in ('transactionid', 'tuple')
        and pid in (select pid from pg_stat_activity where datname = current_database())`.execute(
      tx.db,
    )
    return rows[0]?.count ?? 0
  })

const ownParsers = () =>
  childrenOf(process.pid).filter(({ command }) => command.includes('mail-parser.js'))

const found = (query: string) =>
  stack.inSite('one.test', async (tx) => {
    await sql`select set_config('app.mail_query', ${query}, true)`.execute(tx.db)
    const rows = await tx.db
      .selectFrom('mail_search')
      .select('message_id as messageId')
      .where('site_id', '=', tx.siteId)
      .execute()
    return rows.map(({ messageId }) => messageId)
  })

const remove = (rawId: string) =>
  stack.inSite('one.test', async (tx) => {
    for (const table of ['mail_message', 'mail_raw'] as const) {
      await tx.db
        .deleteFrom(table)
        .where('site_id', '=', tx.siteId)
        .where('raw_id', '=', rawId)
        .execute()
    }
  })
