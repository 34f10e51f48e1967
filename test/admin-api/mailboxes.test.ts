import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let ann: Member
let adam: Member
let ursula: Member
let pool: AdminPool
beforeAll(async () => {
  stack = await startStack()
  pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  adam = await pool.joined('admin')
  ursula = await pool.joined('user')
})
afterAll(() => stack[Symbol.asyncDispose]())

let made = 0
/** A mailbox of its own for a test. */
async function mailbox(owners: readonly Member[] = [ann]): Promise<string> {
  const address = `box-${++made}@one.test`
  const answer = await create(address, owners)
  expect(answer.status, answer.text).toBe(200)
  return address
}

const create = (address: string, owners: readonly Member[] = [ann], by = ann) =>
  by.call('POST', '/mailboxes', { body: { address, owners: owners.map((each) => each.userId) } })
const call = (method: string, path: string, body?: unknown, by = ann) =>
  by.call(method, `/mailboxes/${path}`, { ...(body !== undefined && { body }) })
const disabled = async (owners?: readonly Member[]): Promise<string> => {
  const address = await mailbox(owners)
  expect((await call('DELETE', address)).status).toBe(204)
  return address
}
const listed = async (address: string) => {
  for (let next: string | null = ''; next !== null;) {
    const token = next === '' ? '' : `&nextToken=${encodeURIComponent(next)}`
    const { json } = await ann.call('GET', `/mailboxes?limit=100${token}`)
    const found = json.items.find((each: { address: string }) => each.address === address)
    if (found !== undefined) return found
    next = json.nextToken
  }
  return undefined
}
const codeOf = ({ status, json }: Answer) => [status, json?.error?.code]
const ids = (...members: readonly Member[]) => members.map(({ userId }) => userId)
const eventsOf = async (address: string) => {
  const { json } = await stack.portal('GET', '/sites/one.test/audit?limit=100')
  const all: { event: string; actor: string; detail: { address?: string } }[] = json.items
  return all
    .filter(({ detail }) => detail.address === address)
    .map(({ event, actor }) => [event, actor])
    .toReversed()
}

