import { type DNSResolver, dkimVerify } from 'mailauth'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { newKeyPair } from '#identity/keys/key-pair.ts'
import type { DnsAnswer, DnsResolver } from '#platform/dns/dns-resolver.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { dnsOf } from '#test/inbound-mail.ts'
import { everyFile, everyRow } from '#test/secret-hunt.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATIENCE = { timeout: 40_000, interval: 20 }
const DAY_MS = 24 * 3_600_000

interface Key {
  readonly selector: string
  readonly state: string
  readonly name: string
  readonly value: string
  readonly [time: string]: string | null
}

/** What the world's DNS has; a test publishes into it. */
const records: Record<string, DnsAnswer | string> = {}
const dns: DnsResolver = (name, type) => dnsOf(records)(name, type)
const resolver = dns as DNSResolver

let now = new Date()
const clock = { now: () => now }
let gateway: SmtpServer
let stack: Stack
let second: Stack
const resources = new AsyncDisposableStack()
/** Copies: the caller that encrypts a private key wipes it. */
const privateKeys: Buffer[] = []
async function newPair() {
  const pair = await newKeyPair()
  privateKeys.push(Buffer.from(pair.privateKey))
  return pair
}

/** Of the last bytes, which no public half has: in hex, and in base64 wherever they begin. */
function tracesOf(key: Buffer): string[] {
  const end = key.subarray(-48)
  const base64 = [0, 1, 2].map((from) => end.subarray(from, from + 45).toString('base64'))
  return [end.toString('hex'), end.toString('latin1'), ...base64]
}

const replica = async (beside?: Stack) => {
  const mailTransport = resources.use(new SmtpGateway(`smtp://127.0.0.1:${gateway.port}`))
  const platform = { mailTransport, dns, clock, newKeyPair: newPair }
  return resources.use(await startStack({ platform, ...(beside && { beside, works: false }) }))
}
beforeAll(async () => {
  gateway = resources.use(await SmtpServer.start())
  stack = await replica()
  second = await replica(stack)
})
afterAll(() => resources.disposeAsync())
beforeEach(() => {
  gateway.answer = () => undefined
})

const keysOf = async (host: string, from = stack): Promise<Key[]> =>
  (await from.portal('GET', `/sites/${host}/dkim`)).json.items
const post = (host: string, what: string, body?: unknown, from = stack) =>
  from.portal('POST', `/sites/${host}/dkim/${what}`, body)
const publish = ({ name, value }: Key) => {
  records[`TXT ${name}`] = [[value.slice(0, 255), value.slice(255)]]
}
const unpublish = ({ name }: Key) => delete records[`TXT ${name}`]

let sent = 0
/** The message as the gateway got it. */
async function send(host: string): Promise<string> {
  const to = `vic-${++sent}@example.org`
  await stack.inSite(host, (tx, site) =>
    stack.context.authEmails.send(tx, site, { kind: 'password-changed', pool: 'data', to }),
  )
  const taken = () => gateway.messages.find((message) => message.to.includes(to))?.data
  await expect.poll(taken, PATIENCE).toBeDefined()
  return taken() ?? ''
}

async function verified(data: string) {
  const { results, headerFrom } = await dkimVerify(Buffer.from(data), { resolver, strict: true })
  expect(results).toHaveLength(1)
  const [result] = results
  return {
    result: result?.status.result,
    aligned: result?.status.aligned,
    domain: result?.signingDomain,
    selector: result?.selector,
    from: headerFrom?.[0],
  }
}

