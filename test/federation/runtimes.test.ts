import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'
import { startFakeGoogle } from '#test/fake-google.ts'
import { portalOf } from '#test/operator.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

let start: (on: 'bun' | 'node' | 'deno') => Promise<CroftProcess>
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'croft-google-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  const env = { DATABASE_URL: cleanUp.use(await cloneDatabase()).url }
  start = async (on) =>
    cleanUp.use(await CroftProcess.start({ dataDir: join(folder, 'data'), on, env }))
})
afterAll(() => cleanUp.disposeAsync())

describe.each(['deno', 'node', 'bun'] as const)('the service on %s', (on) => {
  test('takes somebody to the provider, back, and to the client with a code', async () => {
    const croft = await start(on)
    const host = `${on}.test`
    await portalOf(croft).createSite(host)
    const { data } = (await croft.call({ host, path: '/data/auth/config' })).json
    const client = { clientId: `croft-on-${on}`, clientSecret: `secret-of-${on}` }
    const redirectUris = [`${data.issuer}/oauth2/idpresponse`]
    await using google = await startFakeGoogle({ clients: [{ ...client, redirectUris }] })
    google.person = { subject: 'someone', email: `someone-on-${on}@example.test` }
    await portalOf(croft).setUpGoogle(host, { ...client, issuer: google.issuer })

    const query = new URLSearchParams({
      client_id: data.userPoolClientId,
      redirect_uri: `${new URL(data.issuer).origin}/auth/callback`,
      response_type: 'code',
      scope: data.providers.google.scopes.join(' '),
      state: on,
      identity_provider: 'Google',
      code_challenge: 'A'.repeat(43),
      code_challenge_method: 'S256',
    })
    const walk = await new WalkingBrowser().open(
      `${data.issuer}/oauth2/authorize?${query.toString()}`,
    )
    expect(Object.fromEntries(walk.url.searchParams)).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: on,
      iss: data.issuer,
    })
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
    expect(croft.output).not.toContain(client.clientSecret)
  })
})
