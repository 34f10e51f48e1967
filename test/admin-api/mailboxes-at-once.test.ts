import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

const ROUNDS = 12

let first: Stack
let second: Stack
let pool: AdminPool
let ann: Member
/** Ann on the other replica. */
let annThere: Member
let adam: Member
beforeAll(async () => {
  first = await startStack()
  second = await startStack({ beside: first })
  pool = new AdminPool(first, 'one.test')
  ann = await pool.first()
  annThere = await pool.named(ann.email, second)
  adam = await pool.joined('admin')
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

let made = 0
const newAddress = () => `box-${++made}@one.test`
const ids = (...members: readonly Member[]) => members.map(({ userId }) => userId)
const put = (by: Member, address: string, targets: readonly string[]) =>
  by.call('PUT', `/aliases/${address}`, { body: { targets } })
const create = (by: Member, address: string, owners = ids(ann)) =>
  by.call('POST', '/mailboxes', { body: { address, owners } })
async function mailbox(owners = ids(ann)): Promise<string> {
  const address = newAddress()
  const { status, text } = await create(ann, address, owners)
  if (status !== 200) throw new Error(text)
  return address
}
async function disabled(owners = ids(ann)): Promise<string> {
  const address = await mailbox(owners)
  await ann.call('DELETE', `/mailboxes/${address}`)
  return address
}
const outcomes = (answers: readonly Answer[]) =>
  answers.map(({ status, json }) => String(json?.error?.code ?? status)).toSorted()

/** Active mailboxes without an owner, and addresses that are nothing or two things. */
const faults = () =>
  first.inSite('one.test', async ({ db, siteId }) => {
    const boxes = await db
      .selectFrom('mailbox')
      .select(['mailbox_id as id', 'local_part as name', 'status'])
      .where('site_id', '=', siteId)
      .execute()
    const owned = await db.selectFrom('mailbox_owner').select('mailbox_id as id').execute()
    const aliases = await db.selectFrom('mail_alias').select('local_part as name').execute()
    const targets = await db.selectFrom('mail_alias_target').select('local_part as name').execute()
    const addresses = await db.selectFrom('mail_address').select('local_part as name').execute()
    const owners = new Set(owned.map(({ id }) => id))
    const led = new Set(targets.map(({ name }) => name))
    const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name)
    return {
      ownerless: boxes.filter(({ id, status }) => status === 'ACTIVE' && !owners.has(id)),
      targetless: names(aliases).filter((name) => !led.has(name)),
      taken: [...names(boxes), ...names(aliases)].toSorted(),
      addresses: names(addresses).toSorted(),
    }
  })

async function expectNoFault(): Promise<void> {
  const { ownerless, targetless, taken, addresses } = await faults()
  expect({ ownerless, targetless }).toEqual({ ownerless: [], targetless: [] })
  expect(taken).toEqual(addresses)
}

describe('two replicas', () => {
  test('create one mailbox of ten that are asked for at once', async () => {
    const address = newAddress()
    const callers = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? ann : annThere))
    const answers = await Promise.all(callers.map((by) => create(by, address)))
    expect(outcomes(answers)).toEqual(['200', ...Array<string>(9).fill('MailboxAlreadyExists')])
  })

  test('make of one name a mailbox or an alias, never both', async () => {
    const target = await mailbox()
    for (let round = 0; round < ROUNDS; round++) {
      const address = newAddress()
      const answers = await Promise.all([create(ann, address), put(annThere, address, [target])])
      expect([
        ['200', 'AliasAlreadyExists'],
        ['200', 'MailboxAlreadyExists'],
      ]).toContainEqual(outcomes(answers))
    }
    await expectNoFault()
  })

  test('do not both remove the last two owners', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const address = await mailbox(ids(ann, adam))
      const remove = (by: Member, owner: Member) =>
        by.call('DELETE', `/mailboxes/${address}/owners`, { body: { owners: ids(owner) } })
      const answers = await Promise.all([remove(ann, ann), remove(annThere, adam)])
      expect(outcomes(answers)).toEqual(['200', 'MinimumOwners'])
    }
    await expectNoFault()
  })

  test('do not both delete the last two owners', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const two = [await pool.joined('user'), await pool.joined('user')] as const
      await mailbox(ids(...two))
      const answers = await Promise.all([
        ann.call('DELETE', `/users/${two[0].userId}`),
        annThere.call('DELETE', `/users/${two[1].userId}`),
      ])
      expect(outcomes(answers)).toEqual(['204', 'MailboxOwnershipConflict'])
    }
    await expectNoFault()
  })

  test('do not give a mailbox to a user who is being deleted', async () => {
    const seen = new Set<string>()
    for (let round = 0; round < ROUNDS; round++) {
      const leaver = await pool.joined('user')
      const [given, restored] = [await mailbox(), await disabled()]
      const owners = { body: { owners: ids(leaver) } }
      const answers = await Promise.all([
        ann.call('PATCH', `/mailboxes/${given}`, owners),
        annThere.call('DELETE', `/users/${leaver.userId}`),
        ann.call('POST', `/mailboxes/${restored}/restore`, owners),
        create(annThere, newAddress(), ids(leaver)),
      ])
      for (const { status, json } of answers) seen.add(json?.error?.code ?? String(status))
    }
    const expected = ['200', '204', 'InvalidOwner', 'MailboxOwnershipConflict']
    expect([...seen].filter((each) => !expected.includes(each))).toEqual([])
    await expectNoFault()
  })

  test('leave a mailbox that is disabled and restored at once in one of both states', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const address = await mailbox()
      const answers = await Promise.all([
        ann.call('DELETE', `/mailboxes/${address}`),
        annThere.call('POST', `/mailboxes/${address}/restore`),
      ])
      const { json } = await ann.call('POST', `/mailboxes/${address}/restore`)
      const restoredFirst = outcomes(answers).includes('MailboxNotDisabled')
      expect(json.status ?? json.error.code).toBe(restoredFirst ? 'ACTIVE' : 'MailboxNotDisabled')
    }
    await expectNoFault()
  })

  test('purge a mailbox once, and leave no alias without a target', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [address, alias] = [await disabled(), newAddress()]
      const purge = (by: Member) =>
        by.call('POST', `/mailboxes/${address}/purge`, { body: { confirm: true } })
      const answers = await Promise.all([
        purge(ann),
        put(annThere, alias, [address]),
        purge(annThere),
      ])
      expect([
        ['200', '204', 'MailboxNotFound'],
        ['204', 'InvalidTarget', 'MailboxNotFound'],
      ]).toContainEqual(outcomes(answers))
      const { items } = (await ann.call('GET', '/aliases?limit=100')).json
      expect(items.map((each: { address: string }) => each.address)).not.toContain(alias)
    }
    await expectNoFault()
  })
})