describe('mail of a site', () => {
  test('is signed in the site’s own name', async () => {
    for (const host of ['one.test', 'two.test']) {
      const data = await send(host)
      const [key] = await keysOf(host)
      expect(key).toMatchObject({ selector: 'croft1', state: 'active' })
      if (key) publish(key)
      expect(await verified(data)).toEqual({
        result: 'pass',
        aligned: host,
        domain: host,
        selector: 'croft1',
        from: `no-reply@${host}`,
      })
      const changed = data.replace('Subject: ', 'Subject: Not ')
      expect((await verified(changed)).result).toBe('fail')
      expect((await verified(`${data}more`)).result).toBe('fail')
    }
    const [one] = await keysOf('one.test')
    const [two] = await keysOf('two.test')
    expect(one?.value).not.toBe(two?.value)
  })

  test('is the same at the next attempt, signature and all', async () => {
    const tries: string[] = []
    gateway.answer = (verb, line) => {
      if (verb !== 'MESSAGE') return undefined
      tries.push(line)
      return tries.length === 1 ? '451 4.7.1 later' : undefined
    }
    const data = await send('one.test')
    expect(tries).toHaveLength(2)
    expect(new Set([...tries, data]).size).toBe(1)
    expect(data).toMatch(/^DKIM-Signature: /)
  })

  test('is signed with one key, wherever and however often the first is asked for at once', async () => {
    await stack.createSite({ domain: 'race.test', superAdmins: [] })
    const { siteId } = await stack.context.sites.find('race.test')
    const askers = Array.from({ length: 8 }, (_, at) => (at % 2 ? stack : second))
    const identity = { siteId, domain: 'race.test', signedAt: now }
    const message = Buffer.from('From: a@race.test\r\n\r\nx\r\n')
    const fields = await Promise.all([
      ...askers.map(({ context }) => context.dkimSigner.sign(identity, () => [message])),
      ...askers.map((asker) => keysOf('race.test', asker).then(() => undefined)),
    ])
    expect(new Set(fields.filter((field) => field !== undefined)).size).toBe(1)
    expect(await keysOf('race.test')).toHaveLength(1)
  })
})

describe('a new key', () => {
  test('signs once it is published, and the old one is kept for what it signed', async () => {
    const before = await send('one.test')
    const rotated = await post('one.test', 'rotate')
    expect(rotated).toMatchObject({ status: 200, json: { selector: 'croft2', state: 'pending' } })
    expect((await post('one.test', 'rotate')).json).toEqual(rotated.json)
    expect((await verified(await send('one.test'))).selector).toBe('croft1')

    const refused = await post('one.test', 'activate')
    expect(refused).toMatchObject({
      status: 409,
      json: { error: { code: 'DkimRecordNotPublished' } },
    })
    expect(refused.json.error.message).toContain('croft2._domainkey.one.test')
    records['TXT croft2._domainkey.one.test'] = 'ESERVFAIL'
    expect((await post('one.test', 'activate')).status).toBe(409)
    publish(rotated.json)
    const activated = await post('one.test', 'activate')
    expect(activated).toMatchObject({ status: 200, json: { selector: 'croft2', state: 'active' } })
    const recorded = 'POST /portal/api/sites/:siteId/dkim/activate dkim.activated'
    expect(stack.app.recorded.has(recorded)).toBe(true)

    const after = await send('one.test')
    expect(await verified(after)).toMatchObject({ result: 'pass', selector: 'croft2' })
    expect(await verified(before)).toMatchObject({ result: 'pass', selector: 'croft1' })
    expect((await keysOf('one.test')).map(({ selector, state }) => [selector, state])).toEqual([
      ['croft2', 'active'],
      ['croft1', 'retiring'],
    ])
    expect((await keysOf('two.test')).map(({ selector }) => selector)).toEqual(['croft1'])
    const again = await post('one.test', 'activate')
    expect(again).toMatchObject({ status: 409, json: { error: { code: 'DkimKeyNotPending' } } })
  })

  test('signs when an operator says so, whatever DNS says', async () => {
    const { json: pending } = await post('two.test', 'rotate')
    unpublish(pending)
    expect((await post('two.test', 'activate', { force: true })).json).toMatchObject({
      selector: pending.selector,
      state: 'active',
    })
    expect((await verified(await send('two.test'))).result).toBe('neutral')
    publish(pending)
    expect((await verified(await send('two.test'))).result).toBe('pass')
  })

  test('is one, of many that are asked for or activated at once', async () => {
    await stack.createSite({ domain: 'many.test', superAdmins: [] })
    const both = [stack, second, stack, second]
    const rotated = await Promise.all(
      both.map((from) => post('many.test', 'rotate', undefined, from)),
    )
    expect(new Set(rotated.map(({ json }) => json.selector))).toEqual(new Set(['croft2']))
    const force = { force: true }
    const done = await Promise.all(both.map((from) => post('many.test', 'activate', force, from)))
    expect(done.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409])
    expect((await keysOf('many.test')).map(({ state }) => state)).toEqual(['active', 'retiring'])
  })

  test('waits while a site has too many, and the old ones retire by themselves', async () => {
    await stack.createSite({ domain: 'often.test', superAdmins: [] })
    for (let number = 2; number <= 16; number++) {
      expect((await post('often.test', 'rotate')).json.selector).toBe(`croft${number}`)
      expect((await post('often.test', 'activate', { force: true })).status).toBe(200)
    }
    expect((await post('often.test', 'rotate')).status).toBe(429)
    now = new Date(now.getTime() + 7 * DAY_MS)
    expect(new Set((await keysOf('often.test')).map(({ state }) => state))).toEqual(
      new Set(['active', 'retired']),
    )
    expect((await post('often.test', 'rotate')).json.selector).toBe('croft17')
    expect(await keysOf('often.test')).toHaveLength(2)
  })

  test('is in the audit trail, from its making on', async () => {
    const { json } = await stack.portal('GET', '/sites/one.test/audit?event=dkim.activated')
    expect(json.items).toMatchObject([
      { actor: 'operator', detail: { selector: 'croft2', forced: false } },
    ])
    const made = await stack.portal('GET', '/sites/one.test/audit?event=dkim.rotated')
    expect(made.json.items).toMatchObject([{ actor: 'operator', detail: { selector: 'croft2' } }])
  })
})

