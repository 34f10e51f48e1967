import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { Accepting } from '#mail/parsing/accepting.ts'
import { MailParsing, PARSING_PLACES } from '#mail/parsing/mail-parsing.ts'
import { ProcessMailParser } from '#platform/mail-parser/process-mail-parser.ts'
import { type ObjectStore, objectKey } from '#platform/objects/object-store.ts'
import { connectPostgres } from '#platform/postgres/postgres.ts'
import { openQueue } from '#platform/queue/postgres-queue.ts'
import { EncodedFiles } from '#sites/static/encoded-files.ts'
import { builtMailParser } from '#test/built-sandbox.ts'
import type { Answer } from '#test/http-client.ts'
import { asAdmin } from '#test/postgres.ts'
import { receive } from '#test/received-mail.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { jobsAhead } from '#test/turns.ts'

const PATIENCE = { timeout: 30_000, interval: 20 }
const cleanUp = new AsyncDisposableStack()
let stack: Stack
/** Does nothing by itself. */
let idle: Stack
/** Does nothing by itself, either. */
let parted: Stack
let flood: string
let single: string
beforeAll(async () => {
  stack = cleanUp.use(await startStack())
  idle = cleanUp.use(await startStack({ works: false }))
  parted = cleanUp.use(await startStack({ works: false }))
  ;[flood = '', single = ''] = await idsOf(stack)
})
afterAll(() => cleanUp.disposeAsync())

const idsOf = (of: Stack) =>
  Promise.all(
    ['one.test', 'two.test'].map(async (host) => (await of.context.sites.find(host)).siteId),
  )

const whose = (siteId: string | null, floodId = flood) => (siteId === floodId ? 'flood' : 'single')

test('permission syncs: a site that asks for hundreds delays no other', async () => {
  const postgres = cleanUp.use(
    await connectPostgres({ url: stack.database.url, log: silentLog, poolSize: 2 }),
  )
  const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
  const ask = (siteId: string, count: number) =>
    postgres.database.withSite(siteId, async (tx) => {
      for (let at = 0; at < count; at += 1) {
        await queue.enqueue(tx, 'permission-sync', { siteId }, { singletonKey: randomUUID() })
      }
    })
  // Those of the start are over.
  const startedAt = new Date()
  const ahead = await jobsAhead({
    floodSize: 300,
    flood: () => ask(flood, 300),
    single: () => ask(single, 1),
    async begun() {
      const rows = await postgres.sql<{ siteId: string }[]>`
        select data ->> 'siteId' as "siteId" from pgboss.job
        where name = 'permission-sync' and created_on >= ${startedAt} and started_on is not null
        order by started_on`
      return rows.map(({ siteId }) => whose(siteId))
    },
  })
  expect(ahead).toBeLessThan(30)
})

test('static compression: a file passes those that wait of another site', async () => {
  const begun: ('flood' | 'single')[] = []
  const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
  const file = Buffer.alloc(4096, 'words ')
  const { objects } = stack.context
  const key = objectKey(flood, 'artifacts', 'file')
  await objects.put(key, file)
  const encoded = new EncodedFiles({
    objects,
    artifacts: {
      async open(siteId) {
        begun.push(whose(siteId))
        await gate
        return objects.get(key)
      },
    },
  })
  const filesOf = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      path: `file-${at}.txt`,
      sha256: `${at}`.padStart(64, '0'),
      sizeBytes: file.length,
    }))
  const encoding: Promise<unknown>[] = []
  const ahead = await jobsAhead({
    floodSize: 40,
    flood: async () => void encoding.push(encoded.encode(flood, filesOf(40))),
    single: async () => void encoding.push(encoded.encode(single, filesOf(1))),
    begun: () => begun,
  })
  expect(ahead).toBe(0)
  expect(begun).toEqual(['flood', 'flood', 'single'])
  openGate()
  await Promise.all(encoding)
})

