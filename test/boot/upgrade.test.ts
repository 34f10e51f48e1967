import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'
import { putBack } from '#test/old-installation.ts'
import { portalOf } from '#test/operator.ts'

const HOST = 'shop.test'
const ORDERS = [1, 2, 3].map((at) => ({ buyer: 'vic', at, total: at * 9.5 }))

let cleanUp: AsyncDisposableStack
let dataDir: string
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  dataDir = join(folder, 'data')
})
afterEach(() => cleanUp.disposeAsync())

/** What its site answers, with the code, the table and the sealed secret of then. */
async function answers(croft: CroftProcess): Promise<void> {
  const orders = () =>
    croft.call({
      host: HOST,
      method: 'POST',
      path: '/data/public/orders',
      body: { payload: 'vic' },
    })
  // Code that an earlier version has compiled is compiled anew first: 503 says so, and that it may be asked again.
  await croft.until('the site answers', async () => (await orders()).status === 200)
  expect((await orders()).json.data).toEqual({ key: 'a secret of long ago', items: ORDERS })
  await croft.until('the other one answers', async () => (await croft.hello('Ada')).status === 200)
}

async function dataIsThere(croft: CroftProcess) {
  const admin = await portalOf(croft).admin(HOST)
  const bucket = (await admin('GET', '/admin/data/resources')).json.resources.find(
    ({ name }: { name: string }) => name === 'photos',
  )
  const path = `/admin/data/resources/${bucket.resourceId}/data/s3/get-object`
  const object = await admin('POST', path, { key: 'a.txt' })
  expect(object.text).toContain('an object of long ago')
  const { items } = (await admin('GET', '/admin/data/jobs/nightly/runs')).json
  expect(items).toMatchObject([{ status: 'succeeded', attempts: 1 }])
  const started = await admin('POST', '/admin/data/jobs/nightly', {})
  const { runId } = started.json.data
  await croft.until('its job runs', async () => {
    const run = await admin('GET', `/admin/data/jobs/nightly/runs/${runId}`)
    return run.json.status === 'succeeded'
  })
  const members = (await admin('GET', '/admin/data/groups/staff/users')).json
  expect(JSON.stringify(members)).toContain('vic@example.test')
  return admin
}

describe('a data folder of an earlier build', () => {
  test.each(['0359', '0415'])(
    'up to %s starts with this one, and all of it is there',
    async (name) => {
      const { migrations } = await putBack(name, dataDir)
      const croft = cleanUp.use(await CroftProcess.start({ dataDir }))
      const [migrated] = croft.log.filter(({ msg }) => msg === 'database migrated')
      expect(migrated?.['applied']).not.toEqual([])
      expect(migrations).not.toEqual(expect.arrayContaining(migrated?.['applied'] as string[]))
      await answers(croft)
      const admin = await dataIsThere(croft)
      if (name === '0415') {
        const { items } = (await admin('GET', '/admin/api/messages?mailbox=info@shop.test')).json
        expect(items).toMatchObject([{ subject: 'A letter of long ago', folder: 'INBOX' }])
        const read = await admin('GET', `/admin/api/messages/${items[0].id}`)
        expect(read.text).toContain('It was kept.')
      } else {
        await admin('POST', '/admin/api/mailboxes', {
          address: 'info@shop.test',
          owners: ['ann@shop.test'],
        })
      }
      expect(croft.log.filter(({ level }) => level === 'error')).toEqual([])
      expect(await croft.stop()).toEqual({ code: 0, signal: null })

      const again = cleanUp.use(await CroftProcess.start({ dataDir }))
      expect(again.log.filter(({ msg }) => msg === 'database migrated')).toEqual([])
      await answers(again)
      expect(await again.stop()).toEqual({ code: 0, signal: null })
    },
  )
})
