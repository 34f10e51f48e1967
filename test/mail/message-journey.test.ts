import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { systemClock } from '#base/clock.ts'
import { mailPrefix } from '#mail/objects/mail-keys.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import { type CroftProcess, freePort } from '#test/croft-process.ts'
import type { Answer } from '#test/http-client.ts'
import { killableService } from '#test/killable-service.ts'
import { portalOf } from '#test/operator.ts'

const HOSTS = ['one.test', 'two.test']
const REPORT = randomBytes(70_000)
const LOGO = Buffer.from('a picture')

const cleanUp = new AsyncDisposableStack()
let croft: CroftProcess
let objects: FileObjectStore
let smtpPort: number
let sides: readonly Side[]
/** The bytes that were sent. */
let raw: Buffer

/** A site with the people who try to read the message that came to it. */
interface Side {
  readonly host: string
  readonly siteId: string
  readonly superAdmin: Caller
  /** Of the mailbox. */
  readonly owner: Caller
  /** Of another mailbox of the same site. */
  readonly neighbour: Caller
  /** Known once the message was listed. */
  messageId: string
}

/** `path` follows `/admin/api`. */
type Caller = (method: string, path: string, body?: unknown) => Promise<Answer>

beforeAll(async () => {
  smtpPort = await freePort()
  const service = await killableService(cleanUp, { SMTP_PORT: String(smtpPort) })
  croft = await service.start()
  const urls = { sign: () => Promise.reject(new Error('No URL is asked for')) }
  objects = new FileObjectStore({
    dir: join(service.dataDir, 'objects'),
    urls,
    clock: systemClock,
  })
  const portal = portalOf(croft, service.operatorKey)
  sides = await Promise.all(HOSTS.map((host) => sideOf(portal, host)))
})
afterAll(() => cleanUp.disposeAsync())

async function sideOf(portal: ReturnType<typeof portalOf>, host: string): Promise<Side> {
  const { siteId } = (await portal.createSite(host)).json
  const callerOf = async (user: string): Promise<Caller> => {
    const headers = { authorization: `Bearer ${await portal.token(host, user)}` }
    return (method, path, body) =>
      croft.call({ host, method, path: `/admin/api${path}`, headers, body })
  }
  const superAdmin = await callerOf(`ann@${host}`)
  for (const [name, mailbox] of [
    ['olga', 'info'],
    ['nils', 'other'],
  ]) {
    const email = `${name}@${host}`
    await done(superAdmin('POST', '/users', { email, role: 'user' }))
    await done(superAdmin('POST', '/mailboxes', { address: `${mailbox}@${host}`, owners: [email] }))
  }
  const [owner, neighbour] = [await callerOf(`olga@${host}`), await callerOf(`nils@${host}`)]
  return { host, siteId, superAdmin, owner, neighbour, messageId: '' }
}

async function done(call: Promise<Answer>): Promise<Answer> {
  const answer = await call
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

const both = (step: (side: Side) => Promise<void>) => Promise.all(sides.map(step))
const detailOf = async ({ owner, messageId }: Side) =>
  (await done(owner('GET', `/messages/${messageId}`))).json
const change = ({ owner, messageId }: Side, what: string, body?: unknown) =>
  done(owner('POST', `/messages/${messageId}/${what}`, body))
const remove = ({ owner, messageId }: Side) => done(owner('DELETE', `/messages/${messageId}`))

/** Ids of what a list of the mailbox shows. */
async function listed({ host, owner }: Side, query = ''): Promise<string[]> {
  const { json } = await done(owner('GET', `/messages?mailbox=info@${host}${query}`))
  return json.items.map(({ id }: { id: string }) => id)
}

/** What a signed URL leads to. */
const open = (url: string): Promise<Answer> => {
  const { hostname, pathname, search } = new URL(url)
  return croft.call({ host: hostname, path: pathname + search })
}

const keysOf = async ({ siteId }: Side): Promise<string[]> => {
  const { objects: found } = await objects.list({
    prefix: mailPrefix(siteId),
    maxKeys: 100,
  })
  return found.map(({ key }) => key.split('/').slice(4).join('/') || 'raw').toSorted()
}

/** As a mail program makes it, with a file, a picture in its HTML and what HTML must not do. */
async function compose(): Promise<Buffer> {
  const { message } = await createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
  }).sendMail({
    from: 'Jörg Maß <joerg@else.test>',
    to: HOSTS.map((host) => `info@${host}`),
    subject: 'Größe & Preis',
    text: 'The zebra is in the report.',
    html: '<p>The zebra <img src="cid:logo@else.test"><script>alert(1)</script></p>',
    attachments: [
      { filename: '../Bericht für März.pdf', content: REPORT },
      { filename: 'logo.png', cid: 'logo@else.test', content: LOGO },
    ],
  })
  if (!Buffer.isBuffer(message)) throw new Error('The message was not composed in memory')
  return message
}

