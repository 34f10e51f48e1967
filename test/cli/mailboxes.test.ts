import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { from } from '#test/accounts-desk.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

let stack: Stack
let env: Record<string, string>
let ann: Member
let adam: Member
beforeAll(async () => {
  stack = await startStack()
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  adam = await pool.joined('admin')
})
afterAll(() => stack[Symbol.asyncDispose]())

const run = (...args: string[]) => croft(args, env)
async function json(...args: string[]) {
  const ran = await run(...args, '--json')
  expect(ran).toMatchObject({ code: 0, err: '' })
  return JSON.parse(ran.out)
}

describe('croft mailbox', () => {
  test('makes a mailbox and prints it', async () => {
    const created = await json('mailbox', 'create', 'Info@one.test', '--owner', ann.email)
    expect(created).toEqual({
      address: 'info@one.test',
      status: 'ACTIVE',
      owners: [ann.userId],
      ownerEmails: [ann.email],
      trashAutoPurge: false,
      trashRetentionDays: 30,
      quotaBytes: null,
      quotaMessages: null,
      usage: { bytes: 0, messages: 0 },
    })
    expect(await json('mailbox', 'show', 'info@one.test')).toEqual(created)
    expect((await run('mailbox', 'show', 'info@one.test')).out).toBe(
      [
        'address  info@one.test',
        'status   ACTIVE',
        `owners   ${ann.email}`,
        'trash    kept',
        'usage    0 bytes in 0 messages',
        '',
      ].join('\n'),
    )
  })

  test('lists the mailboxes of a site, more than a page of them', async () => {
    await stack.createSite({ domain: 'many.test', superAdmins: ['ann@many.test'] })
    expect((await run('mailbox', 'list', 'many.test')).out).toContain('croft mailbox create')
    const site = await stack.context.sites.find('many.test')
    for (let n = 0; n < 101; n++) {
      const address = `box-${String(n).padStart(3, '0')}@many.test`
      const by = { type: 'operator', origin: from() } as const
      await stack.context.mailboxes.create(site, by, { address, owners: ['ann@many.test'] })
    }
    const { items, nextToken } = await json('mailbox', 'list', 'many.test')
    expect([items.length, items[100].address, nextToken]).toEqual([101, 'box-100@many.test', null])
    const { out } = await run('mailbox', 'list', 'many.test')
    expect(out.split('\n')[0]).toBe(
      'box-000@many.test  ACTIVE  0 bytes in 0 messages  ann@many.test',
    )
  })

  test('changes owners and settings', async () => {
    await run('mailbox', 'create', 'team@one.test', '--owner', ann.email)
    const owners = async (...args: string[]) =>
      (await json('mailbox', 'owners', 'team@one.test', ...args)).ownerEmails.toSorted()
    expect(await owners('--add', adam.userId)).toEqual([adam.email, ann.email].toSorted())
    expect(await owners('--remove', ann.email)).toEqual([adam.email])
    expect(await owners('--set', ann.email)).toEqual([ann.email])
    const last = await run('mailbox', 'owners', 'team@one.test', '--remove', ann.email)
    expect(last).toMatchObject({ code: 1, err: expect.stringContaining('MinimumOwners') })
    const set = ['--trash-auto-purge', 'on', '--trash-retention-days', '7', '--quota-bytes', '5000']
    expect(await json('mailbox', 'set', 'team@one.test', ...set)).toMatchObject({
      trashAutoPurge: true,
      trashRetentionDays: 7,
      quotaBytes: 5000,
    })
    const { out } = await run('mailbox', 'set', 'team@one.test', '--quota-messages', '10')
    expect(out).toContain('purged after 7 days')
    expect(out).toContain('0 of 5000 bytes in 0 of 10 messages')
    const none = await json('mailbox', 'set', 'team@one.test', '--quota-bytes', 'none')
    expect(none.quotaBytes).toBeNull()
  })

  test('disables, restores and purges', async () => {
    await run('mailbox', 'create', 'old@one.test', '--owner', ann.email)
    expect((await json('mailbox', 'disable', 'old@one.test')).status).toBe('DISABLED')
    const restored = await json('mailbox', 'restore', 'old@one.test', '--owner', adam.email)
    expect(restored).toMatchObject({ status: 'ACTIVE', ownerEmails: [adam.email] })
    await run('mailbox', 'disable', 'old@one.test')
    expect((await json('mailbox', 'restore', 'old@one.test')).ownerEmails).toEqual([adam.email])
    await run('mailbox', 'disable', 'old@one.test')
    expect((await run('mailbox', 'purge', 'old@one.test')).code).toBe(2)
    expect(await json('mailbox', 'purge', 'old@one.test', '--confirm')).toEqual({
      address: 'old@one.test',
      purged: true,
    })
    expect((await run('mailbox', 'show', 'old@one.test')).err).toContain('MailboxNotFound')
  })

  test('names a site outside ASCII by either spelling', async () => {
    const domain = 'xn--bcher-kva.example'
    await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
    const created = await json(
      'mailbox',
      'create',
      'jürgen@bücher.example',
      '--owner',
      `ann@${domain}`,
    )
    expect(created.address).toBe(`jürgen@${domain}`)
    expect((await json('mailbox', 'show', `jürgen@${domain}`)).address).toBe(`jürgen@${domain}`)
  })

  test('leaves the operator in the audit trail', async () => {
    await run('mailbox', 'create', 'trail@one.test', '--owner', ann.email)
    const { items } = await json('audit', 'one.test', '--event', 'mailbox.created', '--limit', '1')
    expect(items[0]).toMatchObject({
      actor: 'operator',
      pool: 'admin',
      detail: { address: 'trail@one.test', owners: ann.userId },
    })
  })
})

