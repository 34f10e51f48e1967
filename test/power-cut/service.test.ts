import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { systemClock } from '#base/clock.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { CroftProcess, freePort } from '#test/croft-process.ts'
import { GitClient, siteFiles } from '#test/git-client.ts'
import { RawSmtp } from '#test/inbound-mail.ts'
import { portalOf } from '#test/operator.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { type PowerCut, TracedFiles } from '#test/power-cut/power-cuts.ts'
import { straceMissing, traced } from '#test/power-cut/strace.ts'
import { openFolder } from '#test/temporary-folder.ts'

const HOST = 'kept.localhost'
const BOX = `info@${HOST}`
/** Not held in memory. */
const LONG = 'x'.repeat(1_500_000)

/** PostgreSQL writes much, and answers are found by their ports. */
const STRING_BYTES = 100

const missing = straceMissing()
let cleanUp: AsyncDisposableStack
beforeAll(() => {
  cleanUp = new AsyncDisposableStack()
})
afterAll(() => cleanUp.disposeAsync())

/** What was acknowledged, with the objects that it consists of. */
interface Kept {
  readonly what: string
  /** Where the acknowledgement left from, and before when. */
  readonly port: number
  readonly beforeMs: number
  readonly objects: ReadonlyMap<string, Buffer>
}

interface Ports {
  readonly http: number
  readonly smtp: number
  readonly submission: number
}

const storeIn = (dataDir: string): Promise<ObjectStore> =>
  new FileObjectStore({
    dir: join(dataDir, 'objects'),
    urls: { sign: () => Promise.reject(new Error('signs nothing')) },
    clock: systemClock,
  }).open()

async function objectsIn(dataDir: string): Promise<Map<string, Buffer>> {
  const store = await storeIn(dataDir)
  const { objects } = await store.list({ prefix: 'sites/', maxKeys: 1000 })
  const found = new Map<string, Buffer>()
  for (const { key } of objects) {
    const object = await store.get(key)
    if (object) found.set(key, Buffer.from(await new Response(object.body).arrayBuffer()))
  }
  return found
}

