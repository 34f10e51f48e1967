import { randomBytes } from 'node:crypto'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import {
  DEFAULT_MAX_BYTES,
  HEADER_ENTRY,
  MANIFEST_ENTRY,
  parseEntryName,
} from '#archives/archive-format.ts'
import { readArchive } from '#archives/archive-reader.ts'
import { writeArchive } from '#archives/archive-writer.ts'
import { verifyArchive } from '#archives/verified-archive.ts'
import { systemClock } from '#base/clock.ts'
import { ENOUGH_ROOM } from '#platform/disk/disk-room.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { ObjectUrls } from '#platform/objects/object-urls.ts'
import { RoomyObjectStore } from '#platform/objects/roomy-object-store.ts'
import { storeKeyOf } from '#runtime/buckets/store-key.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { answersOf } from '#test/get-routes.ts'
import { accountOf } from '#test/google-sign-in.ts'
import { makeMailboxes } from '#test/inbound-mail.ts'
import { type StoredMail, storeMail } from '#test/mail-rows.ts'
import { RegisteredParty } from '#test/registered-client.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'
import { type SignedInPerson, signInWithPassword, signUp } from '#test/visitors.ts'

import { croft } from './croft.ts'

const HOST = 'shop.test'
const VERA = 'vera@visitors.test'
const PICTURE = randomBytes(1_500_000)
const CODE = `export default async (event, ctx) => ({
  item: await ctx.table('orders').get({ key: { id: 'o1', at: 1 } }),
  note: await ctx.bucket('files').getObject({ key: 'notes/a.txt' }),
  region: ctx.env.REGION ?? null, key: ctx.env.KEY ?? null,
})`

let stack: Stack
let other: Stack
let folder: string
let archive: string
/** The same site without what a passphrase seals: a passphrase costs half a second each time. */
let bare: string
let vera: SignedInPerson
/** An application of others that it has. */
let helpdesk: RegisteredParty
let mail: StoredMail
const resources = new AsyncDisposableStack()
const ids = new Map<string, string>()
const idOf = (name: string): string => ids.get(name) ?? ''

beforeAll(async () => {
  stack = resources.use(await startStack({ sites: [HOST] }))
  other = resources.use(await startStack({ sites: ['taken.test'] }))
  folder = await temporaryFolder(resources, 'croft-archives-')
  archive = join(folder, 'shop.croft.tar.gz')
  await writeFile(join(folder, 'passphrase'), 'a passphrase for the road\n')
  await furnishShop()
})
afterAll(() => resources.disposeAsync())

/** The command line, at one of the installations. */
const at = ({ port, operatorKey }: Stack, ...args: readonly string[]) =>
  croft([...args, '--url', `http://127.0.0.1:${port}`, '--operator-key', operatorKey, '--json'])

const exported = async (name: string, ...options: readonly string[]): Promise<string> => {
  const file = join(folder, name)
  expect(await at(stack, 'site', 'export', HOST, '--to', file, ...options)).toMatchObject({
    // What went wrong shows in the difference.
    err: expect.not.stringContaining('croft site'),
    code: 0,
  })
  return file
}