test('croft contact-recipient adds, lists and removes', async () => {
  const command = ['contact-recipient', 'list', 'one.test']
  expect((await run(...command)).out).toContain('croft contact-recipient add')
  const emails = ['--email', 'Bob@example.org', '--email', 'al@example.org']
  expect(await json('contact-recipient', 'add', 'one.test', ...emails)).toEqual({
    items: [{ email: 'al@example.org' }, { email: 'bob@example.org' }],
  })
  expect((await run(...command)).out).toMatch(/^al@example\.org +since 20.*\nbob@example\.org/)
  await json('contact-recipient', 'remove', 'one.test', ...emails.slice(0, 2))
  const { items } = await json(...command)
  expect(items.map(({ email }: { email: string }) => email)).toEqual(['al@example.org'])
})

test('croft forwarding names targets, turns forwarding on, and tells both', async () => {
  const address = 'moving@one.test'
  await run('mailbox', 'create', address, '--owner', ann.email)
  const list = ['forwarding', 'target', 'list', address]
  expect((await run(...list)).out).toContain('croft forwarding target add')
  const targets = ['--target', 'Bob@example.org', '--target', 'al@example.org']
  const pending = { status: 'PENDING', verificationSent: false }
  expect(await json('forwarding', 'target', 'add', address, ...targets)).toEqual({
    mailbox: address,
    items: [
      { target: 'al@example.org', ...pending },
      { target: 'bob@example.org', ...pending },
    ],
  })
  expect((await run(...list)).out).toMatch(/^al@example\.org +PENDING +since 20.*\nbob@/)
  expect((await run('forwarding', 'target', 'add', address, ...targets)).out).toContain(
    'al@example.org   PENDING  not sent: "croft outbox --to al@example.org" tells whether it is kept here',
  )
  await json('forwarding', 'target', 'remove', address, ...targets.slice(0, 2))
  const settings = await json('forwarding', 'set', address, '--enabled', 'on', '--keep-copy', 'off')
  expect(settings).toEqual({
    mailbox: address,
    enabled: true,
    keepCopy: false,
    targets: [{ target: 'al@example.org', status: 'PENDING' }],
  })
  expect((await run('forwarding', 'show', address)).out).toBe(
    [
      'mailbox   moving@one.test',
      'forwards  yes',
      'copy      released once every target accepted',
      'target    al@example.org PENDING',
      '',
    ].join('\n'),
  )
  const { items } = await json('audit', 'one.test', '--event', 'mail-forwarding.changed')
  expect(items).toMatchObject([{ actor: 'operator', detail: { enabled: true, keepCopy: false } }])
})