/** A service on a new data folder, whose calls are traced. */
class TracedService {
  readonly root: string
  readonly dataDir: string
  readonly log: string
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
    this.root = join(folder, 'disk')
    this.dataDir = join(this.root, 'var/data')
    this.log = join(folder, 'log')
  }

  static async make(): Promise<TracedService> {
    const service = new TracedService(await openFolder(cleanUp, 'croft-power-cut-'))
    await mkdir(service.root)
    return service
  }

  async start(port: number, env: Readonly<Record<string, string>>): Promise<CroftProcess> {
    const program = [process.execPath, join(inject('builtProgram'), 'bin/croft.js'), 'serve']
    const command = traced(this.log, program, { stringBytes: STRING_BYTES })
    return cleanUp.use(await CroftProcess.start({ dataDir: this.dataDir, port, env, command }))
  }

  /** PostgreSQL is trusted, and what is only kept to be quick is not looked at. */
  files(): TracedFiles {
    const isOpaque = (path: string) =>
      /\/(?:cluster(?:\.new\.\w+)?|cache|work|postgresql-[^/]+)$/.test(path)
    return new TracedFiles({ log: this.log, root: this.root, isOpaque })
  }

  /** A data folder with nothing but the objects that a power cut has left. */
  async objectsLeft(cut: PowerCut): Promise<string> {
    const dataDir = join(this.#folder, 'objects left')
    await mkdir(dataDir)
    cut.restore(join(dataDir, 'objects'), 'var/data/objects')
    return dataDir
  }

  /** The data folder as a power cut has left it. */
  left(cut: PowerCut): string {
    const disk = join(this.#folder, `left by ${cut.line} ${cut.kept}`)
    cut.restore(disk)
    return join(disk, 'var/data')
  }
}

/** Does what people and programs do, and notes what they were promised. */
async function use(croft: CroftProcess, ports: Ports): Promise<Kept[]> {
  const kept: Kept[] = []
  const known = new Set<string>()
  const keep = async (what: string, port: number, keys: RegExp): Promise<void> => {
    const beforeMs = Date.now() + 1
    const objects = [...(await objectsIn(croft.dataDir))].filter(([key]) => !known.has(key))
    for (const [key] of objects) known.add(key)
    const own = new Map(objects.filter(([key]) => keys.test(key)))
    expect(own.size, what).toBeGreaterThan(0)
    kept.push({ what, port, beforeMs, objects: own })
  }
  const portal = portalOf(croft)
  const { siteId } = (await portal.createSite(HOST)).json
  const admin = await portal.admin(HOST)
  const made = await admin('POST', '/admin/data/resources', { type: 's3Bucket', name: 'files' })
  const put = `/admin/data/resources/${made.json.resourceId}/data/s3/put-object`
  for (const [key, body] of [
    ['short', 'x'],
    ['deep/er/long', LONG],
  ] as const) {
    await admin('POST', put, { key, body })
    await keep(`the object ${key}`, ports.http, /\/buckets\//)
  }

  const { json: me } = await admin('GET', '/admin/api/profile')
  await admin('POST', '/admin/api/mailboxes', { address: BOX, owners: [me.userSub] })
  await using inbound = await RawSmtp.greeted(ports.smtp)
  for (const [size, text] of [
    ['short', 'Hi'],
    ['long', LONG.replaceAll(/x{70}/g, '$&\r\n')],
  ] as const) {
    const message = `From: vic@else.test\r\nSubject: ${size}\r\n\r\n${text}`
    expect(await inbound.message('vic@else.test', [BOX], message)).toMatch(/^250 /)
    await keep(`a ${size} message that came`, ports.smtp, /\/mail\/[^/]+$/)
  }

  const credentials = `/admin/api/mailboxes/${BOX}/submission-credentials`
  const { username, password } = (await admin('POST', credentials, { name: 'A program' })).json
  await using outbound = await RawSmtp.secured(ports.submission)
  const login = Buffer.from(`\0${username}\0${password}`).toString('base64')
  expect(await outbound.command(`AUTH PLAIN ${login}`)).toMatch(/^235 /)
  const letter = `From: ${BOX}\r\nTo: vic@else.test\r\nSubject: out\r\n\r\nHi`
  expect(await outbound.message(BOX, ['vic@else.test'], letter)).toMatch(/^250 /)
  await keep('a message that was handed in', ports.submission, /\/mail\/[^/]+$/)

  const token = await deployToken(croft)
  const git = cleanUp.use(await GitClient.start())
  const copy = await git.workingCopy('work', urlAt(croft, token))
  for (const answer of ['v1', 'v2']) {
    await copy.commit(siteFiles(answer))
    expect(await copy.push('main')).toMatchObject({ code: 0 })
    await keep(`the push of ${answer}`, ports.http, new RegExp(`^sites/${siteId}/(?!mail|buckets)`))
  }
  return kept
}

const urlAt = (croft: CroftProcess, token: string): string =>
  `http://ci:${token}@${HOST}:${croft.port}/site.git`

async function deployToken(croft: CroftProcess): Promise<string> {
  const path = `/portal/api/sites/${HOST}/deploy-tokens`
  const key = (await readFile(join(croft.dataDir, 'operator.key'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${key}` }
  return (await croft.call({ method: 'POST', path, headers, body: { name: 'CI' } })).json.token
}

/** Which objects are not there, or not whole. */
async function lostObjects(dataDir: string, kept: readonly Kept[]): Promise<string[]> {
  const found = await objectsIn(dataDir)
  return kept.flatMap(({ what, objects }) =>
    [...objects].flatMap(([key, bytes]) => (found.get(key)?.equals(bytes) ? [] : [what])),
  )
}

describe.skipIf(missing)(`a power cut${missing ? ` (${missing})` : ''}`, () => {
  test('takes no object, mail or push from a service that acknowledged it', async () => {
    const [http, smtp, submission] = [await freePort(), await freePort(), await freePort()]
    const env = {
      DATABASE_URL: cleanUp.use(await cloneDatabase()).url,
      SMTP_PORT: String(smtp),
      SUBMISSION_PORT: String(submission),
    }
    const service = await TracedService.make()
    const croft = await service.start(http, env)
    const kept = await use(croft, { http, smtp, submission })
    await croft.stop()
    const files = service.files()
    const lines = new Map(kept.map((each) => [each, files.lastSent(each.port, each.beforeMs)]))
    const lost = new Set<string>()
    let last: PowerCut | undefined
    for (const cut of files.cuts()) {
      const before = kept.filter((each) => (lines.get(each) ?? Infinity) < cut.line)
      if (before.length === 0) continue
      const dataDir = await service.objectsLeft(cut)
      for (const what of await lostObjects(dataDir, before)) {
        lost.add(`${what}, on a disk that kept ${cut.kept}`)
      }
      await rm(dataDir, { recursive: true, force: true })
      if (cut.kept === 'nothing') last = cut
    }
    expect([...lost]).toEqual([])
    expect(last).toBeDefined()

    if (last === undefined) return
    const after = cleanUp.use(
      await CroftProcess.start({ dataDir: service.left(last), port: http, env }),
    )
    const admin = await portalOf(after).admin(HOST)
    const { items } = (
      await admin('GET', `/admin/api/messages?mailbox=${BOX}&folder=INBOX&limit=10`)
    ).json
    expect(items.map(({ subject }: { subject: string }) => subject).toSorted()).toEqual([
      'long',
      'short',
    ])
    const git = cleanUp.use(await GitClient.start())
    await git.ok('clone', '--quiet', urlAt(after, await deployToken(after)), 'after')
    expect(await git.ok('-C', 'after', 'fsck', '--full', '--strict')).toBe('')
    const answer = async () =>
      (await after.call({ host: HOST, method: 'POST', path: '/data/public/f', body: {} })).json
        ?.data
    await after.until('the last push is served', async () => (await answer()) === 'v2')
  })

  test('takes no key and no database of a first start', async () => {
    const service = await TracedService.make()
    const port = await freePort()
    const croft = await service.start(port, {})
    await portalOf(croft).createSite(HOST)
    const beforeMs = Date.now() + 1
    await croft.stop()
    const files = service.files()
    const line = files.lastSent(port, beforeMs)
    const cuts = [...files.cuts()].filter((cut) => cut.line > line && cut.kept === 'nothing')
    const [cut] = cuts
    expect(cut).toBeDefined()
    if (cut === undefined) return
    const dataDir = service.left(cut)
    const after = cleanUp.use(await CroftProcess.start({ dataDir, port }))
    const domains = (await portalOf(after).sites()).map(({ domain }) => domain)
    expect(domains).toContain(HOST)
    // What its master key has sealed opens.
    expect((await portalOf(after).token(HOST, `ann@${HOST}`)).length).toBeGreaterThan(100)
  })
})