async function furnishShop(): Promise<void> {
  const site = await RuntimeSite.open(stack, HOST)
  const create = async (type: string, name: string, config: object) => {
    const { json } = await site.admin('POST', '/resources', { type, name, config })
    ids.set(name, json.resourceId)
    return idOf(name)
  }
  await new DeployDesk(stack).deploy(HOST, {
    'public/index.html': '<h1>Shop</h1>',
    'public/_headers': '/*\n  X-Shop: yes\n',
    'greet.ts': 'export default (): string => "hello"',
  })
  await site.admin('PUT', '/env-vars', {
    variables: {
      REGION: { value: 'north', secret: false },
      KEY: { value: 'sk-very-secret', secret: true },
    },
  })
  const orders = await create('ddbTable', 'orders', {
    partitionKey: { name: 'id', type: 'S' },
    sortKey: { name: 'at', type: 'N' },
    ttlAttribute: 'gone',
    globalSecondaryIndexes: [{ indexName: 'by-sum', partitionKey: { name: 'sum', type: 'N' } }],
  })
  await create('ddbTable', 'plain', { partitionKey: { name: 'id', type: 'S' } })
  const files = await create('s3Bucket', 'files', {})
  const ddb = `/resources/${orders}/data/ddb`
  await site.admin('POST', `${ddb}/put`, { item: ORDER })
  await site.admin('POST', `${ddb}/put`, { item: { id: 'o2', at: 2, sum: 7, gone: ENDED } })
  for (let n = 0; n < 30; n += 1) {
    await site.admin('POST', `/resources/${idOf('plain')}/data/ddb/put`, {
      item: { id: `p${n}`, n },
    })
  }
  await putObject(site, files, 'notes/a.txt', 'a note')
  await putObject(site, files, '../../etc/passwd', 'a name as any other')
  await stack.context.objects.put(
    `sites/${(await stack.context.sites.find(HOST)).siteId}/buckets/${files}/picture`,
    PICTURE,
    { contentType: 'image/png', metadata: { by: 'ann' } },
  )
  await furnishMail()
  await site.putGroups('staff')
  const fn = await site.putFunction('read-order', CODE, {
    resources: [
      { resourceId: orders, access: 'read' },
      { resourceId: files, access: 'read' },
    ],
    environment: ['REGION', 'KEY'],
  })
  ids.set('read-order', fn)
  await site.putOperation('order', {
    lambdaResourceId: fn,
    auth: { mode: 'public' },
    input: { type: ['object', 'null'] },
    output: { type: 'object', required: ['item', 'region'] },
  })
  await site.putOperation('staff-only', {
    preset: { preset: 'ddb.get', resourceId: orders },
    auth: { mode: 'groups', groups: ['staff'] },
  })
  await site.admin('PUT', '/jobs/nightly', {
    operation: 'order',
    payload: null,
    schedule: { cron: '0 3 * * *', timezone: 'Europe/Berlin' },
  })
  // Its key is made on the first request for it.
  await stack.portal('GET', `/sites/${HOST}/dkim`)
  vera = await signUp(stack, HOST, VERA)
  await site.admin('POST', '/groups/staff/users', { username: VERA })
  helpdesk = await RegisteredParty.register(stack, HOST, { isThirdParty: true })
  await asSuperuser(
    stack,
    (sql) => sql`insert into client_consent
      select site_id, user_pool_id, sub, ${helpdesk.clientId}, 'openid email', now()
      from pool_user where sub = ${vera.sub}`,
  )
  await site.synced()
  ids.set('run', (await site.admin('POST', '/jobs/nightly')).json.data.runId)
  await vi.waitUntil(async () => {
    const { json } = await site.admin('GET', `/jobs/nightly/runs/${idOf('run')}`)
    return json.status === 'succeeded'
  })
  await site.admin('PUT', '/iac/definitions/kept', { definition: { groups: [{ groupName: 'x' }] } })
}

async function furnishMail(): Promise<void> {
  await makeMailboxes(stack, HOST, ['info', 'sales'])
  const [info, sales] = [`info@${HOST}`, `sales@${HOST}`]
  const alias = { targets: [info, sales] }
  await stack.portal('PUT', `/sites/${HOST}/aliases/hello@${HOST}`, alias)
  const pdf = { attachmentId: 'att_1', filename: 'a.pdf', contentType: 'application/pdf' }
  mail = await storeMail(stack, {
    mailbox: info,
    subject: 'Größe',
    text: 'the invoice for the zebra',
    attachments: [{ ...pdf, bytes: 'PDF' }],
  })
  await storeMail(stack, { mailbox: sales, rawId: mail.rawId, raw: mail.raw, subject: 'Größe' })
  const body = { mailbox: info, to: ['someone@else.test'], subject: 'Out', body: 'It went' }
  const sent = await stack.portal('POST', `/sites/${HOST}/messages/send`, body)
  if (sent.status !== 200) throw new Error(sent.text)
}

