import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { insertArchivedRows, selectCataloguedTables } from '#archives/row-queries.ts'
import { mail, multipart, part } from '#corpus/sample.ts'
import { mailPrefix, partKey, rawKey } from '#mail/objects/mail-keys.ts'
import { Accepting } from '#mail/parsing/accepting.ts'
import { MailParsing } from '#mail/parsing/mail-parsing.ts'
import { PARSE_VERSION } from '#mail/parsing/parse-version.ts'
import { MailReparsing } from '#mail/reparsing/mail-reparsing.ts'
import { reindexMessages } from '#mail/search/index-messages.ts'
import { ENOUGH_ROOM } from '#platform/disk/disk-room.ts'
import type { MailParser } from '#platform/mail-parser/mail-parser.ts'
import { loneMailParser, sharedMailParser } from '#platform/mail-parser/process-mail-parser.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { PostgresQueue } from '#platform/queue/postgres-queue.ts'
import { from } from '#test/accounts-desk.ts'
import { AdminPool } from '#test/admin-api.ts'
import { builtMailParser } from '#test/built-sandbox.ts'
import { type ReceivedMail, receive, stored } from '#test/received-mail.ts'
import { silentLog } from '#test/silent-log.ts'
import { stackWithQueue } from '#test/stack-with-queue.ts'
import type { Stack } from '#test/stack.ts'

const running = () => new AbortController().signal
const NO_WORDS = 'Nothing of it is known'
const NOTHING = { subject: '', from: [''], to: [], filenames: [], hasAttachments: false, text: '' }

let stack: Stack
let postgres: PostgresPlatform
let queue: PostgresQueue
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  ;({ stack, postgres, queue } = await stackWithQueue(cleanUp))
})
afterAll(() => cleanUp.disposeAsync())
beforeEach(async () => {
  await queueEmptied()
  for (const host of ['one.test', 'two.test']) {
    await stack.inSite(host, (tx) =>
      sql`update mail_raw set parse_version = ${PARSE_VERSION}`.execute(tx.db),
    )
  }
})

type Limits = Parameters<typeof loneMailParser>[0]['limits']

/** What parses messages, and parses them again; `look` sees each message before its parser. */
function servicesWith({
  limits = {},
  look = async () => {},
  ...more
}: {
  readonly limits?: Limits
  readonly look?: () => Promise<void>
  readonly accepting?: Accepting
  readonly turnMs?: number
} = {}) {
  const used = new AsyncDisposableStack()
  const watched = (parser: MailParser) => {
    used.use(parser)
    const parse = parser.parse.bind(parser)
    return Object.assign(parser, {
      parse: vi.fn<MailParser['parse']>(async (...message) => {
        await look()
        return parse(...message)
      }),
    })
  }
  const deps = { command: builtMailParser, logger: silentLog, limits: limits ?? {} }
  const parsers = {
    mailParser: watched(sharedMailParser(deps)),
    loneMailParser: watched(loneMailParser(deps)),
  }
  const { context } = stack
  const shared = {
    ...context,
    ...postgres,
    queue,
    ...parsers,
    accepting: new Accepting(),
    disk: ENOUGH_ROOM,
    ...more,
  }
  const events = { record: () => Promise.resolve() }
  return {
    used,
    ...parsers,
    parsing: new MailParsing({ ...shared, noteBounce: () => Promise.resolve() }),
    reparsing: new MailReparsing({ ...shared, events }),
  }
}

const jobs = () =>
  stack.inSite('one.test', async (tx) => {
    const { rows } = await sql<{ key: string }>`
      select singleton_key as key from pgboss.job
      where name = 'mail-reparse' and state = 'created'`.execute(tx.db)
    return rows.map(({ key }) => key)
  })
const queueEmptied = () =>
  stack.inSite('one.test', (tx) =>
    sql`delete from pgboss.job where name in ('mail-reparse', 'mail-parse')`.execute(tx.db),
  )

