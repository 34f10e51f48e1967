import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FolderPlace } from '#platform/backup/folder-place.ts'
import { type Owner, PASSWORD } from '#test/account-owner.ts'
import { backUpOf, emptyPlaces, restoreInto } from '#test/backups.ts'
import { accountOf, deletingAccount, endWeek } from '#test/deletion-desk.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

import { croft } from './croft.ts'

const HOST = 'one.test'
const MOVED = 'moved.test'

let cleanUp: AsyncDisposableStack
/** It answers requests; no queue is worked here. */
let stack: Stack
let folder: string
/** Accounts that wait for their deletion: one that goes, one that is restored, and one whose week ends on the way. */
let going: Owner
let back: Owner
let late: Owner
let link: string

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack()
  folder = await temporaryFolder(cleanUp, 'croft-deletions-')
  stack = cleanUp.use(await startStack({ works: false, sites: [HOST] }))
  going = await deletingAccount(stack, HOST)
  back = await deletingAccount(stack, HOST)
  late = await deletingAccount(stack, HOST)
  {
    await using mailing = await startStack({ beside: stack })
    const url = new URL(linkIn(await mailTo(mailing, back.email, 'account-deleting')))
    link = `${url.pathname}${url.search}`
    for (const { email } of [going, late]) await mailTo(mailing, email, 'account-deleting')
  }
  await asSuperuser(stack, (sql) => endWeek(sql, late))
  await writeFile(join(folder, 'passphrase'), 'a passphrase for the road\n')
})
afterAll(() => cleanUp.disposeAsync())

const at = ({ port, operatorKey }: Stack, ...args: readonly string[]) => {
  const place = ['--url', `http://127.0.0.1:${port}`, '--operator-key', operatorKey]
  return croft([...args, '--passphrase-file', join(folder, 'passphrase'), ...place])
}

async function importedInto(other: Stack, ...options: readonly string[]): Promise<void> {
  const file = join(folder, `${randomUUID()}.croft.tar.gz`)
  const exported = await at(stack, 'site', 'export', HOST, '--to', file, '--with', 'users,keys')
  expect(exported, exported.err).toMatchObject({ code: 0 })
  const imported = await at(other, 'site', 'import', file, ...options)
  expect(imported, imported.err).toMatchObject({ code: 0 })
}

const MOVES = [
  [
    'exported and imported elsewhere',
    HOST,
    async () => {
      const other = cleanUp.use(await startStack({ sites: [] }))
      await importedInto(other)
      return other
    },
  ],
  [
    'exported and imported under another domain',
    MOVED,
    async () => {
      const other = cleanUp.use(await startStack({ sites: [] }))
      await importedInto(other, '--host', MOVED)
      return other
    },
  ],
  [
    'backed up and restored',
    HOST,
    async () => {
      const place = await FolderPlace.open(join(folder, 'backups'), 'write')
      await backUpOf(stack, place)
      const places = await emptyPlaces(cleanUp, stack.masterKey)
      await restoreInto(places, place)
      return cleanUp.use(await startStack({ beside: { ...places, port: 0 } }))
    },
  ],
] as const

describe.each(MOVES)('a site that is %s', (_how, host, move) => {
  let other: Stack
  beforeAll(async () => {
    other = await move()
  })

  const there = async (owner: Owner) => ({
    sub: owner.sub,
    email: owner.email,
    party: await RelyingParty.of(other, host),
  })
  const statusOf = async ({ sub }: Owner) => {
    const token = await other.adminToken(host, 'admin')
    const answer = await other.call(host, 'GET', `/admin/data/users/${sub}`, { token })
    return answer.status === 404 ? 'gone' : answer.json.status
  }

  test('removes at once the account whose week ended on the way', async () => {
    await mailTo(other, late.email, 'account-deleted')
    expect(await statusOf(late)).toBe('gone')
    expect((await accountOf(stack, late)).json.status).toBe('DELETING')
  })

  test('gives the account back by the link that was mailed before', async () => {
    const browser = new FormBrowser(other, host)
    const page = await browser.get(link)
    expect(textOf(page.text)).toContain(`The account ${back.email} at ${host} is deleted on`)
    expect(textOf((await browser.submit(page, {})).text)).toContain('Your account is yours again')
    const { party } = await there(back)
    const login = new FormBrowser(other, host)
    const form = await login.get(party.page('login'))
    const signedIn = await login.submit(form, { username: back.email, password: PASSWORD })
    expect(signedIn.headers['location']).toContain('code=')
  })

  test('removes an account that is not restored, once its week is over', async () => {
    expect(await statusOf(going)).toBe('DELETING')
    await asSuperuser(other, async (sql) => endWeek(sql, await there(going)))
    await mailTo(other, going.email, 'account-deleted')
    expect(await statusOf(going)).toBe('gone')
    expect(await statusOf(back)).toBe('ACTIVE')
  })
})
