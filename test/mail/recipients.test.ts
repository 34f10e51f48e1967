import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { RecipientResolution } from '#mail/recipients/model.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { type Stack, startStack } from '#test/stack.ts'

const GIB = 1024 ** 3

let stack: Stack
let ann: Member
beforeAll(async () => {
  stack = await startStack()
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  const ursula = await pool.joined('user')
  await create('ursula@one.test', [ursula.userId])
  for (const name of ['info', 'sales', 'closed', 'shut', 'jürgen']) {
    await create(`${name}@one.test`)
  }
  await alias('hello', ['info', 'sales'])
  await alias('half', ['info', 'closed'])
  await alias('none', ['closed', 'shut'])
  for (const name of ['closed', 'shut']) {
    await done('DELETE', `/mailboxes/${name}@one.test`)
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

async function done(method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await ann.call(method, path, { body })
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
}

const create = (address: string, owners = [ann.userId]) =>
  done('POST', '/mailboxes', { address, owners })

const alias = (name: string, targets: readonly string[]) =>
  done('PUT', `/aliases/${name}@one.test`, {
    targets: targets.map((target) => `${target}@one.test`),
  })

async function resolve(localPart: string, host = 'one.test'): Promise<RecipientResolution> {
  const { siteId } = await stack.context.sites.find(host)
  return stack.context.recipients.resolve(siteId, localPart)
}

const namesOf = (resolution: RecipientResolution): readonly string[] | string =>
  resolution.kind === 'deliverable'
    ? resolution.mailboxes.map(({ localPart }) => localPart).toSorted()
    : resolution.kind

describe('mail to', () => {
  test.each([
    ['a mailbox', 'info', ['info']],
    ['a mailbox, in other letters', 'INFO', ['info']],
    ['a mailbox outside ASCII', 'JÜRGEN', ['jürgen']],
    ['a mailbox outside ASCII, decomposed', 'ju\u0308rgen', ['jürgen']],
    ['a plus part', 'info+news', ['info']],
    ['two plus parts', 'info+news+2026', ['info']],
    ['an empty plus part', 'info+', ['info']],
    ['an alias', 'hello', ['info', 'sales']],
    ['an alias with a plus part', 'Hello+news', ['info', 'sales']],
    ['an alias of which one mailbox is disabled', 'half', ['info']],
    ['an alias whose mailboxes are all disabled', 'none', 'disabled'],
    ['a disabled mailbox', 'closed', 'disabled'],
    ['a disabled mailbox with a plus part', 'closed+news', 'disabled'],
    ['nobody', 'nobody', 'unknown'],
    ['an unknown address with a plus part', 'nobody+news', 'unknown'],
    ['a plus part alone', '+info', 'unknown'],
    ['nothing', '', 'unknown'],
    ['a NUL', 'info\0', 'unknown'],
    ['half a surrogate pair', '\ud800', 'unknown'],
    ['a pattern', 'inf%', 'unknown'],
  ])('%s goes where it belongs', async (_what, localPart, expected) => {
    expect(namesOf(await resolve(localPart))).toEqual(expected)
  })

  test('an address with a plus sign of its own is not that of its base', async () => {
    await stack.inSite('one.test', async (tx) => {
      const address = { site_id: tx.siteId, local_part: 'info+own' }
      await tx.db
        .insertInto('mail_address')
        .values({ ...address, kind: 'mailbox' })
        .execute()
      await tx.db
        .insertInto('mailbox')
        .values({
          ...address,
          mailbox_id: 'mbx_own',
          quota_bytes: null,
          quota_messages: null,
          disabled_at: null,
        })
        .execute()
    })
    expect(namesOf(await resolve('info+own'))).toEqual(['info+own'])
  })

  test('an address of another site goes nowhere here', async () => {
    expect(namesOf(await resolve('info', 'two.test'))).toBe('unknown')
  })

  test('postmaster goes to the oldest mailbox of an admin, until there is one of that name', async () => {
    expect(namesOf(await resolve('Postmaster'))).toEqual(['info'])
    expect(namesOf(await resolve('postmaster+abuse'))).toEqual(['info'])
    expect(namesOf(await resolve('postmaster', 'two.test'))).toBe('unknown')
    await create('postmaster@one.test')
    expect(namesOf(await resolve('postmaster'))).toEqual(['postmaster'])
  })
})

describe('what fits into a mailbox', () => {
  const freeOf = async (name: string) => {
    const resolution = await resolve(name)
    if (resolution.kind !== 'deliverable') return resolution.kind
    const [{ freeBytes, freeMessages } = { freeBytes: -1, freeMessages: -1 }] = resolution.mailboxes
    return [freeBytes, freeMessages]
  }
  const use = (name: string, bytes: number, messages: number) =>
    stack.inSite('one.test', async (tx) => {
      const used = { used_bytes: String(bytes), used_messages: String(messages) }
      await tx.db.updateTable('mailbox').set(used).where('local_part', '=', name).execute()
      await tx.db.updateTable('mail_usage').set(used).where('site_id', '=', tx.siteId).execute()
    })

  test('is what the site has left', async () => {
    await use('sales', GIB, 10)
    expect(await freeOf('sales')).toEqual([9 * GIB, 999_990])
    expect(await freeOf('info')).toEqual([9 * GIB, 999_990])
  })

  test('is what its own quota has left, and never less than nothing', async () => {
    const body = { quotaBytes: 2 * GIB, quotaMessages: 10 }
    const answer = await ann.call('PUT', '/mailboxes/sales@one.test/settings', { body })
    expect(answer.status, answer.text).toBe(200)
    expect(await freeOf('sales')).toEqual([GIB, 0])
    await use('sales', 3 * GIB, 11)
    expect(await freeOf('sales')).toEqual([0, 0])
  })

  test('is no more than the operator gives the site', async () => {
    const limits = { mailBytes: 4 * GIB, mailMessages: 20 }
    const body = { deploymentSettings: { limits } }
    expect((await stack.portal('PATCH', '/sites/one.test', body)).status).toBe(200)
    expect(await freeOf('info')).toEqual([GIB, 9])
  })
})
