import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { CroftProcess } from '#test/croft-process.ts'
import { type OpenS3Store, openS3Store } from '#test/object-stores.ts'
import { portalOf } from '#test/operator.ts'
import { startCroft } from '#test/started-croft.ts'
import { Tally, tellTallies, until } from '#test/tally.ts'

const HOST = 'shop.test'
const OPERATOR_KEY = randomBytes(32).toString('base64url')
const SILENCES = 4
const SILENT_MS = 5000
const AWAY = 'The object store does not answer: try again'

const cleanUp = new AsyncDisposableStack()
let s3: OpenS3Store
let croft: CroftProcess
beforeAll(async () => {
  s3 = cleanUp.use(await openS3Store())
  s3.fallSilent()
  croft = await startCroft(cleanUp, { CROFT_OPERATOR_KEY: OPERATOR_KEY, ...s3.env })
})
afterAll(() => cleanUp.disposeAsync())

const said = (message: string): number => croft.log.filter(({ msg }) => msg === message).length

/** A bucket and a table of a new site, and what they have acknowledged. */
async function openSite() {
  const portal = portalOf(croft, OPERATOR_KEY)
  await portal.createSite(HOST)
  const admin = await portal.admin(HOST)
  const create = async (type: string, config: object) => {
    const made = await admin('POST', '/admin/data/resources', { type, name: type, config })
    return `/admin/data/resources/${made.json.resourceId}/data`
  }
  const bucket = `${await create('s3Bucket', {})}/s3`
  const table = `${await create('ddbTable', { partitionKey: { name: 'id', type: 'S' } })}/ddb`
  const kept = { objects: new Set<string>(), items: new Set<string>() }
  return {
    kept,
    async putObject() {
      const key = randomBytes(9).toString('base64url')
      await admin('POST', `${bucket}/put-object`, { key, body: 'x'.repeat(2000) })
      kept.objects.add(key)
    },
    async putItem() {
      const id = randomBytes(9).toString('base64url')
      await admin('POST', `${table}/put`, { item: { id } })
      kept.items.add(id)
    },
    async getObject(key: string): Promise<number> {
      const answer = await admin('POST', `${bucket}/get-object`, { key })
      return answer.json.size
    },
    getItem: (id: string) => admin('POST', `${table}/get`, { key: { id } }),
  }
}

describe('an S3 that hangs', () => {
  test('from the start on lets the service answer, which makes its first site once it can', async () => {
    await croft.printed('the object store does not answer')
    expect((await croft.call({ path: '/readyz' })).json).toMatchObject({
      status: 'ready',
      checks: { postgres: 'ok', objects: 'does not answer' },
    })
    expect(croft.output).not.toContain('croft site verify')
    // As long as it was given up after before.
    await delay(35_000)
    expect(croft.isOver).toBe(false)
    s3.answerAgain()
    await croft.printed('croft site verify')
    expect((await croft.hello('you')).status).toBe(200)
  })

  test('now and then loses nothing, and fails nothing but what needs it', async () => {
    const site = await openSite()
    const [objects, items] = [new Tally(), new Tally()]
    const before = said('the object store does not answer')
    const over = new AbortController()
    const working = Promise.all([
      ...Array.from({ length: 3 }, () =>
        until(over.signal, 50, () => objects.count(() => site.putObject())),
      ),
      ...Array.from({ length: 2 }, () =>
        until(over.signal, 20, () => items.count(() => site.putItem())),
      ),
    ])
    for (let time = 0; time < SILENCES; time += 1) {
      await delay(SILENT_MS)
      s3.fallSilent()
      await delay(SILENT_MS)
      s3.answerAgain()
    }
    await delay(SILENT_MS)
    over.abort()
    await working
    tellTallies({ objects, items })
    expect(Object.fromEntries(items.bad)).toEqual({})
    expect([...objects.bad.keys()].every((words) => words.includes(AWAY))).toBe(true)
    expect(objects.slowestMs).toBeLessThan(6000)
    for (const key of site.kept.objects) expect(await site.getObject(key)).toBe(2000)
    for (const id of site.kept.items) expect((await site.getItem(id)).json.item).toEqual({ id })
    expect(said('the object store does not answer') - before).toBe(SILENCES)
    expect(said('the object store answers again') - before).toBe(SILENCES)
  })
})