/** A message that an earlier version read worse. */
async function misread(
  { parsing }: Pick<ReturnType<typeof servicesWith>, 'parsing'>,
  raw: string,
  { version = 0, ...options }: Parameters<typeof receive>[2] & { readonly version?: number } = {},
): Promise<ReceivedMail> {
  const received = await receive(stack, Buffer.from(raw), options)
  await parsing.run(received, running())
  const messageIds = await ofRaw(received)
  await stack.inSite(options.host ?? 'one.test', async (tx) => {
    const { siteId, rawId } = received
    await sql`update mail_raw set parse_version = ${version} where raw_id = ${rawId}`.execute(tx.db)
    await sql`update mail_content set text = ${NO_WORDS}, html = null
      where raw_id = ${rawId}`.execute(tx.db)
    await sql`update mail_message set subject = ${NO_WORDS}, from_address = '', recipients = '{}',
      snippet = ${NO_WORDS}, has_attachments = false, thread_id = 'thr_of_before', seen = true,
      folder = 'ARCHIVE' where raw_id = ${rawId}`.execute(tx.db)
    const words = messageIds.map(({ messageId, mailboxId }) => ({
      messageId,
      mailboxId,
      receivedAt: new Date(),
      words: { ...NOTHING, text: 'misread' },
    }))
    await reindexMessages(tx, words)
    expect(siteId).toBe(tx.siteId)
  })
  return received
}

/** The messages of each raw message. */
function ofRaw({ rawId, siteId }: ReceivedMail) {
  return postgres.database.withSite(siteId, (tx) =>
    tx.db
      .selectFrom('mail_message')
      .select(['message_id as messageId', 'mailbox_id as mailboxId'])
      .where('site_id', '=', siteId)
      .where('raw_id', '=', rawId)
      .orderBy('mailbox_id')
      .execute(),
  )
}

const found = (word: string): Promise<string[]> =>
  stack.inSite('one.test', async (tx) => {
    await sql`select set_config('app.mail_query', ${word}, true)`.execute(tx.db)
    const { rows } = await sql<{ id: string }>`
      select message_id as id from mail_search where site_id = ${tx.siteId}
      order by mailbox_id`.execute(tx.db)
    return rows.map(({ id }) => id)
  })
const bytesAt = async ({ siteId, rawId }: ReceivedMail, id: string) => {
  const object = await stack.context.objects.get(partKey(siteId, rawId, id))
  return object && new Response(object.body).text()
}

const RAW = multipart('mixed', [
  part(['Content-Type: text/html'], '<p>Hello <b>zebra</b></p>'),
  part(['Content-Type: text/csv; name=a.csv', 'Content-Transfer-Encoding: base64'], 'YTtiCg=='),
])

