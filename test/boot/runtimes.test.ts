import { readFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'
import { hiddenFields } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { describeOn, installed } from '#test/on-runtimes.ts'
import { openFolder } from '#test/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The first makes the installation, the others find it. */
const RUNTIMES = ['deno', 'node', 'bun'] as const
const [FIRST] = installed(RUNTIMES)

let folder: string
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  folder = await openFolder(cleanUp, 'croft-boot-')
})
afterAll(() => cleanUp.disposeAsync())

/** From its sources, in this order on one data folder. */
describeOn(RUNTIMES, 'an installation on %s', (on) => {
  test('answers the first operation, from a sandbox and from the cache, refuses a wrong password, and stops in order', async () => {
    const options = { dataDir: join(folder, 'data'), on, root: ROOT }
    const croft = cleanUp.use(await CroftProcess.start(options))
    expect(croft.command()).toContain(on)
    // Without it Elysia writes each body that it refuses into an error, and looks for all of its faults.
    const environment = await environmentOf(croft)
    expect(environment).toContain('NODE_ENV=production')
    // With fewer, what two sites compress holds up the files of all others.
    const threads = `UV_THREADPOOL_SIZE=${cpus().length + 2}`
    expect(environment.includes(threads)).toBe(on === 'bun')
    if (on === FIRST) await croft.printed('croft site verify')
    const first = await croft.hello(on)
    expect(first).toMatchObject({ status: 200, json: { data: { message: `Hello, ${on}!` } } })
    expect(first.headers['x-cache']).toBe('MISS')
    expect((await croft.hello(on)).headers['x-cache']).toBe('HIT')
    expect(await profiled(croft)).toMatchObject({ status: 200, json: { nodes: expect.anything() } })
    expect(await refusedSignIn(croft)).toBe('The email address or the password is wrong.')
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
    expect(croft.leftovers()).toEqual([])
    expect(croft.log.filter(({ level }) => level !== 'info')).toEqual([])
  })
})

const environmentOf = async ({ pid }: CroftProcess): Promise<readonly string[]> =>
  (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0')

/** A route of the admin API whose handler hands on another function's promise. */
async function profiled(croft: CroftProcess): Promise<Answer> {
  const key = (await readFile(join(croft.dataDir, 'operator.key'), 'utf8')).trim()
  const minted = await croft.call({
    method: 'POST',
    path: '/portal/api/sites/localhost/tokens',
    headers: { authorization: `Bearer ${key}` },
    body: { user: 'admin@localhost' },
  })
  return croft.call({
    method: 'POST',
    path: '/admin/data/operations/hello/profile',
    headers: { authorization: `Bearer ${minted.json.token}` },
    body: { payload: { name: 'Ada' } },
  })
}

/** What the sign-in page says after a wrong password: a form, its cookie, argon2 and a page. */
async function refusedSignIn(croft: CroftProcess): Promise<string | undefined> {
  const { auth } = (await croft.call({ path: '/admin/public/config' })).json
  const query = new URLSearchParams({
    client_id: auth.clientId,
    redirect_uri: auth.redirectUri,
    response_type: 'code',
    code_challenge: 'A'.repeat(43),
    code_challenge_method: 'S256',
  })
  const { pathname } = new URL(auth.issuer)
  const page = await croft.call({ path: `${pathname}/login?${query.toString()}` })
  const fields = { username: 'nobody@example.test', password: 'Wrong-horse-7' }
  const refused = await croft.call({
    method: 'POST',
    path: `${pathname}/login?${query.toString()}`,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      cookie: page.headers['set-cookie']?.split(';')[0] ?? '',
    },
    body: new URLSearchParams({ ...hiddenFields(page.text), ...fields }).toString(),
  })
  return /role="alert">([^<]+)</.exec(refused.text)?.[1]
}
