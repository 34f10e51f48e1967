import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { allMailTo, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

let first: Stack
let second: Stack
let pool: AdminPool
let ann: Member
/** Ann on the other replica. */
let annThere: Member
beforeAll(async () => {
  first = await startStack()
  second = await startStack({ beside: first })
  pool = new AdminPool(first, 'one.test')
  ann = await pool.first()
  annThere = await pool.named(ann.email, second)
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

let addresses = 0
const newAddress = () => `new-${++addresses}@one.test`
const create = (by: Member, body: unknown, key?: string) =>
  by.call('POST', '/users', {
    body,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  })
const statuses = (answers: readonly { readonly status: number }[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)

describe('two replicas', () => {
  test('create one user of ten who are asked for at once', async () => {
    const email = newAddress()
    const callers = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? ann : annThere))
    const answers = await Promise.all(callers.map((by) => create(by, { email })))
    expect(statuses(answers)).toEqual([200, ...Array<number>(9).fill(409)])
    for (const { json } of answers.filter(({ status }) => status === 409)) {
      expect(json.error.code).toBe('UserAlreadyExists')
    }
    await mailTo(first, email, 'invite')
    expect(await allMailTo(first, email)).toHaveLength(1)
  })

  test('refuse the tokens of a deleted user at once', async () => {
    const bob = await pool.joined('admin')
    const bobThere = await pool.named(bob.email, second)
    expect((await bobThere.call('GET', '/users')).status).toBe(200)
    expect((await ann.call('DELETE', `/users/${bob.userId}`)).status).toBe(204)
    expect((await bobThere.call('GET', '/users')).status).toBe(401)
    expect((await bobThere.call('GET', '/profile')).status).toBe(401)
  })

  test('refuse the tokens of a demoted user at once', async () => {
    const bob = await pool.joined('admin')
    const bobThere = await pool.named(bob.email, second)
    expect((await bobThere.call('GET', '/users')).status).toBe(200)
    await ann.call('PATCH', `/users/${bob.userId}`, { body: { role: 'user' } })
    expect((await bobThere.call('GET', '/users')).status).toBe(401)
  })

  test('go on with each other’s lists', async () => {
    for (let n = 0; n < 3; n++) await create(ann, { email: newAddress() })
    const { json } = await ann.call('GET', '/users?limit=2')
    const token = encodeURIComponent(json.nextToken)
    const [here, there] = await Promise.all(
      [ann, annThere].map((by) => by.call('GET', `/users?limit=2&nextToken=${token}`)),
    )
    expect(there?.json).toEqual(here?.json)
    expect(there?.json.items).toHaveLength(2)
  })
})

describe('the last two super-admins', () => {
  const siteWithTwo = async (domain: string) => {
    await first.createSite({ domain, superAdmins: [`ann@${domain}`] })
    const people = new AdminPool(first, domain)
    const two = [await people.joined('super-admin'), await people.joined('super-admin')] as const
    const invited = await people.first()
    expect((await two[0].call('DELETE', `/users/${invited.userId}`)).status).toBe(204)
    return { people, two }
  }

  test('cannot delete each other', async () => {
    const { people, two } = await siteWithTwo('two-go.test')
    const there = await people.named(two[1].email, second)
    const answers = await Promise.all([
      two[0].call('DELETE', `/users/${two[1].userId}`),
      there.call('DELETE', `/users/${two[0].userId}`),
    ])
    expect(answers.map(({ status }) => status)).toContain(204)
    // The loser gets the error that the other one is the last, or is gone when the request comes in.
    const refused = answers.find(({ status }) => status !== 204)
    expect(['LastSuperAdmin', 'Unauthorized']).toContain(refused?.json.error.code)
    const { json } = await first.portal('GET', '/sites/two-go.test')
    expect(json.superAdmins).toHaveLength(1)
  })

  test('cannot both step down', async () => {
    const { people, two } = await siteWithTwo('two-step.test')
    const there = await people.named(two[1].email, second)
    const answers = await Promise.all([
      two[0].call('PATCH', `/users/${two[0].userId}`, { body: { role: 'user' } }),
      there.call('PATCH', `/users/${two[1].userId}`, { body: { role: 'user' } }),
    ])
    expect(statuses(answers)).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)?.json.error.code).toBe('LastSuperAdmin')
  })
})

describe('a user created with an Idempotency-Key', () => {
  test('is created once, and the first answer given again, on every replica', async () => {
    const body = { email: newAddress(), role: 'admin', externalEmail: newAddress() }
    const answers = [await create(ann, body, 'k-1')]
    answers.push(await create(annThere, body, 'k-1'))
    const { role, ...rest } = body
    answers.push(await create(ann, { role, ...rest }, 'k-1'))
    expect(statuses(answers)).toEqual([200, 200, 200])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    await mailTo(first, body.externalEmail, 'invite')
    expect(await allMailTo(first, body.externalEmail)).toHaveLength(1)
  })

  test('is created once when the requests come at once', async () => {
    const body = { email: newAddress() }
    const callers = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? ann : annThere))
    const answers = await Promise.all(callers.map((by) => create(by, body, 'k-2')))
    expect(statuses(answers)).toEqual(Array<number>(8).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('is refused under a key of another request', async () => {
    await create(ann, { email: newAddress() }, 'k-3')
    const email = newAddress()
    expect(await create(ann, { email }, 'k-3')).toMatchObject({
      status: 422,
      json: { error: { code: 'IdempotencyKeyReused' } },
    })
    expect((await create(ann, { email }, 'k-3-again')).status).toBe(200)
  })

  test('leaves the key free when it was refused', async () => {
    expect((await create(ann, { email: ann.email }, 'k-4')).status).toBe(409)
    expect((await create(ann, { email: newAddress() }, 'k-4')).status).toBe(200)
  })

  test('has a key of one caller, on one site', async () => {
    const email = newAddress()
    const adam = await pool.joined('admin')
    const other = await new AdminPool(first, 'two.test').first()
    expect((await create(ann, { email }, 'k-5')).status).toBe(200)
    expect((await create(adam, { email }, 'k-5')).status).toBe(409)
    expect((await create(other, { email }, 'k-5')).status).toBe(200)
  })

  test.each(['', ' ', 'a b', 'ü', 'x'.repeat(256)])('is refused with the key %j', async (key) => {
    expect(await create(ann, { email: newAddress() }, key)).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError', details: [{ field: 'Idempotency-Key' }] } },
    })
  })
})