describe('a message that an earlier version parsed', () => {
  test('is shown and found as this one does it, and stays where it is', async () => {
    const services = servicesWith()
    await using _ = services.used
    const received = await misread(services, RAW, { mailboxes: ['mbx_a', 'mbx_b'] })
    const before = await stored(stack, received)
    expect(await found('misread')).toEqual(before.map(({ messageId }) => messageId))
    await services.reparsing.run(received, running())
    const after = await stored(stack, received)
    expect(after).toHaveLength(2)
    for (const [at, row] of after.entries()) {
      expect(row).toMatchObject({
        status: 'parsed',
        messageId: before[at]?.messageId,
        threadId: 'thr_of_before',
        text: 'Hello zebra',
        html: '<p>Hello <b>zebra</b></p>\n',
        snippet: 'Hello zebra',
        hasAttachments: true,
        attachments: before[at]?.attachments,
      })
      expect(row.subject).not.toBe(NO_WORDS)
    }
    expect(await found('misread')).toEqual([])
    expect(await found('zebra & mbx_b')).toEqual([after[1]?.messageId])
    const places = await stack.inSite('one.test', (tx) =>
      tx.db
        .selectFrom('mail_message')
        .select(['folder', 'seen', 'from_address as from'])
        .where('raw_id', '=', received.rawId)
        .execute(),
    )
    expect(places).toMatchObject([
      { folder: 'ARCHIVE', seen: true, from: expect.stringContaining('Eve') },
      { folder: 'ARCHIVE', seen: true },
    ])
    expect(await services.reparsing.progress(received.siteId)).toMatchObject({ left: 0, failed: 0 })
    expect(await bytesAt(received, 'att_1')).toBe('a;b\n')
  })

  test('leads by earlier URLs to the earlier bytes', async () => {
    const services = servicesWith()
    await using _ = services.used
    const received = await misread(services, RAW)
    const { siteId, rawId } = received
    const listed = [
      { attachmentId: 'att_1', filename: 'a.csv', contentType: 'text/csv', bytes: 'a;b' },
      { attachmentId: 'att_2', filename: 'winmail.dat', contentType: 'text/plain', bytes: 'x' },
    ]
    for (const { attachmentId, bytes } of listed) {
      await stack.context.objects.put(partKey(siteId, rawId, attachmentId), Buffer.from(bytes))
    }
    const rows = listed.map(({ bytes, ...rest }) => ({
      ...rest,
      sizeBytes: bytes.length,
      contentId: null,
      inline: false,
    }))
    await stack.inSite('one.test', (tx) =>
      sql`update mail_content set attachments = ${JSON.stringify(rows)}::text::jsonb
        where raw_id = ${rawId}`.execute(tx.db),
    )
    await services.reparsing.run(received, running())
    const [after] = await stored(stack, received)
    expect(after?.attachments).toEqual([
      expect.objectContaining({
        attachmentId: 'att_1',
        objectId: expect.stringMatching(/^att_[a-z0-9]{16}$/),
        sizeBytes: 4,
      }),
    ])
    expect(await bytesAt(received, 'att_1')).toBe('a;b')
    expect(await bytesAt(received, 'att_2')).toBe('x')
    // The service gives the new bytes under the old id.
    const reader = { type: 'operator', origin: from() } as const
    const site = await stack.inSite('one.test', async (tx, one) => {
      await sql`insert into mail_address (site_id, local_part, kind)
        values (${siteId}, 'reparsed', 'mailbox')`.execute(tx.db)
      await sql`insert into mailbox (site_id, mailbox_id, local_part)
        values (${siteId}, 'mbx_one', 'reparsed')`.execute(tx.db)
      return one
    })
    const { attachments } = await stack.context.messages.get(site, reader, received.messageId)
    const { hostname, pathname, search } = new URL(attachments[0]?.url ?? '')
    expect((await stack.call(hostname, 'GET', pathname + search)).text).toBe('a;b\n')
  })

  test('is parsed once, and what this version parsed is not', async () => {
    const services = servicesWith()
    await using _ = services.used
    const received = await misread(services, RAW)
    const current = await misread(services, RAW, { version: PARSE_VERSION })
    services.mailParser.parse.mockClear()
    await services.reparsing.run(received, running())
    await services.reparsing.run(received, running())
    expect(services.mailParser.parse).toHaveBeenCalledTimes(1)
    expect(await stored(stack, current)).toMatchObject([{ text: NO_WORDS }])
  })

  test('is shown as before where this version cannot parse it, and counts as tried', async () => {
    const services = servicesWith()
    await using _ = services.used
    const received = await misread(services, RAW)
    const limited = servicesWith({ limits: { cpuMs: -1 }, look: () => Promise.resolve() })
    await using __ = limited.used
    // As much work as a message can be.
    await stack.context.objects.put(
      rawKey(received.siteId, received.rawId),
      Buffer.from(mail(['Subject: bomb'], 'a b\r\n'.repeat(200_000))),
    )
    await stack.inSite('one.test', (tx) =>
      sql`update mail_raw set size_bytes = ${mail(['Subject: bomb'], 'a b\r\n'.repeat(200_000)).length}
        where raw_id = ${received.rawId}`.execute(tx.db),
    )
    await limited.reparsing.run(received, running())
    await limited.reparsing.run(received, running())
    expect(limited.mailParser.parse).toHaveBeenCalledTimes(1)
    expect(limited.loneMailParser.parse).toHaveBeenCalledTimes(1)
    expect(await stored(stack, received)).toMatchObject([
      { status: 'parsed', text: NO_WORDS, subject: NO_WORDS },
    ])
    expect(await limited.reparsing.progress(received.siteId)).toMatchObject({ left: 0, failed: 1 })
    expect(await jobs()).toEqual([])
  })

  test('whose bytes are gone, or others, stays as it was', async () => {
    const services = servicesWith()
    await using _ = services.used
    const gone = await misread(services, RAW)
    const other = await misread(services, RAW)
    await stack.context.objects.delete(rawKey(gone.siteId, gone.rawId))
    await stack.context.objects.put(rawKey(other.siteId, other.rawId), Buffer.from('short'))
    await services.reparsing.run(gone, running())
    expect(await stored(stack, gone)).toMatchObject([{ text: NO_WORDS }])
    expect(await stored(stack, other)).toMatchObject([{ text: NO_WORDS }])
    expect(services.reparsing.outcomes.entries()).toContainEqual(['failed', 2])
  })

  test('that no parser could take is parsed where this one can', async () => {
    const services = servicesWith()
    await using _ = services.used
    const received = await misread(services, RAW)
    await stack.inSite('one.test', async (tx) => {
      const { rawId } = received
      await sql`update mail_raw set parse_status = 'failed' where raw_id = ${rawId}`.execute(tx.db)
      await sql`delete from mail_content where raw_id = ${rawId}`.execute(tx.db)
    })
    await services.reparsing.run(received, running())
    expect(await stored(stack, received)).toMatchObject([{ status: 'parsed', text: 'Hello zebra' }])
  })

  test('that no mailbox shows is left as it is', async () => {
    const services = servicesWith()
    await using _ = services.used
    const received = await misread(services, RAW)
    await stack.inSite('one.test', (tx) =>
      sql`delete from mail_message where raw_id = ${received.rawId}`.execute(tx.db),
    )
    services.mailParser.parse.mockClear()
    await services.reparsing.run(received, running())
    expect(services.mailParser.parse).not.toHaveBeenCalled()
    expect(await services.reparsing.progress(received.siteId)).toMatchObject({ left: 0 })
  })

  test('that is in use is remade in all of its mailboxes, or in none', async () => {
    const services = servicesWith()
    await using _ = services.used
    const received = await misread(services, RAW, { mailboxes: ['mbx_a', 'mbx_b'] })
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    const { promise: isHeld, resolve: noteHeld } = Promise.withResolvers<void>()
    const holding = stack.inSite('one.test', async (tx) => {
      await sql`select from mail_message where raw_id = ${received.rawId} and mailbox_id = 'mbx_b'
        for update`.execute(tx.db)
      noteHeld()
      await held
    })
    await isHeld
    const run = services.reparsing.run(received, running())
    await vi.waitUntil(() => services.mailParser.parse.mock.calls.length > 0, { timeout: 20_000 })
    expect(await stored(stack, received)).toMatchObject([{ text: NO_WORDS }, { text: NO_WORDS }])
    letGo()
    await holding
    await run
    expect(await stored(stack, received)).toMatchObject([
      { text: 'Hello zebra', snippet: 'Hello zebra' },
      { text: 'Hello zebra', snippet: 'Hello zebra' },
    ])
  })

  test('that is removed in the middle leaves no attachment', async () => {
    let remove = async (): Promise<void> => {}
    const services = servicesWith({ look: () => remove() })
    await using _ = services.used
    const received = await misread(services, RAW)
    const { siteId, rawId } = received
    remove = async () => {
      await stack.inSite('one.test', async (tx) => {
        await sql`delete from mail_message where raw_id = ${rawId}`.execute(tx.db)
        await sql`delete from mail_raw where raw_id = ${rawId}`.execute(tx.db)
      })
    }
    await services.reparsing.run(received, running())
    await stack.context.mailRemoval.run({ siteId }, running())
    const { objects } = await stack.context.objects.list({
      prefix: mailPrefix(siteId) + rawId,
      maxKeys: 10,
    })
    expect(objects).toEqual([])
  })

  test('is tried later where something else is at fault, and holds up none of the others', async () => {
    const services = servicesWith()
    await using _ = services.used
    const older = await misread(services, RAW, { receivedAt: new Date(Date.now() - 60_000) })
    const newer = await misread(services, RAW)
    services.mailParser.parse.mockRejectedValueOnce(new Error('interrupted'))
    await services.reparsing.run(older, running())
    expect(await stored(stack, newer)).toMatchObject([{ text: NO_WORDS }])
    expect(await stored(stack, older)).toMatchObject([{ text: 'Hello zebra' }])
    expect(await jobs()).toEqual([older.siteId])
    services.mailParser.parse.mockRejectedValueOnce(new Error('interrupted'))
    await expect(services.reparsing.run(older, running())).rejects.toThrow('could not be parsed')
    await services.reparsing.run(older, running())
    expect(await stored(stack, newer)).toMatchObject([{ text: 'Hello zebra' }])
  })

  test('has its turn behind newer ones that cannot be parsed in any turn', async () => {
    const services = servicesWith()
    await using _ = services.used
    const older = await misread(services, RAW, { receivedAt: new Date(Date.now() - 60_000) })
    for (let count = 0; count < 5; count += 1) await misread(services, RAW)
    const { mailParser } = services
    mailParser.parse.mockClear()
    const parser = mailParser.parse.getMockImplementation()
    const isOlders = () => mailParser.parse.mock.calls.length === 6
    mailParser.parse.mockImplementation(async (...message) => {
      if (parser && isOlders()) return parser(...message)
      throw new Error('interrupted')
    })
    const turn = () => services.reparsing.run(older, running())
    await expect(turn()).rejects.toThrow('could not be parsed')
    expect(await stored(stack, older)).toMatchObject([{ text: NO_WORDS }])
    await turn()
    expect(await stored(stack, older)).toMatchObject([{ text: 'Hello zebra' }])
    expect(await jobs()).toEqual([older.siteId])
    // All others have had their turn: those five are tried again.
    await expect(turn()).rejects.toThrow('could not be parsed')
    expect(mailParser.parse).toHaveBeenCalledTimes(11)
  })
})

