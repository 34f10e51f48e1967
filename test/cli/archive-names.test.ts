import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty, type Tokens } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

import { croft } from './croft.ts'

const HOST = 'shop.test'
const NAMES = {
  domain: HOST,
  adminDomain: 'admin.shop.test',
  authDomain: 'auth.shop.test',
  formerAuthDomains: [HOST],
}

describe('an archive of a site with names of its own', () => {
  let stack: Stack
  let other: Stack
  let archive: string
  let before: Tokens
  const resources = new AsyncDisposableStack()
  beforeAll(async () => {
    stack = resources.use(await startStack({ sites: [HOST] }))
    other = resources.use(await startStack({ sites: ['taken.test'] }))
    archive = join(await temporaryFolder(resources, 'croft-names-'), 'shop.tar.gz')
    const { adminDomain, authDomain } = NAMES
    await stack.portal('PATCH', `/sites/${HOST}`, { adminDomain, authDomain })
    before = await (await RelyingParty.of(stack, HOST)).tokens('vera@visitors.test')
    await at(stack, 'site', 'export', HOST, '--to', archive)
  })
  afterAll(() => resources.disposeAsync())

  const at = ({ port, operatorKey }: Stack, ...args: readonly string[]) =>
    croft([...args, '--url', `http://127.0.0.1:${port}`, '--operator-key', operatorKey, '--json'])
  const shown = async (at: Stack, host: string) => (await at.portal('GET', `/sites/${host}`)).json
  const discoveryAt = async (at: Stack, name: string, path: string) =>
    at.call(name, 'GET', `${path}/.well-known/openid-configuration`)
  const nothingOf = async (name: string) => {
    expect((await other.call(name, 'GET', '/data/auth/config')).status).toBe(404)
    const { items } = (await other.portal('GET', '/sites')).json
    expect(items.map(({ domain }: { domain: string }) => domain)).not.toContain(HOST)
  }

  test.each(['authDomain', 'adminDomain', 'domain'] as const)(
    'is refused as a whole where another site has its %s',
    async (kind) => {
      const name = NAMES[kind]
      expect((await other.portal('POST', '/sites', { domain: name })).status).toBe(200)
      const ran = await at(other, 'site', 'import', archive)
      expect(ran.code).toBe(1)
      expect(ran.err).toContain(`SiteAlreadyExists: Another site has the domain "${name}"`)
      if (kind !== 'domain') await nothingOf(HOST)
      expect(await shown(other, name)).toMatchObject({ domain: name, authDomain: null })
      const gone = await other.portal('DELETE', `/sites/${name}`, { confirm: true })
      expect(gone.status).toBe(204)
    },
  )

  test('is refused where a name of another site’s sign-in is its own', async () => {
    const taken = { authDomain: 'auth.taken.test' }
    expect((await other.portal('PATCH', '/sites/taken.test', taken)).status).toBe(200)
    const ran = await at(other, 'site', 'import', archive, '--host', 'auth.taken.test')
    expect(ran.err).toContain('SiteAlreadyExists: Another site has the domain "auth.taken.test"')
    await nothingOf(HOST)
  })

  test('brings them all with it', async () => {
    expect(await at(other, 'site', 'import', archive)).toMatchObject({ code: 0 })
    expect(await shown(other, HOST)).toMatchObject(NAMES)
    const party = await RelyingParty.of(other, HOST)
    expect(party.host).toBe(NAMES.authDomain)
    for (const name of [NAMES.authDomain, HOST]) {
      const { json } = await discoveryAt(other, name, party.path)
      expect(new URL(json.issuer).hostname).toBe(name)
    }
    const admins = await RelyingParty.of(other, HOST, 'admin')
    expect(admins.host).toBe(NAMES.adminDomain)
    expect((await discoveryAt(other, HOST, admins.path)).status).toBe(421)
    const { access_token: token } = await party.tokens('new@visitors.test')
    expect(await party.isTaken(token)).toBe(true)
    // Sign-ins stay where they were: the keys are others here.
    expect(await party.isTaken(before.access_token)).toBe(false)
    expect((await party.refresh(before.refresh_token)).status).toBe(400)
  })

  test('leaves them where another domain is given, and the site is whole without them', async () => {
    const ran = await at(other, 'site', 'import', archive, '--host', 'copy.test')
    expect(ran).toMatchObject({ code: 0 })
    const none = { adminDomain: null, authDomain: null, formerAuthDomains: [] }
    expect(await shown(other, 'copy.test')).toMatchObject({ domain: 'copy.test', ...none })
    expect(await shown(other, HOST)).toMatchObject(NAMES)
    const party = await RelyingParty.of(other, 'copy.test')
    expect(party.host).toBe('copy.test')
    expect((await discoveryAt(other, 'copy.test', party.path)).status).toBe(200)
    const { access_token: token } = await party.tokens('new@visitors.test')
    expect(await party.isTaken(token)).toBe(true)
    const names = { adminDomain: 'admin.copy.test', authDomain: 'auth.copy.test' }
    const moved = await other.portal('PATCH', '/sites/copy.test', names)
    expect(moved.json).toMatchObject({ ...names, formerAuthDomains: ['copy.test'] })
    expect(await party.isTaken(token)).toBe(true)
  })
})