test('mail parsing: a message passes those that wait of another site', async () => {
  const [one = ''] = await idsOf(idle)
  const postgres = cleanUp.use(
    await connectPostgres({ url: idle.database.url, log: silentLog, poolSize: 4 }),
  )
  const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
  const mailParser = cleanUp.use(
    new ProcessMailParser({ command: builtMailParser, logger: silentLog }),
  )
  const begun: ('flood' | 'single')[] = []
  const objects: ObjectStore = Object.assign(Object.create(idle.context.objects), {
    get: async (key: string) => {
      begun.push(key.includes(one) ? 'flood' : 'single')
      return idle.context.objects.get(key)
    },
  })
  const parsing = new MailParsing({
    ...idle.context,
    ...postgres,
    objects,
    queue,
    mailParser,
    loneMailParser: mailParser,
    accepting: new Accepting(),
    noteBounce: async () => {},
    lookMs: 0,
  })
  queue.handle('mail-parse', (job, signal) => parsing.run(job, signal))
  const accept = async (host: string, count: number) => {
    for (let at = 0; at < count; at += 1) {
      await receive(idle, Buffer.from(`Subject: ${at}\r\n\r\nwords\r\n`), { host })
    }
    await idle.inSite(host, (tx) => parsing.queueUp(tx))
  }
  await accept('one.test', 60)
  const stopping = new AbortController()
  const working: Promise<void>[] = []
  cleanUp.defer(async () => {
    stopping.abort()
    await Promise.all(working)
  })
  const ahead = await jobsAhead({
    floodSize: 60,
    flood: async () => void working.push(queue.run(stopping.signal)),
    single: () => accept('two.test', 1),
    begun: () => begun,
  })
  expect(ahead).toBeLessThan(20)
})

test('mail parsing: a message is parsed while another site yields to what it receives', async () => {
  const [one = '', two = ''] = await idsOf(parted)
  const postgres = cleanUp.use(
    await connectPostgres({ url: parted.database.url, log: silentLog, poolSize: 4 }),
  )
  const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
  const mailParser = cleanUp.use(
    new ProcessMailParser({ command: builtMailParser, logger: silentLog }),
  )
  const { promise: ended, resolve: end } = Promise.withResolvers<boolean>()
  const pauses: string[] = []
  const parsing = new MailParsing({
    ...parted.context,
    ...postgres,
    queue,
    mailParser,
    loneMailParser: mailParser,
    accepting: {
      pause(siteId) {
        pauses.push(siteId)
        return siteId === one ? ended : Promise.resolve(true)
      },
    },
    noteBounce: async () => {},
  })
  queue.handle('mail-parse', (job, signal) => parsing.run(job, signal), PARSING_PLACES)
  const accept = async (host: string) => {
    await receive(parted, Buffer.from('Subject: one\r\n\r\nwords\r\n'), { host })
    await parted.inSite(host, (tx) => parsing.queueUp(tx))
  }
  const statusesOf = async (host: string) => {
    const rows = await parted.inSite(host, (tx) =>
      tx.db.selectFrom('mail_raw').select('parse_status').execute(),
    )
    return rows.map((row) => row.parse_status)
  }
  const stopping = new AbortController()
  const working = queue.run(stopping.signal)
  try {
    await accept('one.test')
    await vi.waitUntil(() => pauses.includes(one), PATIENCE)
    // A job that comes while another one of the site runs takes no second place.
    await parted.inSite('one.test', (tx) => parsing.queueUp(tx))
    expect(await queue.hasOthers('mail-parse', two)).toBe(false)
    await accept('two.test')
    await vi.waitFor(async () => expect(await statusesOf('two.test')).toEqual(['parsed']), PATIENCE)
    expect(await statusesOf('one.test')).toEqual(['pending'])
    expect(pauses.filter((siteId) => siteId === one)).toHaveLength(1)
    expect(pauses).toContain(two)
  } finally {
    end(true)
    stopping.abort()
    await working
  }
})

test('exports: a site reads its rows one export at a time, and another site beside it', async () => {
  const answers: Promise<Answer>[] = []
  const exportOf = (siteId: string) =>
    void answers.push(stack.portal('POST', `/sites/${siteId}/export`, {}))
  await asAdmin(async (owner) => {
    await owner.begin(async (held) => {
      await held`lock table env_var in access exclusive mode`
      const reading = async () => {
        const rows = await held`
          select from pg_locks where relation = 'env_var'::regclass and not granted`
        return rows.length
      }
      for (let count = 0; count < 6; count += 1) exportOf(flood)
      await vi.waitFor(async () => expect(await reading()).toBe(1), PATIENCE)
      // One that would wait behind four others is refused.
      await vi.waitUntil(async () => (await settledOf(answers)).length === 1, PATIENCE)
      exportOf(single)
      await vi.waitFor(async () => expect(await reading()).toBe(2), PATIENCE)
    })
  }, stack.database.url)
  const settled = await Promise.all(answers)
  const refused = settled.filter(({ status }) => status !== 200)
  expect(refused.map(({ status }) => status)).toEqual([503])
  expect(refused[0]?.json.error).toMatchObject({
    code: 'ServiceUnavailable',
    message: '4 exports of this site wait for another one: try again when they are done',
  })
})

/** Those that are answered. */
async function settledOf(answers: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const all = await Promise.all(answers.map((each) => Promise.race([each, Promise.resolve()])))
  return all.filter((answer) => answer !== undefined)
}