describe('a site with messages of an earlier version', () => {
  test('has its turn, and the next one behind the others', async () => {
    const services = servicesWith({ turnMs: 0 })
    await using _ = services.used
    const received = await misread(services, RAW)
    await services.reparsing.run(received, running())
    expect(await stored(stack, received)).toMatchObject([{ text: NO_WORDS }])
    expect(await jobs()).toEqual([received.siteId])
  })

  test('begins with the newest, and waits for mail that comes, but not for ever', async () => {
    const accepting = new Accepting()
    const services = servicesWith({ accepting })
    await using _ = services.used
    const older = await misread(services, RAW, { receivedAt: new Date(Date.now() - 60_000) })
    const newer = await misread(services, RAW)
    services.mailParser.parse.mockClear()
    const end = accepting.begin(['site_other'])
    const stop = new AbortController()
    const begunMs = performance.now()
    const run = services.reparsing.run(older, stop.signal)
    await vi.waitUntil(() => services.mailParser.parse.mock.calls.length === 1, { timeout: 20_000 })
    expect(performance.now() - begunMs).toBeGreaterThan(1900)
    end()
    stop.abort()
    await run
    expect(await stored(stack, newer)).toMatchObject([{ text: 'Hello zebra' }])
    expect(await stored(stack, older)).toMatchObject([{ text: NO_WORDS }])
    expect(await jobs()).toEqual([older.siteId])
  })

  test('is found at the start of a service, by however many of them, and once', async () => {
    const services = servicesWith()
    await using _ = services.used
    const one = await misread(services, RAW)
    const sites = stack.context.sites.list.bind(stack.context.sites)
    const { signal } = new AbortController()
    await Promise.all([
      services.reparsing.queueAll(sites, signal),
      services.reparsing.queueAll(sites, signal),
    ])
    expect(await jobs()).toEqual([one.siteId])
  })

  test('is not touched by the turn of another', async () => {
    const services = servicesWith()
    await using _ = services.used
    const two = await misread(services, RAW, { host: 'two.test' })
    const one = await misread(services, RAW)
    await services.reparsing.run(one, running())
    expect(await services.reparsing.progress(one.siteId)).toMatchObject({ left: 0 })
    expect(await services.reparsing.progress(two.siteId)).toMatchObject({ left: 1 })
  })
})