const ENDED = Math.floor(Date.now() / 1000) - 60
const ORDER = {
  id: 'o1',
  at: 1,
  sum: 42,
  exact: { $number: '12345678901234567890.5' },
  tags: { $set: ['a', 'b'] },
  picture: { $binary: 'AAEC/w==' },
  none: null,
  deep: [{ a: [1, 'two', false] }],
}

const putObject = (site: RuntimeSite, bucket: string, key: string, body: string) =>
  site.admin('POST', `/resources/${bucket}/data/s3/put-object`, { key, body })

const secret = () => ['--passphrase-file', join(folder, 'passphrase')]

const siteIdOf = async ({ context }: Stack): Promise<string> =>
  (await context.sites.find(HOST)).siteId

/** Ids of sites below which something is stored. */
async function storedSites({ context }: Stack): Promise<string[]> {
  const { objects } = await context.objects.list({ prefix: 'sites/', maxKeys: 1000 })
  return [...new Set(objects.map(({ key }) => key.split('/')[1] ?? ''))]
}

async function objectOf(installation: Stack, key: string) {
  const siteId = await siteIdOf(installation)
  const ref = { siteId, bucketId: idOf('files'), key }
  const found = await installation.context.objects.get(storeKeyOf(ref))
  if (found === undefined) throw new Error(`There is no object "${key}"`)
  return { head: found.head, bytes: await buffer(found.body) }
}

const pathValues = async () => ({
  resourceId: ['orders', 'plain', 'files', 'read-order'].map(idOf),
  groupName: 'staff',
  '/admin/data/jobs/:jobId jobId': 'nightly',
  '/admin/data/jobs/:jobId/runs jobId': 'nightly',
  '/admin/data/jobs/:jobId/runs/:runId jobId': 'nightly',
  runId: idOf('run'),
  profileName: 'kept',
  userId: vera.sub,
  address: `info@${HOST}`,
  messageId: mail.messageId,
  deploymentId: (await stack.context.sites.find(HOST)).currentDeploymentId ?? '',
})

/** What must differ between two installations. */
const comparable = (text: string, installation: Stack, siteId = 'none'): string =>
  text
    .replaceAll(siteId, 'SITE')
    .replaceAll(`:${installation.port}`, ':PORT')
    .replaceAll(/"requestId":"[^"]*"/g, '"requestId":""')
    .replaceAll(/Request: [0-9a-f-]{36}/g, 'Request: ID')
    // What is signed names the site, and a moment.
    .replaceAll(/\/objects\/[^"]*/g, '/objects/SIGNED')
    .replaceAll(/"expiresAt":"[^"]*"/g, '"expiresAt":""')
    // Objects were written later, and calls of a deployment's first minute are reported with a delay.
    .replaceAll(/"lastModified":"[^"]*"/g, '"lastModified":""')
    .replaceAll(/"health":\{[^}]*\}/g, '"health":{}')

/** Routes that tell what an installation has seen itself, or of what stays behind. */
const OF_ITS_OWN = [
  '/admin/data/logs',
  '/admin/data/usage',
  '/admin/data/iac/jobs',
  '/admin/api/profile/sessions',
  '/portal/api/sites/:siteId/logs',
  '/portal/api/sites/:siteId/audit',
  '/portal/api/sites/:siteId/sessions',
]
/** When the site came to be here. */
const MOMENTS = /"(?:createdAt|updatedAt)":"[^"]*"/g