test('croft mailbox credential makes, lists and deletes passwords of mail programs', async () => {
  const address = 'writing@one.test'
  await run('mailbox', 'create', address, '--owner', ann.email)
  const list = ['mailbox', 'credential', 'list', address]
  expect((await run(...list)).out).toContain('croft mailbox credential create')
  const made = await run('mailbox', 'credential', 'create', address, '--name', 'My laptop')
  expect(made.out).toMatch(/^server +\S+, port \d+, STARTTLS\nuser name +writing@one\.test\n/)
  expect(made.out).toMatch(/\npassword +croft_[\w-]{43}\nid +sub_\w+\n$/)
  const [item] = (await json(...list)).items
  expect((await run(...list)).out).toMatch(/^sub_\w+ +My laptop +since 20.* +never used\n$/)
  await json('mailbox', 'credential', 'delete', address, '--id', item.credentialId)
  expect((await json(...list)).items).toEqual([])
  const { items } = await json('audit', 'one.test', '--event', 'mail-credential.removed')
  expect(items).toMatchObject([{ actor: 'operator', detail: { mailbox: address } }])
})

test('croft alias leads an address to mailboxes, elsewhere and nowhere', async () => {
  for (const name of ['a', 'b']) {
    await run('mailbox', 'create', `${name}@one.test`, '--owner', ann.email)
  }
  expect((await run('alias', 'list', 'one.test')).out).toContain('croft alias set')
  const set = (...to: string[]) =>
    json('alias', 'set', 'all@one.test', ...to.flatMap((address) => ['--to', address]))
  expect(await set('a@one.test', 'b@one.test')).toEqual({
    address: 'all@one.test',
    targets: ['a@one.test', 'b@one.test'],
  })
  await set('b@one.test')
  expect((await run('alias', 'list', 'one.test')).out).toBe('all@one.test  → b@one.test\n')
  expect(await json('alias', 'delete', 'all@one.test')).toEqual({
    address: 'all@one.test',
    deleted: true,
  })
  expect((await json('alias', 'list', 'one.test')).items).toEqual([])
})

test.each([
  [['mailbox', 'create'], 'ADDRESS is missing'],
  [['mailbox', 'create', 'info@one.test'], '--owner is missing'],
  [['mailbox', 'show', 'one.test'], '"one.test" is no address'],
  [['mailbox', 'owners', 'info@one.test'], 'name the owners'],
  [['mailbox', 'owners', 'info@one.test', '--set', 'a', '--add', 'b'], '--set excludes'],
  [['mailbox', 'set', 'info@one.test'], 'say what to change'],
  [['mailbox', 'set', 'info@one.test', '--quota-bytes', 'x'], 'is no whole number'],
  [['alias', 'set', 'all@one.test'], '--to is missing'],
  [['contact-recipient', 'add', 'one.test'], '--email is missing'],
  [['forwarding', 'set', 'info@one.test'], 'say what to change'],
  [['forwarding', 'set', 'info@one.test', '--enabled', 'yes'], '--enabled is on or off'],
  [['forwarding', 'target', 'add', 'info@one.test'], '--target is missing'],
  [['mailbox', 'credential', 'create', 'info@one.test'], '--name is missing'],
  [['mailbox', 'credential', 'delete', 'info@one.test'], '--id is missing'],
])('croft %j is called wrongly', async (args, words) => {
  expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining(words) })
})