describe('a message that comes without a version', () => {
  const versionOf = ({ rawId }: Pick<ReceivedMail, 'rawId'>) =>
    stack.inSite('one.test', (tx) =>
      tx.db
        .selectFrom('mail_raw')
        .select('parse_version as version')
        .where('raw_id', '=', rawId)
        .executeTakeFirst(),
    )

  test('from a replica of an earlier version is parsed again', async () => {
    const services = servicesWith()
    await using _ = services.used
    const received = await receive(stack, Buffer.from(RAW))
    const finished = {
      raw_id: received.rawId,
      status: 'parsed',
      bounce: null,
      text: NO_WORDS,
      html: null,
      truncated: false,
      attachments: [],
    }
    await stack.inSite('one.test', (tx) =>
      sql`select mail_finish(${tx.siteId}, ${JSON.stringify([finished])}::text::jsonb)`.execute(
        tx.db,
      ),
    )
    expect(await versionOf(received)).toEqual({ version: 0 })
    await services.reparsing.run(received, running())
    expect(await versionOf(received)).toEqual({ version: PARSE_VERSION })
    expect(await stored(stack, received)).toMatchObject([{ text: 'Hello zebra' }])
  })

  test('from an archive of an earlier version counts as parsed by none', async () => {
    const line = {
      raw_id: 'raw_archived',
      size_bytes: 1,
      sha256: '\\x00',
      envelope_from: '',
      client: {},
      trace_header: '',
      authentication: {},
      parse_status: 'parsed',
      parse_attempts: 0,
      bounce: null,
      received_at: new Date(),
    }
    await stack.inSite('one.test', async (tx) => {
      const table = (await selectCataloguedTables(tx)).find((each) => each.table === 'mail_raw')
      if (!table) throw new Error('Archives have no messages')
      await insertArchivedRows(tx, table, [JSON.stringify(line)])
    })
    expect(await versionOf({ rawId: 'raw_archived' })).toEqual({ version: 0 })
  })
})