describe('a site with all of it in another installation', () => {
  test('is reported with what came', async () => {
    archive = await exported('shop.croft.tar.gz', '--with', 'users,keys,mail', ...secret())
    const ran = await at(other, 'site', 'import', archive, ...secret())
    expect(ran.err).not.toContain('croft site')
    const told = JSON.parse(ran.out)
    expect(told.missingSecrets).toEqual([])
    expect(told.rows).toMatchObject({ items: 31, data_resource: 4, data_operation: 2, data_job: 1 })
  })

  test('answers every route as before', async () => {
    const values = await pathValues()
    const before = await answersOf(stack, HOST, values)
    const after = await answersOf(other, HOST, values)
    const [from, to] = [await siteIdOf(stack), await siteIdOf(other)]
    expect([...after.answers.keys()]).toEqual([...before.answers.keys()])
    expect(before.answers.size).toBeGreaterThan(40)
    for (const [path, answer] of before.answers) {
      if (OF_ITS_OWN.some((own) => path.startsWith(own))) continue
      const moved = after.answers.get(path)
      expect(moved?.status, path).toBe(answer.status)
      const [is, was] = [
        comparable(moved?.text ?? '', other, to),
        comparable(answer.text, stack, from),
      ]
      const ofSite = path === '/portal/api/sites/:siteId'
      expect(ofSite ? is.replaceAll(MOMENTS, '') : is, path).toBe(
        ofSite ? was.replaceAll(MOMENTS, '') : was,
      )
    }
  })

  test('runs its operations as before, with the secrets that they had', async () => {
    const [before, after] = [
      await RuntimeSite.open(stack, HOST),
      await RuntimeSite.open(other, HOST),
    ]
    const first = await before.call('order')
    expect(first.json.data).toMatchObject({
      item: { item: ORDER },
      region: 'north',
      key: 'sk-very-secret',
    })
    const called = await after.call('order')
    expect(comparable(called.text, other)).toBe(comparable(first.text, stack))
    expect(await after.call('order', 'no object')).toMatchObject({
      status: 400,
      json: { error: { code: 'InvalidPayload', details: [{ field: '/payload' }] } },
    })
    const staff = { user: VERA, groups: ['staff'] }
    const read = { key: { id: 'o1', at: 1 } }
    const asked = await before.callAs(await stack.dataToken(HOST, staff), 'staff-only', read)
    const answered = await after.callAs(await other.dataToken(HOST, staff), 'staff-only', read)
    expect(answered.json).toEqual(asked.json)
    expect(answered.status).toBe(200)
  })

  test('has its items under every index, and its objects byte for byte', async () => {
    const site = await RuntimeSite.open(other, HOST)
    const ddb = `/resources/${idOf('orders')}/data/ddb`
    const bySum = {
      indexName: 'by-sum',
      keyConditionExpression: '#s = :s',
      expressionAttributeNames: { '#s': 'sum' },
      expressionAttributeValues: { ':s': 42 },
    }
    expect((await site.admin('POST', `${ddb}/query`, bySum)).json.items).toEqual([ORDER])
    const plain = await site.admin('POST', `/resources/${idOf('plain')}/data/ddb/scan`, {})
    expect(plain.json.count).toBe(30)
    const picture = await objectOf(other, 'picture')
    expect(picture.bytes.equals(PICTURE)).toBe(true)
    expect(picture.head).toMatchObject({ contentType: 'image/png', metadata: { by: 'ann' } })
    expect((await objectOf(other, '../../etc/passwd')).bytes.toString()).toBe('a name as any other')
    const page = await other.call(HOST, 'GET', '/')
    expect(page).toMatchObject({ status: 200, text: '<h1>Shop</h1>' })
    expect(page.headers).toMatchObject({ 'x-shop': 'yes' })
  })

  test('has its mail: found by its words, raw byte for byte, with its attachments', async () => {
    const token = await other.adminToken(HOST)
    const read = (path: string) => other.call(HOST, 'GET', `/admin/api/messages${path}`, { token })
    const found = (await read('?q=zebra')).json.items
    expect(found).toMatchObject([{ id: mail.messageId, subject: 'Größe' }])
    const message = (await read(`/${mail.messageId}`)).json
    const bytesAt = async (url: string) => {
      const { pathname, search } = new URL(url)
      return (await other.call(HOST, 'GET', pathname + search)).text
    }
    expect(await bytesAt(message.rawUrl)).toBe(mail.raw)
    expect(await bytesAt(message.attachments[0].url)).toBe('PDF')
    const dirty = await other.portal('GET', `/sites/${HOST}/mail-verification/objects`)
    expect(dirty.json.findings).toEqual([])
    expect((await read('?q=zebra&mailbox=nobody@shop.test')).status).not.toBe(200)
  })

  test('goes on from there: tables and buckets are written, jobs are due, files deployed', async () => {
    const site = await RuntimeSite.open(other, HOST)
    const ddb = `/resources/${idOf('orders')}/data/ddb`
    const put = await site.admin('POST', `${ddb}/put`, { item: { id: 'new', at: 3, sum: 42 } })
    expect(put.status).toBe(200)
    expect(await putObject(site, idOf('files'), 'new', 'x')).toMatchObject({ status: 200 })
    const { json } = await site.admin('GET', '/usage')
    expect(json.tables ?? json).toBeDefined()
    expect((await site.admin('GET', '/jobs/nightly')).json.nextRunAt).toMatch(/T0[12]:00:00/)
  })

  test('signs people in with the passwords they had, and not with their old sessions', async () => {
    const walk = await signInWithPassword(other, HOST, { email: VERA })
    expect(await accountOf(other, walk)).toMatchObject({ sub: vera.sub })
    // From then on the password is hashed as all others are here, and goes on from here to where it came from.
    const again = await signInWithPassword(other, HOST, { email: VERA })
    expect(await accountOf(other, again)).toMatchObject({ sub: vera.sub })
    const old = await other.call(HOST, 'GET', '/data/auth/methods', { token: vera.token })
    expect(old.status).toBe(401)
  })

  test('knows the applications that it had by their secrets, and who let them in', async () => {
    const party = await RelyingParty.of(other, HOST)
    expect(party.pool.clients.get(helpdesk.clientId)).toEqual(
      helpdesk.party.pool.clients.get(helpdesk.clientId),
    )
    const errorWith = async (secret: string) => {
      const fields = { grant_type: 'refresh_token', refresh_token: 'unknown' }
      return (await party.post('token', fields, helpdesk.basic(secret).headers)).json.error
    }
    expect(await errorWith(helpdesk.client.clientSecret ?? '')).toBe('invalid_grant')
    expect(await errorWith('wrong')).toBe('invalid_client')
    expect(await other.context.consents.list(party, vera.sub)).toMatchObject([
      { clientId: helpdesk.clientId, name: 'Helpdesk', scopes: ['openid', 'email'] },
    ])
  })

  test('is in both audit trails', async () => {
    const trail = async (at: Stack, event: string) =>
      (await at.portal('GET', `/sites/${HOST}/audit?event=${event}`)).json.items
    expect((await trail(stack, 'site.exported'))[0]).toMatchObject({
      actor: 'operator',
      detail: { parts: 'definition items objects users keys mail' },
    })
    expect((await trail(other, 'site.imported'))[0]).toMatchObject({
      actor: 'operator',
      detail: { from: HOST },
    })
    expect(other.app.recorded.has('POST /portal/api/site-imports site.imported')).toBe(true)
  })

  test('cannot come twice under one domain', async () => {
    expect((await at(other, 'site', 'import', archive, ...secret())).err).toContain(
      `SiteAlreadyExists: Another site has the domain "${HOST}"`,
    )
  })
})