describe('creating a mailbox', () => {
  test('answers with its address, state and owners', async () => {
    const answer = await create('Info@One.Test', [ann, ursula])
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      address: 'info@one.test',
      status: 'ACTIVE',
      owners: ids(ann, ursula).toSorted(),
    })
    expect(await listed('info@one.test')).toEqual(answer.json)
  })

  test('reads owners by their addresses, too, and each once', async () => {
    const owners = [adam.email.toUpperCase(), adam.userId, adam.userId]
    const { json } = await ann.call('POST', '/mailboxes', {
      body: { address: 'by-address@one.test', owners },
    })
    expect(json.owners).toEqual([adam.userId])
  })

  test.each([
    ['outside ASCII', 'JÜRGEN@one.test', 'jürgen@one.test'],
    ['decomposed', 'mu\u0308ller@one.test', 'müller@one.test'],
    ['postmaster', 'postmaster@one.test', 'postmaster@one.test'],
    ['of 64 octets', `${'a'.repeat(64)}@one.test`, `${'a'.repeat(64)}@one.test`],
  ])('takes an address %s', async (_what, address, stored) => {
    expect((await create(address)).json.address).toBe(stored)
    const encoded = encodeURIComponent(address)
    expect((await call('GET', `${encoded}/settings`)).json.mailbox).toBe(stored)
  })

  test('takes a domain in Unicode where the site has it in punycode', async () => {
    const domain = 'xn--bcher-kva.example'
    await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
    const ina = await new AdminPool(stack, domain).first()
    const body = { address: 'info@bücher.example', owners: [ina.userId] }
    const { json } = await ina.call('POST', '/mailboxes', { body })
    expect(json.address).toBe(`info@${domain}`)
    const path = `/mailboxes/${encodeURIComponent('INFO@bücher.example')}/settings`
    expect((await ina.call('GET', path)).json.mailbox).toBe(`info@${domain}`)
  })

  test.each([
    ['of another domain', 'info@two.test', 400, 'ValidationError'],
    ['with a plus part', 'a+b@one.test', 400, 'ValidationError'],
    ['of 65 octets', `${'a'.repeat(65)}@one.test`, 400, 'ValidationError'],
    ['without a domain', 'a', 400, 'ValidationError'],
    ['with a line break', 'a@one.test\r\n', 400, 'ValidationError'],
    ['with a NUL', 'a\0@one.test', 400, 'ValidationError'],
    ['in quotes', '"a b"@one.test', 400, 'ValidationError'],
    ['that is nothing', '', 400, 'ValidationError'],
  ])('is refused an address %s', async (_what, address, status, code) => {
    const answer = await create(address)
    expect(codeOf(answer)).toEqual([status, code])
    expect(answer.json.error.details[0].field).toBe('address')
  })

  test.each([
    ['no owner', () => [], 400, 'ValidationError'],
    [
      'too many owners',
      () => Array.from({ length: 51 }, (_, n) => `u${n}`),
      400,
      'ValidationError',
    ],
    ['an unknown user', () => [ann.userId, 'nobody'], 400, 'InvalidOwner'],
    ['no list', () => ann.userId, 400, 'ValidationError'],
    ['a NUL in an owner', () => ['a\0'], 400, 'ValidationError'],
  ])('is refused with %s', async (_what, owners, status, code) => {
    const body = { address: 'refused@one.test', owners: owners() }
    const answer = await ann.call('POST', '/mailboxes', { body })
    expect(codeOf(answer)).toEqual([status, code])
    expect(await listed('refused@one.test')).toBeUndefined()
  })

  test('names the unknown owners', async () => {
    const visitor = await stack.dataToken('one.test')
    const { sub } = JSON.parse(Buffer.from(visitor.split('.')[1] ?? '', 'base64url').toString())
    const other = await new AdminPool(stack, 'two.test').first()
    const owners = [sub, ann.userId, other.userId]
    const { json } = await ann.call('POST', '/mailboxes', {
      body: { address: 'x@one.test', owners },
    })
    expect(json.error.code).toBe('InvalidOwner')
    expect(json.error.details).toEqual([
      { field: 'owners[0]', message: `"${sub}" is none` },
      { field: 'owners[2]', message: `"${other.userId}" is none` },
    ])
  })

  test('is refused for an address that there is, in any spelling', async () => {
    const address = await mailbox()
    expect(codeOf(await create(address.toUpperCase()))).toEqual([409, 'MailboxAlreadyExists'])
  })

  test('is refused for a disabled mailbox, with a word on how to get it back', async () => {
    const answer = await create(await disabled())
    expect(codeOf(answer)).toEqual([409, 'MailboxAlreadyExists'])
    expect(answer.json.error.message).toContain('/restore')
  })

  test('is possible for the same name on every site', async () => {
    const address = await mailbox()
    const other = await new AdminPool(stack, 'two.test').first()
    const body = { address: address.replace('one.test', 'two.test'), owners: [other.userId] }
    expect((await other.call('POST', '/mailboxes', { body })).status).toBe(200)
  })
})

