import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'
import { portalOf } from '#test/operator.ts'
import { emptyDatabase } from '#test/postgres.ts'

const OPERATOR_KEY = randomBytes(32).toString('base64url')
const answering = (words: string): string => `export default () => ${JSON.stringify(words)}`

let folder: string
let env: Record<string, string>
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  env = {
    DATABASE_URL: cleanUp.use(await emptyDatabase()).url,
    CROFT_MASTER_KEY: randomBytes(32).toString('base64'),
    CROFT_OPERATOR_KEY: OPERATOR_KEY,
    CROFT_BASE_URL: 'http://localhost:8080',
    // The link of the first super-admin is shown where people read.
    CROFT_LOG_FORMAT: 'text',
  }
})
afterAll(() => cleanUp.disposeAsync())

const start = async (name: string): Promise<CroftProcess> =>
  cleanUp.use(await CroftProcess.start({ dataDir: join(folder, name), env }))
const say = (croft: CroftProcess) =>
  croft.call({ host: 'shop.test', method: 'POST', path: '/data/public/say', body: {} })

async function reaches(croft: CroftProcess, words: string): Promise<number> {
  const startedAt = performance.now()
  const { json } = await say(croft)
  if (json.data === words) return 0
  await croft.until(`it says "${words}"`, async () => (await say(croft)).json.data === words)
  return performance.now() - startedAt
}

/** Two replicas on one database, in order. */
describe('two replicas that start at once on an empty database', () => {
  let one: CroftProcess
  let two: CroftProcess

  test('make one first site between them', async () => {
    ;[one, two] = await Promise.all([start('one'), start('two')])
    await expect
      .poll(() => [one, two].filter(({ output }) => output.includes('token=')).length, {
        timeout: 45_000,
      })
      .toBe(1)
    for (const croft of [one, two]) {
      const sites = await portalOf(croft, OPERATOR_KEY).sites()
      expect(sites.map(({ domain }) => domain)).toEqual(['localhost'])
    }
  })

  test("serve each other's sites", async () => {
    // A host that is not known is remembered as such: the news has to reach that, too.
    expect((await say(two)).json.error.code).toBe('SiteNotFound')
    const portal = portalOf(one, OPERATOR_KEY)
    await portal.createSite('shop.test')
    await portal.createOperation('shop.test', 'say', answering('first'))
    await reaches(one, 'first')
    expect(await reaches(two, 'first')).toBeLessThan(1000)
  })

  test("see each other's changes within a second", async () => {
    const change = await portalOf(two, OPERATOR_KEY).admin('shop.test')
    const { resources } = (await change('GET', '/admin/data/resources')).json
    await change('PATCH', `/admin/data/resources/${resources[0].resourceId}`, {
      config: { code: answering('second') },
    })
    await reaches(two, 'second')
    expect(await reaches(one, 'second')).toBeLessThan(1000)
  })

  test('are restarted one after the other while one answers', async () => {
    expect(await one.stop()).toEqual({ code: 0, signal: null })
    expect((await say(two)).json.data).toBe('second')
    one = await start('one')
    expect((await say(one)).json.data).toBe('second')
    expect(await two.stop()).toEqual({ code: 0, signal: null })
    expect((await say(one)).json.data).toBe('second')
  })
})