/** One message from its arrival to its end: each test goes on where the one before has ended. */
describe('a message to a mailbox of each of two sites', () => {
  test('is listed on both once it is acknowledged', async () => {
    raw = await compose()
    const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
    const envelope = { from: 'joerg@else.test', to: HOSTS.map((host) => `info+news@${host}`) }
    const { accepted } = await transport.sendMail({ envelope, raw })
    transport.close()
    expect(accepted).toEqual(envelope.to)
    await both(async (side) => {
      const { host, owner } = side
      const { json } = await done(owner('GET', '/messages'))
      expect(json.items).toMatchObject([
        {
          mailbox: `info@${host}`,
          folder: 'INBOX',
          subject: 'Größe & Preis',
          from: 'Jörg Maß <joerg@else.test>',
          seen: false,
        },
      ])
      side.messageId = json.items[0].id
    })
    expect(new Set(sides.map(({ messageId }) => messageId)).size).toBe(2)
  })

  test('is shown with its text, safe HTML and verdict once it was parsed', async () => {
    await both(async (side) => {
      await croft.until('it is parsed', async () => (await detailOf(side)).parsing !== 'pending')
      const detail = await detailOf(side)
      expect(detail).toMatchObject({
        parsing: 'parsed',
        text: 'The zebra is in the report.\n',
        authentication: { dkim: 'none' },
        size: raw.length,
        attachments: [
          { filename: 'logo.png', size: LOGO.length, inline: true },
          { filename: '_Bericht für März.pdf', size: REPORT.length, inline: false },
        ],
      })
      expect(detail.html).toMatch(/^<p>The zebra <img src="http[^"]+" \/><\/p>/)
      expect(await listed(side, '&q=zebra+j%C3%B6rg')).toEqual([side.messageId])
    })
  })

  test('gives its attachments and its bytes to clients that have their URLs', async () => {
    await both(async (side) => {
      const { attachments, rawUrl, html } = await detailOf(side)
      const picture = /src="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
      for (const [url, bytes] of [
        [rawUrl, raw],
        [attachments[0].url, LOGO],
        [attachments[1].url, REPORT],
        [picture, LOGO],
      ]) {
        const answer = await open(url)
        expect(answer.status).toBe(200)
        expect(answer.bytes.equals(bytes)).toBe(true)
        expect((await open(url.replace(/signature=../, 'signature=__'))).status).toBe(403)
      }
    })
  })

  test('does not exist for the owner of another mailbox, nor for the other site', async () => {
    const [first, second] = sides
    if (!first || !second) throw new Error('Both sites are needed')
    await both(async (side) => {
      const other = side === first ? second : first
      for (const [caller, host] of [
        [side.neighbour, side.host],
        [other.owner, side.host],
        [other.superAdmin, side.host],
      ] as const) {
        const path = `/messages/${side.messageId}`
        for (const answer of [
          await caller('GET', path),
          await caller('DELETE', path),
          await caller('POST', `${path}/seen`, { seen: true }),
          await caller('POST', `${path}/archive`),
          await caller('POST', `${path}/restore`),
          await caller('GET', `/messages?mailbox=info@${host}`),
          await caller('GET', `/messages/stream?mailbox=info@${host}`),
        ]) {
          expect(answer.status, answer.text).toBe(404)
        }
      }
      expect((await side.neighbour('GET', '/messages?q=zebra')).json.items).toEqual([])
      expect(await detailOf(side)).toMatchObject({ seen: false, folder: 'INBOX' })
    })
  })

  test('is seen, archived, and goes to the trash and back', async () => {
    await both(async (side) => {
      const { messageId } = side
      await change(side, 'seen', { seen: true })
      expect(await listed(side, '&seen=false')).toEqual([])
      await change(side, 'archive')
      expect(await listed(side, '&folder=INBOX')).toEqual([])
      expect(await listed(side, '&folder=ARCHIVE')).toEqual([messageId])
      await remove(side)
      expect(await listed(side)).toEqual([])
      expect(await listed(side, '&folder=TRASH')).toEqual([messageId])
      expect((await change(side, 'restore')).json).toMatchObject({ folder: 'ARCHIVE' })
      expect(await listed(side, '&folder=ARCHIVE')).toEqual([messageId])
      expect(await detailOf(side)).toMatchObject({ seen: true, deleted: false })
    })
  })

  test('is deleted from the trash, and still has its bytes', async () => {
    await both(async (side) => {
      await remove(side)
      await remove(side)
      expect(await listed(side, '&folder=TRASH')).toEqual([])
      expect(await listed(side, '&includeDeleted=true')).toEqual([side.messageId])
      expect((await open((await detailOf(side)).rawUrl)).bytes.equals(raw)).toBe(true)
    })
  })

  test('is purged by a super-admin alone, and takes its objects with it', async () => {
    const [first, second] = sides
    if (!first || !second) throw new Error('Both sites are needed')
    for (const [side, left] of [
      [first, ['parts/att_1', 'parts/att_2', 'raw']],
      [second, []],
    ] as const) {
      const path = `/messages/${side.messageId}/purge`
      expect((await side.owner('POST', path)).status).toBe(403)
      expect(await keysOf(side)).toEqual(['parts/att_1', 'parts/att_2', 'raw'])
      const { rawUrl } = await detailOf(side)
      await done(side.superAdmin('POST', path))
      expect((await side.owner('GET', `/messages/${side.messageId}`)).status).toBe(404)
      expect(await listed(side, '&includeDeleted=true')).toEqual([])
      await croft.until('its objects are gone', async () => (await keysOf(side)).length === 0)
      expect((await open(rawUrl)).status).toBe(404)
      expect(await keysOf(second)).toEqual(left)
      const settings = await side.owner('GET', `/mailboxes/info@${side.host}/settings`)
      expect(settings.json.usage).toEqual({ bytes: 0, messages: 0 })
    }
  })
})