describe('a site without users and keys', () => {
  test('exists under another domain beside the first, and says what has to be set again', async () => {
    bare = await exported('bare.tar.gz')
    const made = ['--host', 'copy.test', '--super-admin', 'ann@copy.test']
    const { out } = await at(stack, 'site', 'import', bare, ...made)
    expect(JSON.parse(out)).toMatchObject({
      siteDomain: 'copy.test',
      missingSecrets: [
        { kind: 'environment variable', name: 'KEY' },
        { kind: 'DKIM key', name: 'croft1' },
      ],
      onboarding: [{ email: 'ann@copy.test' }],
    })
    const copy = await RuntimeSite.open(stack, 'copy.test')
    const { json } = await copy.call('order')
    expect(json.data).toMatchObject({ item: { item: ORDER }, region: 'north', key: null })
    expect(
      (await stack.portal('GET', '/sites/copy.test/audit?event=sign-up.confirmed')).json.items,
    ).toEqual([])
    // Both have the same pools and clients; a token of the one is none of the other.
    const token = await stack.dataToken(HOST, { user: VERA, groups: ['staff'] })
    expect((await copy.callAs(token, 'staff-only', {})).status).toBe(401)
    expect((await readFile(bare)).includes('sk-very-secret')).toBe(false)
  })

  test('is never written over a file', async () => {
    const to = join(folder, 'taken.croft.tar.gz')
    await writeFile(to, 'another')
    const ran = await at(stack, 'site', 'export', HOST, '--to', to)
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringContaining(`"${to}" cannot be written: it is there already`),
    })
    expect(await readFile(to, 'utf8')).toBe('another')
  })

  test('needs a passphrase for what is secret, which is never an argument', async () => {
    const to = join(folder, 'never.tar.gz')
    const ran = await at(stack, 'site', 'export', HOST, '--to', to, '--with', 'keys')
    expect(ran.err).toContain('--passphrase-file')
    expect((await readdir(folder)).filter((name) => name.startsWith('never'))).toEqual([])
    const asked = await stack.portal('POST', `/sites/${HOST}/export`, { with: ['users'] })
    expect(asked).toMatchObject({ status: 400, json: { error: { code: 'PassphraseRequired' } } })
  })
})

