import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { CroftProcess, freePort } from '#test/croft-process.ts'
import type { Front } from '#test/front.ts'
import { portalOf } from '#test/operator.ts'
import { SmallDisk, canMount } from '#test/small-disk.ts'
import { Tally, tellTallies, until } from '#test/tally.ts'
import { signInWithPassword, signUp } from '#test/visitors.ts'

const HOST = 'shop.test'
const OPERATOR_KEY = randomBytes(32).toString('base64url')
const DISK_MB = 700
const RESERVE_MB = 128
const FULL_MS = Number(process.env['CROFT_CHAOS_FULL_MS'] ?? 20_000)
const EMAIL = 'visitor@example.test'

let cleanUp: AsyncDisposableStack
let disk: SmallDisk
let port: number
let croft: CroftProcess
let admin: Awaited<ReturnType<ReturnType<typeof portalOf>['admin']>>
let tablePath: string
/** What was acknowledged. */
const items = new Set<string>()

beforeEach(async () => {
  items.clear()
  cleanUp = new AsyncDisposableStack()
  disk = cleanUp.use(await SmallDisk.mount(DISK_MB))
  port = await freePort()
  croft = cleanUp.use(await CroftProcess.start(options()))
  const portal = portalOf(croft, OPERATOR_KEY)
  await portal.createSite(HOST)
  admin = await portal.admin(HOST)
  await signUp(front, HOST, EMAIL)
  const config = { partitionKey: { name: 'id', type: 'S' } }
  const made = await admin('POST', '/admin/data/resources', { type: 'ddbTable', name: 't', config })
  tablePath = `/admin/data/resources/${made.json.resourceId}/data/ddb`
})
afterEach(() => cleanUp.disposeAsync())

const options = () => ({
  dataDir: join(disk.folder, 'data'),
  port,
  env: { CROFT_OPERATOR_KEY: OPERATOR_KEY, CROFT_DISK_RESERVE_MB: String(RESERVE_MB) },
})

const front: Front = {
  call: (host, method, path, { token, body, headers } = {}) =>
    croft.call({
      host,
      method,
      path,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body }),
    }),
  portal: (method, path, body) =>
    front.call('localhost', method, `/portal/api${path}`, { token: OPERATOR_KEY, body }),
  baseUrl: (host) => `http://${host}:${croft.port}`,
}

async function put(): Promise<void> {
  const id = randomBytes(9).toString('base64url')
  await admin('POST', `${tablePath}/put`, {
    item: { id, text: randomBytes(45_000).toString('base64') },
  })
  items.add(id)
}

async function read(): Promise<void> {
  const [id] = items
  if (id === undefined) return
  await admin('POST', `${tablePath}/get`, { key: { id } })
}

async function signIn(): Promise<void> {
  const { url } = await signInWithPassword(front, HOST, { email: EMAIL })
  if (!url.searchParams.has('code')) throw new Error(`no code: ${url.href}`)
}

async function keptItems(): Promise<Set<string>> {
  const kept = new Set<string>()
  let exclusiveStartKey: unknown
  do {
    const body = {
      projectionExpression: 'id',
      ...(exclusiveStartKey !== undefined && { exclusiveStartKey }),
    }
    const { json } = await admin('POST', `${tablePath}/scan`, body)
    for (const { id } of json.items) kept.add(id)
    exclusiveStartKey = json.lastEvaluatedKey
  } while (exclusiveStartKey !== undefined && exclusiveStartKey !== null)
  return kept
}

const logBytes = async (): Promise<number> =>
  Buffer.byteLength(croft.output) +
  (await stat(join(disk.folder, 'data/postgres/postgres.log'))).size

/** Works for so long at a full disk, and tells how it went. */
async function work(durationMs: number) {
  const [writes, reads, signIns] = [new Tally(), new Tally(), new Tally()]
  const before = await logBytes()
  const ends = AbortSignal.timeout(durationMs)
  await Promise.all([
    ...Array.from({ length: 4 }, () => until(ends, 20, () => writes.count(put))),
    until(ends, 20, () => reads.count(read)),
    until(ends, 500, () => signIns.count(signIn)),
  ])
  const told = { writes, reads, signIns, logBytes: (await logBytes()) - before }
  tellTallies(told)
  return told
}

describe.runIf(canMount)('a disk that', () => {
  test(
    'fills takes no more writes, and everything else goes on until there is room',
    { timeout: 240_000 },
    async () => {
      await put()
      await disk.fill('theirs', RESERVE_MB + 40)
      await croft.until('writes are refused', async () => {
        const tally = new Tally()
        await tally.count(put)
        return [...tally.bad.keys()].some((words) => words.includes('DiskFull'))
      })
      expect(await disk.freeMegabytes()).toBeGreaterThan(RESERVE_MB - 40)
      // Other files take the rest.
      await disk.fill('theirs')
      const { writes, reads, signIns, logBytes: grown } = await work(FULL_MS)
      expect(Object.fromEntries(reads.bad)).toEqual({})
      expect(Object.fromEntries(signIns.bad)).toEqual({})
      expect(writes.good).toBe(0)
      expect(writes.bad.size).toBeGreaterThan(0)
      expect([...writes.bad.keys()].filter((words) => !words.includes('DiskFull'))).toEqual([])
      expect(grown).toBeLessThan(16 * 1024)
      expect((await croft.call({ path: '/readyz' })).json).toMatchObject({
        status: 'ready',
        checks: { disk: 'below its reserve' },
      })
      await disk.empty('theirs')
      await croft.until('writes go on', () =>
        put().then(
          () => true,
          () => false,
        ),
      )
      expect(croft.log.filter(({ msg }) => msg === 'embedded postgres ended')).toEqual([])
      expect(await keptItems()).toEqual(items)
    },
  )

  test(
    'is full lets the service start on the last room of its database, and without any says what to do',
    { timeout: 240_000 },
    async () => {
      await put()
      await disk.fill('theirs')
      await croft.printed('gave the database its last room')
      await croft.kill()
      croft = cleanUp.use(await CroftProcess.start(options()))
      await expect(put()).rejects.toThrow('DiskFull')
      await signIn()
      expect((await croft.stop()).code, croft.output.slice(-3000)).toBe(0)
      await disk.fill('theirs')
      croft = cleanUp.use(await CroftProcess.launch(options()))
      expect((await croft.ended()).code).toBe(1)
      expect(croft.output).toMatch(/^croft: The disk of .* is full: make room/m)
      await disk.empty('theirs')
      croft = cleanUp.use(await CroftProcess.start(options()))
      expect(await keptItems()).toEqual(items)
    },
  )

  test(
    'is full when the database ends has it back once there is room',
    { timeout: 240_000 },
    async () => {
      for (let time = 0; time < 20; time += 1) await put()
      await disk.fill('theirs')
      await croft.printed('gave the database its last room')
      await disk.fill('theirs')
      const killed = croft.postgres()?.pid ?? 0
      process.kill(killed, 'SIGKILL')
      await croft.printed('embedded postgres waits for room on its disk')
      await disk.empty('theirs')
      await croft.printed('embedded postgres started again')
      await croft.until('writes go on', () =>
        put().then(
          () => true,
          () => false,
        ),
      )
      expect(await keptItems()).toEqual(items)
    },
  )
})
