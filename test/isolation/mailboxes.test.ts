import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** An address in a path or body is this, and a user's id that. */
interface Names {
  readonly address: string
  readonly alias: string
  readonly user: string
}

/** Under `/admin/api`, with who may: whether the role of an admin suffices, or ownership does. */
type MailRoute = readonly [method: string, path: string, body?: unknown]

const READS = ({ address }: Names): readonly MailRoute[] => [
  ['GET', `/mailboxes/${address}/settings`],
  ['GET', `/mailboxes/${address}/forwarding`],
  ['GET', `/mailboxes/${address}/forwarding-targets`],
  ['GET', `/mailboxes/${address}/submission-credentials`],
]

/** What owners may change, too. */
const OWNER_CHANGES = ({ address }: Names): readonly MailRoute[] => [
  ['PUT', `/mailboxes/${address}/forwarding`, { enabled: true }],
  ['POST', `/mailboxes/${address}/forwarding-targets`, { targets: ['eve@example.org'] }],
  ['DELETE', `/mailboxes/${address}/forwarding-targets`, { targets: ['eve@example.org'] }],
  ['POST', `/mailboxes/${address}/submission-credentials`, { name: 'Eve' }],
]

const CHANGES = ({ address, alias, user }: Names): readonly MailRoute[] => [
  ['PATCH', `/mailboxes/${address}`, { owners: [user] }],
  ['POST', `/mailboxes/${address}/owners`, { owners: [user] }],
  ['DELETE', `/mailboxes/${address}/owners`, { owners: [user] }],
  ['DELETE', `/mailboxes/${address}`],
  ['POST', `/mailboxes/${address}/restore`, {}],
  ['POST', `/mailboxes/${address}/purge`, { confirm: true }],
  ['PUT', `/mailboxes/${address}/settings`, { trashAutoPurge: true }],
  ['PUT', `/aliases/${alias}`, { targets: [address] }],
  ['DELETE', `/aliases/${alias}`],
]

const NEVER: Names = {
  address: 'never@one.test',
  alias: 'neveralias@one.test',
  user: '00000000-0000-4000-8000-000000000000',
}

let stack: Stack
let ann: Member
let ursula: Member
let twin: Member
let theirs: Names
beforeAll(async () => {
  stack = await startStack()
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  ursula = await pool.joined('user')
  twin = await new AdminPool(stack, 'two.test').first()
  theirs = { address: 'info@one.test', alias: 'hello@one.test', user: ann.userId }
  await done('POST', '/mailboxes', { address: theirs.address, owners: [ann.userId] })
  await done('PUT', `/aliases/${theirs.alias}`, { targets: [theirs.address] })
  await done('POST', '/mailboxes', { address: 'hers@one.test', owners: [ursula.userId] })
})
afterAll(() => stack[Symbol.asyncDispose]())

async function done(method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await ann.call(method, path, { body })
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
}

const ask = (by: Member, [method, path, body]: MailRoute) =>
  by.call(method, path, { ...(body !== undefined && { body }) })

const snapshot = async () => [
  (await ann.call('GET', '/mailboxes')).json,
  (await ann.call('GET', '/aliases')).json,
  (await ann.call('GET', `/mailboxes/${theirs.address}/settings`)).json,
  (await ann.call('GET', `/mailboxes/${theirs.address}/forwarding`)).json,
]

/** Without what differs from request to request, and with one word for each name. */
const comparable = ({ status, text }: Answer, names: Names): unknown => ({
  status,
  text: Object.entries(names)
    .reduce((all, [name, value]) => all.replaceAll(value, `<${name}>`), text)
    .replaceAll(/"requestId":"[^"]*"/g, ''),
})

describe('an address of another site', () => {
  test('is answered as one that never was, wherever it is sent', async () => {
    const before = await snapshot()
    const all = (names: Names) => [...READS(names), ...OWNER_CHANGES(names), ...CHANGES(names)]
    const never = all(NEVER)
    for (const [at, route] of all(theirs).entries()) {
      const unknown = never[at]
      if (!unknown) throw new Error('The lists differ')
      const foreign = await ask(twin, route)
      expect(comparable(foreign, theirs), route.join(' ')).toEqual(
        comparable(await ask(twin, unknown), NEVER),
      )
      expect([400, 404], `${route.join(' ')} ${foreign.text}`).toContain(foreign.status)
    }
    expect(await snapshot()).toEqual(before)
  })

  test('is the own one where the name is the same, and nothing is shared', async () => {
    const body = { address: 'info@two.test', owners: [twin.userId] }
    expect((await twin.call('POST', '/mailboxes', { body })).status).toBe(200)
    const settings = { quotaBytes: 5 }
    await twin.call('PUT', '/mailboxes/info@two.test/settings', { body: settings })
    const { json } = await ann.call('GET', `/mailboxes/${theirs.address}/settings`)
    expect(json.quotaBytes).toBeNull()
    expect((await twin.call('GET', '/mailboxes')).json.items).toHaveLength(1)
    const { siteId } = await stack.context.sites.find('two.test')
    const found = await stack.context.recipients.resolve(siteId, 'info')
    expect(JSON.stringify(found)).toContain('"freeBytes":5')
  })

  test('opens nothing by a page token of its list', async () => {
    for (const list of ['mailboxes', 'aliases']) {
      await done('PUT', '/aliases/second@one.test', { targets: [theirs.address] })
      const { nextToken } = (await ann.call('GET', `/${list}?limit=1`)).json
      expect(nextToken, list).toMatch(/^[\w-]{8,}$/)
      const answer = await twin.call('GET', `/${list}?nextToken=${nextToken}`)
      expect([answer.status, answer.json.error.code]).toEqual([400, 'InvalidNextToken'])
    }
    await done('DELETE', '/aliases/second@one.test')
  })
})

describe('a user who owns another mailbox', () => {
  test('gets the same answer about a mailbox of another site as about none', async () => {
    const all = (names: Names) => [...READS(names), ...OWNER_CHANGES(names)]
    for (const [at, route] of all(theirs).entries()) {
      const unknown = all(NEVER)[at]
      if (!unknown) throw new Error('The lists differ')
      const foreign = await ask(ursula, route)
      expect(foreign.status).toBe(404)
      expect(comparable(foreign, theirs)).toEqual(comparable(await ask(ursula, unknown), NEVER))
    }
  })

  test('changes nothing, of others or of their own', async () => {
    const before = await snapshot()
    for (const names of [theirs, { ...theirs, address: 'hers@one.test' }, NEVER]) {
      for (const route of CHANGES(names)) {
        const answer = await ask(ursula, route)
        expect([answer.status, answer.json.error.code], route.join(' ')).toEqual([403, 'Forbidden'])
      }
    }
    expect(await snapshot()).toEqual(before)
  })

  test('no longer reads what they no longer own, with the same token', async () => {
    const path = '/mailboxes/hers@one.test/settings'
    expect((await ursula.call('GET', path)).status).toBe(200)
    await done('PATCH', '/mailboxes/hers@one.test', { owners: [ann.userId] })
    expect((await ursula.call('GET', path)).status).toBe(404)
    expect((await ursula.call('GET', '/mailboxes')).json.items).toEqual([])
    await done('PATCH', '/mailboxes/hers@one.test', { owners: [ursula.userId] })
  })
})