describe('keys', () => {
  test('are the same after a restart', async () => {
    await using later = await startStack({ beside: stack, works: false, platform: { dns, clock } })
    const { siteId } = await stack.context.sites.find('two.test')
    const identity = { siteId, domain: 'two.test', signedAt: now }
    const message = Buffer.from('From: a@two.test\r\n\r\nx\r\n')
    const sign = ({ context }: Stack) => context.dkimSigner.sign(identity, () => [message])
    expect(await sign(later)).toBe(await sign(stack))
    expect(await keysOf('two.test', later)).toEqual(await keysOf('two.test'))
  })

  test('are sealed at rest, and gone once another signs', async () => {
    const stored = await stack.inSite('one.test', (tx, { siteId }) =>
      tx.db
        .selectFrom('dkim_key')
        .select(['sealed_private', 'superseded_at'])
        .where('site_id', '=', siteId)
        .execute(),
    )
    expect(stored).toHaveLength(2)
    for (const row of stored) {
      expect(row.sealed_private === null).toBe(row.superseded_at !== null)
    }
    const places = new Map([...(await everyRow(stack)), ...(await everyFile(stack.dataDir))])
    expect(places.get('public.dkim_key')).toContain('MII')
    expect(privateKeys.length).toBeGreaterThan(4)
    for (const [place, text] of places) {
      for (const trace of privateKeys.flatMap(tracesOf)) {
        expect(text.includes(trace), place).toBe(false)
      }
    }
  })

  test('of a site belong to it only', async () => {
    const { siteId } = await stack.context.sites.find('one.test')
    const seen = await stack.inSite('two.test', (tx) =>
      tx.db.selectFrom('dkim_key').select('number').where('site_id', '=', siteId).execute(),
    )
    expect(seen).toEqual([])
  })

  test('go with their site', async () => {
    await stack.createSite({ domain: 'gone.test', superAdmins: [] })
    await keysOf('gone.test')
    expect((await stack.portal('DELETE', '/sites/gone.test?confirm=true')).status).toBe(204)
    expect((await stack.portal('GET', '/sites/gone.test/dkim')).status).toBe(404)
  })

  test.each([
    ['GET', 'dkim'],
    ['POST', 'dkim/rotate'],
    ['POST', 'dkim/activate'],
    ['GET', 'dns'],
  ])('(%s %s) are the operator’s alone', async (method, path) => {
    const admin = await stack.adminToken('one.test')
    for (const token of ['', admin, `${stack.operatorKey}x`]) {
      const options = { token, ...(method === 'POST' && { body: {} }) }
      const answer = await stack.call(
        'one.test',
        method,
        `/portal/api/sites/one.test/${path}`,
        options,
      )
      expect(answer).toMatchObject({ status: 401, json: { error: { code: 'Unauthorized' } } })
    }
    const unknown = await stack.portal(
      method,
      `/sites/nowhere.test/${path}`,
      method === 'POST' ? {} : undefined,
    )
    expect(unknown).toMatchObject({ status: 404, json: { error: { code: 'SiteNotFound' } } })
  })

  test.each([[{ force: 'yes' }], [{ forced: true }], [[]]])(
    'are not activated by a broken body (%j)',
    async (body) => {
      const answer = await post('one.test', 'activate', body)
      expect(answer.status).toBe(400)
    },
  )

  test('are not activated by what is no JSON', async () => {
    const answer = await stack.call(
      'localhost',
      'POST',
      '/portal/api/sites/one.test/dkim/activate',
      {
        token: stack.operatorKey,
        body: '{"force"',
        headers: { 'content-type': 'application/json' },
      },
    )
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidJson' } } })
  })
})