describe('/portal/api/sites/{site}/mail-reparse', () => {
  const path = '/portal/api/sites/one.test/mail-reparse'

  test('is the operator’s alone', async () => {
    const admin = await new AdminPool(stack, 'one.test').first()
    for (const method of ['GET', 'POST']) {
      for (const token of [undefined, admin.token, 'x'.repeat(40)]) {
        expect(await stack.call('one.test', method, path, { token })).toMatchObject({ status: 401 })
      }
    }
  })

  test('starts it, and says how far it is', async () => {
    const services = servicesWith()
    await using _ = services.used
    const received = await misread(services, RAW)
    const { json } = await stack.portal('POST', '/sites/one.test/mail-reparse')
    expect(json).toMatchObject({ left: 1, failed: expect.any(Number) })
    expect(json.messages).toBeGreaterThan(1)
    expect(await jobs()).toEqual([received.siteId])
    await services.reparsing.run(received, running())
    expect((await stack.portal('GET', '/sites/one.test/mail-reparse')).json).toEqual({
      ...json,
      left: 0,
    })
    const again = await stack.portal('POST', '/sites/one.test/mail-reparse', { again: true })
    expect(again.json).toMatchObject({ messages: json.messages, left: json.messages })
    const { items } = (await stack.portal('GET', '/sites/one.test/audit')).json
    expect(items.map(({ event }: { event: string }) => event)).toContain('mail.reparse-started')
  })

  test.each([
    ['a site that there is not', 'POST', '/sites/none.test/mail-reparse', {}, 404, 'SiteNotFound'],
    [
      'what is no word',
      'POST',
      '/sites/one.test/mail-reparse',
      { again: 'yes' },
      400,
      'ValidationError',
    ],
    ['another word', 'POST', '/sites/one.test/mail-reparse', { all: true }, 400, 'ValidationError'],
  ] as const)('refuses %s', async (_what, method, at, body, status, code) => {
    const answer = await stack.portal(method, at, body)
    expect([answer.status, answer.json.error.code]).toEqual([status, code])
  })
})