describe('the list of mailboxes', () => {
  test('has all of them for an admin, and for others those they own', async () => {
    const [hers, theirs] = [await mailbox([ursula]), await mailbox([adam, ursula])]
    const other = await mailbox([adam])
    const mine = (await ursula.call('GET', '/mailboxes?limit=100')).json.items
    const addresses = mine.map(({ address }: { address: string }) => address)
    expect(addresses).toEqual(expect.arrayContaining([hers, theirs]))
    expect(addresses).not.toContain(other)
    expect(mine.every(({ owners }: { owners: string[] }) => owners.includes(ursula.userId))).toBe(
      true,
    )
    const all = (await adam.call('GET', '/mailboxes?limit=100')).json.items
    expect(all.map(({ address }: { address: string }) => address)).toEqual(
      expect.arrayContaining([hers, theirs, other]),
    )
  })

  test('comes in pages, each mailbox once', async () => {
    const seen: string[] = []
    for (let next: string | null = ''; next !== null;) {
      const token = next === '' ? '' : `&nextToken=${encodeURIComponent(next)}`
      const { json } = await ann.call('GET', `/mailboxes?limit=2${token}`)
      expect(json.items.length).toBeLessThanOrEqual(2)
      seen.push(...json.items.map(({ address }: { address: string }) => address))
      next = json.nextToken
    }
    const whole = (await ann.call('GET', '/mailboxes?limit=100')).json.items
    expect(seen).toEqual(whole.map(({ address }: { address: string }) => address))
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('gives page tokens that are valid for their user only', async () => {
    const { nextToken } = (await ann.call('GET', '/mailboxes?limit=1')).json
    const answer = await ursula.call('GET', `/mailboxes?nextToken=${encodeURIComponent(nextToken)}`)
    expect(codeOf(answer)).toEqual([400, 'InvalidNextToken'])
  })
})

describe('the owners of a mailbox', () => {
  test('are replaced, added and removed', async () => {
    const address = await mailbox([ann])
    const owners = ({ status, json }: Answer) => [status, json.owners.toSorted()]
    expect(owners(await call('PATCH', address, { owners: ids(adam, ursula) }))).toEqual([
      200,
      ids(adam, ursula).toSorted(),
    ])
    expect(owners(await call('POST', `${address}/owners`, { owners: ids(ann, adam) }))).toEqual([
      200,
      ids(adam, ursula, ann).toSorted(),
    ])
    const left = await call('DELETE', `${address}/owners`, { owners: ids(adam, ann) })
    expect(owners(left)).toEqual([200, [ursula.userId]])
    expect(left.json).toMatchObject({ address, status: 'ACTIVE' })
    expect(await listed(address)).toEqual(left.json)
  })

  test.each([
    ['as a body', (of: string[]) => ['', { owners: of }] as const],
    ['as one parameter', (of: string[]) => [`?owners=${of[0]}`, undefined] as const],
    [
      'as repeated parameters',
      (of: string[]) => [`?owners=${of[0]}&owners=${of[1]}`, undefined] as const,
    ],
  ])('are named for removal %s', async (_how, naming) => {
    const address = await mailbox([ann, adam, ursula])
    const named = [adam.userId, 'nobody']
    const [query, body] = naming(named)
    const answer = await call('DELETE', `${address}/owners${query}`, body)
    expect(answer.json.owners?.toSorted(), answer.text).toEqual(ids(ann, ursula).toSorted())
  })

  test('stay unchanged when an owner is added twice, or a user is removed who is no owner', async () => {
    const address = await mailbox([ann])
    const before = await eventsOf(address)
    expect((await call('POST', `${address}/owners`, { owners: ids(ann) })).json.owners).toEqual(
      ids(ann),
    )
    expect((await call('PATCH', address, { owners: ids(ann) })).json.owners).toEqual(ids(ann))
    expect((await call('DELETE', `${address}/owners`, { owners: ids(adam) })).json.owners).toEqual(
      ids(ann),
    )
    expect(await eventsOf(address)).toEqual(before)
  })

  test.each([
    ['the last one is removed', 'DELETE', () => ids(ann, adam), 409, 'MinimumOwners'],
    ['no user is named', 'PATCH', () => [], 400, 'ValidationError'],
    ['an unknown user is named', 'PATCH', () => ['x'], 400, 'InvalidOwner'],
    ['an unknown user is added', 'POST', () => ['x'], 400, 'InvalidOwner'],
  ])('stay when %s', async (_what, method, owners, status, code) => {
    const address = await mailbox([ann])
    const path = method === 'PATCH' ? address : `${address}/owners`
    expect(codeOf(await call(method, path, { owners: owners() }))).toEqual([status, code])
    expect((await listed(address)).owners).toEqual(ids(ann))
  })

  test('of a disabled mailbox wait for it to be restored', async () => {
    const address = await disabled()
    for (const [method, path] of [
      ['PATCH', address],
      ['POST', `${address}/owners`],
      ['DELETE', `${address}/owners`],
    ] as const) {
      expect(codeOf(await call(method, path, { owners: ids(adam) }))).toEqual([
        409,
        'MailboxDisabled',
      ])
    }
  })

  test.each(['?owners=%00', `?owners=${'x'.repeat(300)}`, '?owners=', '?owners=a&owners=%00'])(
    'are not removed by the parameter %s',
    async (query) => {
      const address = await mailbox()
      expect(codeOf(await call('DELETE', `${address}/owners${query}`))).toEqual([
        400,
        'ValidationError',
      ])
    },
  )

  test('are required where they are removed', async () => {
    expect(codeOf(await call('DELETE', `${await mailbox()}/owners`))).toEqual([
      400,
      'ValidationError',
    ])
  })
})

describe('a mailbox', () => {
  test('is disabled, once or twice, and restored to its earlier owners', async () => {
    const address = await mailbox([adam, ursula])
    expect((await call('DELETE', address)).status).toBe(204)
    expect((await call('DELETE', address)).status).toBe(204)
    expect((await listed(address)).status).toBe('DISABLED')
    const answer = await call('POST', `${address}/restore`)
    expect(answer.json).toEqual({ address, status: 'ACTIVE', owners: ids(adam, ursula).toSorted() })
    expect(await eventsOf(address)).toEqual([
      ['mailbox.created', ann.userId],
      ['mailbox.disabled', ann.userId],
      ['mailbox.restored', ann.userId],
    ])
  })

  test('is restored to new owners', async () => {
    const address = await disabled([adam, ursula])
    const { json } = await call('POST', `${address}/restore`, { owners: ids(ann) })
    expect(json).toEqual({ address, status: 'ACTIVE', owners: ids(ann) })
  })

  test('is restored to the owners who are left, and to none when none is left', async () => {
    const leaver = await pool.joined('user')
    const [shared, alone] = [await disabled([leaver, adam]), await disabled([leaver])]
    expect((await ann.call('DELETE', `/users/${leaver.userId}`)).status).toBe(204)
    expect((await call('POST', `${shared}/restore`)).json.owners).toEqual(ids(adam))
    const refused = await call('POST', `${alone}/restore`)
    expect(codeOf(refused)).toEqual([400, 'InvalidOwner'])
    expect(refused.json.error.message).toContain('"owners"')
    expect((await listed(alone)).status).toBe('DISABLED')
    const named = await call('POST', `${alone}/restore`, { owners: ids(ann) })
    expect(named.json.status).toBe('ACTIVE')
  })

  test.each([
    ['restored', 'restore', {}, 'MailboxNotDisabled'],
    ['purged', 'purge', { confirm: true }, 'MailboxNotDisabled'],
  ])('is not %s while it is active', async (_what, path, body, code) => {
    const address = await mailbox()
    expect(codeOf(await call('POST', `${address}/${path}`, body))).toEqual([409, code])
    expect((await listed(address)).status).toBe('ACTIVE')
  })

  test.each([
    ['no body', undefined],
    ['an empty body', {}],
    ['a confirmation that is none', { confirm: false }],
  ])('is not purged with %s', async (_what, body) => {
    const address = await disabled()
    expect(codeOf(await call('POST', `${address}/purge`, body))).toEqual([
      400,
      'ConfirmationRequired',
    ])
    expect((await listed(address)).status).toBe('DISABLED')
  })

  test('is purged: gone at once, its use of the site with it, and its address free', async () => {
    const address = await disabled()
    const usage = () =>
      stack.inSite('one.test', (tx) =>
        tx.db
          .selectFrom('mail_usage')
          .select(['used_bytes as bytes', 'used_messages as messages'])
          .where('site_id', '=', tx.siteId)
          .executeTakeFirstOrThrow(),
      )
    await stack.inSite('one.test', async (tx) => {
      const used = { used_bytes: '700', used_messages: '7' }
      const localPart = address.slice(0, address.indexOf('@'))
      await tx.db.updateTable('mailbox').set(used).where('local_part', '=', localPart).execute()
      await tx.db
        .updateTable('mail_usage')
        .set({ used_bytes: '1000', used_messages: '10' })
        .where('site_id', '=', tx.siteId)
        .execute()
    })
    expect((await call('POST', `${address}/purge`, { confirm: true })).status).toBe(204)
    expect(await usage()).toEqual({ bytes: '300', messages: '3' })
    expect(codeOf(await call('GET', `${address}/settings`))).toEqual([404, 'MailboxNotFound'])
    expect(codeOf(await call('POST', `${address}/purge`, { confirm: true }))).toEqual([
      404,
      'MailboxNotFound',
    ])
    expect((await create(address)).status).toBe(200)
  })

  test('is only purged by a super-admin', async () => {
    const address = await disabled()
    expect(codeOf(await call('POST', `${address}/purge`, { confirm: true }, adam))).toEqual([
      403,
      'Forbidden',
    ])
  })

  test.each([
    'nobody@one.test',
    'info@two.test',
    'info',
    '%00',
    '%E2%28',
    'a%2Fb@one.test',
    '..%2Fusers',
    'x'.repeat(513),
  ])('that is called %j in a path is not found', async (address) => {
    for (const [method, path, body] of [
      ['DELETE', address, undefined],
      ['GET', `${address}/settings`, undefined],
      ['PUT', `${address}/settings`, { trashAutoPurge: true }],
      ['PATCH', address, { owners: ids(ann) }],
      ['POST', `${address}/owners`, { owners: ids(ann) }],
      ['DELETE', `${address}/owners`, { owners: ids(ann) }],
      ['POST', `${address}/restore`, {}],
      ['POST', `${address}/purge`, { confirm: true }],
    ] as const) {
      expect([400, 404], `${method} ${path}`).toContain((await call(method, path, body)).status)
    }
  })
})

describe('the settings of a mailbox', () => {
  const DEFAULTS = {
    trashAutoPurge: false,
    trashRetentionDays: 30,
    quotaBytes: null,
    quotaMessages: null,
    usage: { bytes: 0, messages: 0 },
  }

  test('have defaults, and change in part', async () => {
    const address = await mailbox([ursula])
    const path = `${address}/settings`
    expect((await call('GET', path)).json).toEqual({ mailbox: address, ...DEFAULTS })
    const changed = await call('PUT', path, { trashRetentionDays: 365 })
    expect(changed.json).toEqual({ mailbox: address, ...DEFAULTS, trashRetentionDays: 365 })
    await call('PUT', path, { trashAutoPurge: true, quotaBytes: 1024, quotaMessages: 0 })
    const { json } = await call('PUT', path, { quotaBytes: null })
    expect(json).toEqual({
      mailbox: address,
      ...DEFAULTS,
      trashAutoPurge: true,
      trashRetentionDays: 365,
      quotaMessages: 0,
    })
    expect((await call('GET', path, undefined, ursula)).json).toEqual(json)
    expect((await eventsOf(address)).slice(1)).toEqual(
      Array(3).fill(['mailbox.settings-changed', ann.userId]),
    )
  })

  test.each([
    ['no day', { trashRetentionDays: 0 }],
    ['more than a year', { trashRetentionDays: 366 }],
    ['half a day', { trashRetentionDays: 1.5 }],
    ['a word for a day', { trashRetentionDays: '30' }],
    ['a quota below nothing', { quotaBytes: -1 }],
    ['a quota beyond all', { quotaBytes: 2 ** 51 }],
    ['nothing', {}],
    ['a field that is not known', { trashAutoPurge: true, owner: 'x' }],
  ])('are not changed by %s', async (_what, body) => {
    const address = await mailbox()
    expect(codeOf(await call('PUT', `${address}/settings`, body))).toEqual([400, 'ValidationError'])
    expect((await call('GET', `${address}/settings`)).json).toEqual({
      mailbox: address,
      ...DEFAULTS,
    })
  })

  test('are shown to its owners and to admins, and are not found by other users', async () => {
    const address = await mailbox([adam])
    expect((await call('GET', `${address}/settings`, undefined, adam)).status).toBe(200)
    const [theirs, none] = [
      await call('GET', `${address}/settings`, undefined, ursula),
      await call('GET', 'none@one.test/settings', undefined, ursula),
    ]
    expect(codeOf(theirs)).toEqual([404, 'MailboxNotFound'])
    const comparable = ({ text }: Answer, name: string) =>
      text.replaceAll(name, '').replace(/"requestId":"[^"]*"/, '')
    expect(comparable(theirs, address)).toBe(comparable(none, 'none@one.test'))
  })

  test('are changed by a super-admin alone', async () => {
    const path = `${await mailbox([adam])}/settings`
    expect(codeOf(await call('PUT', path, { trashAutoPurge: true }, adam))).toEqual([
      403,
      'Forbidden',
    ])
  })
})

describe('a user who owns mailboxes', () => {
  test('is not deleted while one of them is active and has no other owner', async () => {
    const leaver = await pool.joined('user')
    const [alone, too] = [await mailbox([leaver]), await mailbox([leaver])]
    await mailbox([leaver, adam])
    const answer = await ann.call('DELETE', `/users/${leaver.userId}`)
    expect(codeOf(answer)).toEqual([409, 'MailboxOwnershipConflict'])
    expect(answer.json.error.details).toEqual(
      [alone, too].toSorted().map((message) => ({ field: 'mailbox', message })),
    )
    expect((await leaver.call('GET', '/mailboxes')).status).toBe(200)
  })

  test('goes once the others own them, or they are disabled', async () => {
    const leaver = await pool.joined('user')
    const [shared, closed] = [await mailbox([leaver, adam]), await disabled([leaver])]
    expect((await ann.call('DELETE', `/users/${leaver.userId}`)).status).toBe(204)
    expect((await listed(shared)).owners).toEqual(ids(adam))
    expect(await listed(closed)).toEqual({ address: closed, status: 'DISABLED', owners: [] })
  })
})

test('A site is deleted with its mailboxes, while more of them are made', async () => {
  const domain = 'goes.test'
  const { siteId } = await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
  const goer = await new AdminPool(stack, domain).first()
  const making = Array.from({ length: 30 }, async (_, n) => {
    const address = `box-${n}@${domain}`
    const owners = [goer.userId]
    const { status, json } = await goer.call('POST', '/mailboxes', { body: { address, owners } })
    const alias = { body: { targets: [address] } }
    const led = await goer.call('PUT', `/aliases/to-${address}`, alias)
    return [json.error?.code ?? status, led.json.error?.code ?? led.status]
  })
  await making[5]
  expect((await stack.portal('DELETE', `/sites/${siteId}`, { confirm: true })).status).toBe(204)
  const outcomes = new Set((await Promise.all(making)).flat())
  expect(outcomes).toContain(200)
  const gone = ['SiteNotFound', 'Unauthorized', 'InvalidOwner', 'InvalidTarget']
  expect([...outcomes].filter((each) => ![200, ...gone].includes(each))).toEqual([])
})

test('The usage of a site shows what its mailboxes hold, and may', async () => {
  const usage = async (host: string) => {
    const token = await stack.adminToken(host)
    return (await stack.call(host, 'GET', '/admin/data/usage', { token })).json
  }
  await stack.createSite({ domain: 'used.test', superAdmins: ['ann@used.test'] })
  expect(await usage('used.test')).toMatchObject({
    mail: { usedBytes: 0, usedMessages: 0 },
    limits: { mailBytes: 10 * 1024 ** 3, mailMessages: 1_000_000 },
  })
  await stack.inSite('used.test', (tx) =>
    tx.db
      .insertInto('mail_usage')
      .values({ site_id: tx.siteId, used_bytes: '700', used_messages: '7' })
      .execute(),
  )
  const body = { deploymentSettings: { limits: { mailMessages: 8 } } }
  await stack.portal('PATCH', '/sites/used.test', body)
  expect(await usage('used.test')).toMatchObject({
    mail: { usedBytes: 700, usedMessages: 7 },
    limits: { mailBytes: 10 * 1024 ** 3, mailMessages: 8 },
  })
})

test('Mailboxes are there after a restart, under the new name of their site', async () => {
  await stack.createSite({ domain: 'moves.test', superAdmins: ['ann@moves.test'] })
  const mover = await new AdminPool(stack, 'moves.test').first()
  const body = { address: 'info@moves.test', owners: [mover.userId] }
  const { json } = await mover.call('POST', '/mailboxes', { body })
  expect((await stack.portal('PATCH', '/sites/moves.test', { domain: 'moved.test' })).status).toBe(
    200,
  )
  await using after = await startStack({ beside: stack, works: false })
  const there = await new AdminPool(after, 'moved.test').named('ann@moves.test')
  const { items } = (await there.call('GET', '/mailboxes')).json
  expect(items).toEqual([{ ...json, address: 'info@moved.test' }])
})