describe('what cannot be imported is refused by name', () => {
  const refused = async (bytes: Uint8Array, ...options: readonly string[]) => {
    const file = join(folder, 'refused.tar.gz')
    await writeFile(file, bytes)
    return at(other, 'site', 'import', file, '--host', 'refused.test', ...options)
  }
  const changed = async (change: (tar: Buffer) => void) => {
    const tar = gunzipSync(await readFile(bare))
    change(tar)
    return gzipSync(tar, { level: 1 })
  }

  test('a truncated one', async () => {
    const whole = await readFile(bare)
    const { err } = await refused(whole.subarray(0, whole.byteLength / 2))
    expect(err).toContain('InvalidArchive: The archive cannot be imported: it is damaged')
  })

  test('one with a changed item', async () => {
    const bytes = await changed((tar) => tar.write('p9', tar.indexOf('"p8"') + 1))
    expect((await refused(bytes)).err).toContain(
      'InvalidArchive: The archive cannot be imported: its part "items" is not what the manifest says',
    )
  })

  test('one without its passphrase, and with another', async () => {
    const bytes = await readFile(archive)
    expect((await refused(bytes)).err).toContain('needs a passphrase')
    const wrong = join(folder, 'wrong')
    await writeFile(wrong, 'another passphrase')
    expect((await refused(bytes, '--passphrase-file', wrong)).err).toContain('WrongPassphrase')
  })

  test('one that unpacks to more than is agreed to', async () => {
    const { err } = await refused(await readFile(bare), '--max-bytes', '50000')
    expect(err).toContain(
      'ArchiveTooLarge: The archive is too large: it unpacks to more than 50000',
    )
  })

  test('one whose rows no site has, though all its sums are right', async () => {
    const forged = await forgedArchive(bare, (lines) =>
      lines.map((line) => line.replace('"cache_ttl_seconds" : 0', '"cache_ttl_seconds" : "many"')),
    )
    expect((await refused(forged)).err).toContain(
      'InvalidArchive: The archive cannot be imported: one of its rows is not what a site has',
    )
  })
})

test('nothing is left of what was refused', async () => {
  const { items } = (await other.portal('GET', '/sites')).json
  expect(items.map(({ domain }: { domain: string }) => domain)).toEqual([HOST, 'taken.test'])
  expect(await readdir(join(other.dataDir, 'work'))).toEqual([])
  const shop = await siteIdOf(other)
  await expect.poll(() => storedSites(other)).toEqual([shop])
})

