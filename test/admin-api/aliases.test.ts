import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let ann: Member
let ursula: Member
beforeAll(async () => {
  stack = await startStack()
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  ursula = await pool.joined('user')
  for (const name of ['info', 'sales', 'jürgen']) await mailbox(`${name}@one.test`)
  const other = await new AdminPool(stack, 'two.test').first()
  const body = { address: 'only-there@two.test', owners: [other.userId] }
  await other.call('POST', '/mailboxes', { body })
})
afterAll(() => stack[Symbol.asyncDispose]())

async function mailbox(address: string): Promise<void> {
  const answer = await ann.call('POST', '/mailboxes', { body: { address, owners: [ann.userId] } })
  if (answer.status !== 200) throw new Error(answer.text)
}

let made = 0
const newAddress = () => `alias-${++made}@one.test`
const put = (address: string, ...targets: readonly string[]) =>
  ann.call('PUT', `/aliases/${encodeURIComponent(address)}`, { body: { targets } })
const remove = (address: string) => ann.call('DELETE', `/aliases/${encodeURIComponent(address)}`)
const codeOf = ({ status, json }: Answer) => [status, json?.error?.code]
const list = async (): Promise<{ address: string; targets: string[] }[]> =>
  (await ann.call('GET', '/aliases?limit=100')).json.items
const targetsOf = async (address: string) =>
  (await list()).find((each) => each.address === address)?.targets

describe('an alias', () => {
  test('leads to mailboxes, each once and in any spelling', async () => {
    const answer = await put('Hello@One.test', 'SALES@one.test', 'info@one.test', 'sales@ONE.test')
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json).toEqual({
      address: 'hello@one.test',
      targets: ['info@one.test', 'sales@one.test'],
    })
    expect(await targetsOf('hello@one.test')).toEqual(answer.json.targets)
  })

  test('is led elsewhere by the same request', async () => {
    const address = newAddress()
    await put(address, 'info@one.test', 'sales@one.test')
    const { json } = await put(address, 'ju\u0308rgen@one.test')
    expect(json).toEqual({ address, targets: ['jürgen@one.test'] })
    expect(await targetsOf(address)).toEqual(['jürgen@one.test'])
  })

  test('is deleted, and its name free', async () => {
    const address = newAddress()
    await put(address, 'info@one.test')
    expect((await remove(address)).status).toBe(204)
    expect(await targetsOf(address)).toBeUndefined()
    expect(codeOf(await remove(address))).toEqual([404, 'AliasNotFound'])
    await mailbox(address)
  })

  test('leads to a disabled mailbox, and goes with it', async () => {
    const [target, alone, shared] = [newAddress(), newAddress(), newAddress()]
    await mailbox(target)
    await ann.call('DELETE', `/mailboxes/${target}`)
    expect((await put(alone, target)).status).toBe(200)
    expect((await put(shared, target, 'info@one.test')).status).toBe(200)
    const body = { confirm: true }
    expect((await ann.call('POST', `/mailboxes/${target}/purge`, { body })).status).toBe(204)
    expect(await targetsOf(alone)).toBeUndefined()
    expect(await targetsOf(shared)).toEqual(['info@one.test'])
  })

  test('is written down, with who did it and where it leads', async () => {
    const address = newAddress()
    await put(address, 'info@one.test')
    await remove(address)
    const { json } = await stack.portal('GET', '/sites/one.test/audit?limit=2')
    const events = json.items.map((each: Record<string, unknown>) => [
      each['event'],
      each['actor'],
      each['detail'],
    ])
    const detail = { address, targets: 'info@one.test' }
    expect(events).toEqual([
      ['alias.deleted', ann.userId, detail],
      ['alias.changed', ann.userId, detail],
    ])
  })

  test('comes in pages', async () => {
    for (let n = 0; n < 3; n++) await put(newAddress(), 'info@one.test')
    const page = (await ann.call('GET', '/aliases?limit=2')).json
    expect(page.items).toEqual((await list()).slice(0, 2))
    const token = encodeURIComponent(page.nextToken)
    const next = (await ann.call('GET', `/aliases?limit=100&nextToken=${token}`)).json
    expect([...page.items, ...next.items]).toEqual(await list())
    expect(next.nextToken).toBeNull()
  })
})

describe('an alias is refused', () => {
  test.each([
    [
      'for the address of a mailbox',
      'info@one.test',
      ['sales@one.test'],
      409,
      'MailboxAlreadyExists',
    ],
    ['with a plus part', 'a+b@one.test', ['info@one.test'], 400, 'ValidationError'],
    ['of another domain', 'a@two.test', ['info@one.test'], 400, 'ValidationError'],
    ['that is no address', 'a', ['info@one.test'], 400, 'ValidationError'],
    ['with no target', 'a@one.test', [], 400, 'ValidationError'],
    ['with a target of another site', 'a@one.test', ['only-there@two.test'], 400, 'InvalidTarget'],
    ['with an outside target', 'a@one.test', ['info@example.org'], 400, 'InvalidTarget'],
    ['with a target that is not there', 'a@one.test', ['gone@one.test'], 400, 'InvalidTarget'],
    ['with an alias as target', 'a@one.test', ['hello@one.test'], 400, 'InvalidTarget'],
    ['with itself as target', 'a@one.test', ['a@one.test'], 400, 'InvalidTarget'],
    ['with a NUL in a target', 'a@one.test', ['info\0@one.test'], 400, 'InvalidTarget'],
    [
      'with too many targets',
      'a@one.test',
      Array.from({ length: 51 }, (_, n) => `m${n}@one.test`),
      400,
      'ValidationError',
    ],
  ] as const)('%s', async (_what, address, targets, status, code) => {
    const before = await list()
    expect(codeOf(await put(address, ...targets))).toEqual([status, code])
    expect(await list()).toEqual(before)
  })

  test('where targets are wrong, with each of them named', async () => {
    const { json } = await put('a@one.test', 'gone@one.test', 'info@one.test', 'x')
    expect(json.error.details).toEqual([
      { field: 'targets[0]', message: '"gone@one.test" is none' },
      { field: 'targets[2]', message: '"x" is none' },
    ])
  })

  test('as a mailbox', async () => {
    const address = newAddress()
    await put(address, 'info@one.test')
    const body = { address, owners: [ann.userId] }
    expect(codeOf(await ann.call('POST', '/mailboxes', { body }))).toEqual([
      409,
      'AliasAlreadyExists',
    ])
    const settings = await ann.call('GET', `/mailboxes/${address}/settings`)
    expect(codeOf(settings)).toEqual([404, 'MailboxNotFound'])
  })

  test('to users', async () => {
    const body = { targets: ['info@one.test'] }
    expect(codeOf(await ursula.call('GET', '/aliases'))).toEqual([403, 'Forbidden'])
    expect(codeOf(await ursula.call('PUT', '/aliases/u@one.test', { body }))).toEqual([
      403,
      'Forbidden',
    ])
    expect(codeOf(await ursula.call('DELETE', '/aliases/hello@one.test'))).toEqual([
      403,
      'Forbidden',
    ])
  })
})