test('an import whose process is killed leaves nothing, and can be done again', async () => {
  const objects = new StallingObjects(other)
  await using slow = await startStack({
    beside: other,
    works: false,
    platform: { openObjects: (urls) => objects.open(urls) },
  })
  const stalled = at(slow, 'site', 'import', bare, '--host', 'again.test')
  const siteId = await objects.stalledAt
  expect((await other.portal('GET', '/sites/again.test')).status).toBe(404)
  // While it says that it lives, a check leaves it alone, and looks again later.
  const look = async (aliveAt: Date) => {
    await asSuperuser(other, async (sql) => {
      await sql`update site_import set alive_at = ${aliveAt} where site_id = ${siteId}`
      await sql`update pgboss.job set start_after = now()
        where name = 'site-cleanup' and state = 'created' and data ->> 'siteId' = ${siteId}`
    })
  }
  await look(new Date())
  await expect
    .poll(() =>
      asSuperuser(other, async (sql) => {
        const [row] = await sql<{ done: number }[]>`select count(*)::int as done from pgboss.job
          where name = 'site-cleanup' and state = 'completed' and data ->> 'siteId' = ${siteId}`
        return row?.done
      }),
    )
    .toBe(1)
  expect(await storedSites(other)).toContain(siteId)
  // Its process was killed long ago.
  await look(new Date(0))
  await expect.poll(() => storedSites(other)).not.toContain(siteId)
  const again = await at(other, 'site', 'import', bare, '--host', 'again.test')
  expect(again.code).toBe(0)
  // The one that was taken for dead goes on after all, and leaves nothing either.
  objects.goOn()
  expect((await stalled).err).toContain('SiteAlreadyExists')
  await expect.poll(() => storedSites(other)).not.toContain(siteId)
})

/** The objects of a stack, of which no second one is put. */
class StallingObjects {
  readonly #stack: Stack
  readonly #stalled = Promise.withResolvers<string>()
  readonly #gate = Promise.withResolvers<void>()

  constructor(of: Stack) {
    this.#stack = of
  }

  /** The site that the second was for. */
  get stalledAt(): Promise<string> {
    return this.#stalled.promise
  }

  goOn(): void {
    this.#gate.resolve()
  }

  async open(urls: ObjectUrls): Promise<ObjectStore> {
    const dir = join(this.#stack.dataDir, 'objects')
    const store = await new FileObjectStore({ dir, urls, clock: systemClock }).open()
    const roomy = new RoomyObjectStore(store, ENOUGH_ROOM)
    let puts = 0
    const put: ObjectStore['put'] = async (key, ...rest) => {
      puts += 1
      if (puts > 1) {
        this.#stalled.resolve(key.split('/')[1] ?? '')
        await this.#gate.promise
      }
      return store.put(key, ...rest)
    }
    return Object.assign(roomy, { put })
  }
}

/** The same archive with other rows of its definition, sealed by its own manifest. */
async function forgedArchive(file: string, change: (lines: readonly string[]) => string[]) {
  const source = async function* () {
    yield await readFile(file)
  }
  const { header, manifest } = await verifyArchive(source(), DEFAULT_MAX_BYTES)
  const entries = async function* () {
    for await (const { name, bytes } of readArchive(source(), DEFAULT_MAX_BYTES)) {
      if (name === HEADER_ENTRY || name === MANIFEST_ENTRY) continue
      const body = Buffer.concat(await Array.fromAsync(bytes))
      const isDefinition = name.startsWith('definition/')
      const text = isDefinition ? change(body.toString().split('\n')).join('\n') : undefined
      const forged = text === undefined ? body : Buffer.from(text)
      yield { name: parseEntryName(name), sizeBytes: forged.byteLength, body: [forged] }
    }
    return manifest
  }
  return Buffer.concat(await Array.fromAsync(writeArchive(header, entries())))
}
