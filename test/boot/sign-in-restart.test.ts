import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { allowCognitoApi } from '#test/cognito-app.ts'
import { CroftProcess, freePort } from '#test/croft-process.ts'
import type { FakeGoogle } from '#test/fake-google.ts'
import type { Front } from '#test/front.ts'
import { googleFor } from '#test/google-sign-in.ts'
import { InStep } from '#test/in-step.ts'
import { Journey } from '#test/journey.ts'
import { installed } from '#test/on-runtimes.ts'
import { portalOf } from '#test/operator.ts'
import { allMailTo, codeIn, mailTo } from '#test/outbox.ts'
import { isRunning } from '#test/process-table.ts'
import { SignInCrowd } from '#test/sign-in-crowd.ts'
import { SIGN_IN_JOURNEYS } from '#test/sign-in-journeys.ts'
import { openFolder } from '#test/temporary-folder.ts'
import { requestSignUp } from '#test/visitors.ts'

const HOST = 'shop.test'
const OPERATOR_KEY = randomBytes(32).toString('base64url')
const RUNTIMES = installed(['bun', 'node', 'deno'])

let dataDir: string
let port: number
let croft: CroftProcess
let google: FakeGoogle
let starts = 0
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  const folder = await openFolder(cleanUp, 'croft-boot-')
  dataDir = join(folder, 'data')
  port = await freePort()
  await start()
  await portalOf(croft, OPERATOR_KEY).createSite(HOST)
  google = cleanUp.use(await googleFor(front, [HOST]))
  await allowCognitoApi(front, HOST, 'data')
})
afterAll(() => cleanUp.disposeAsync())

async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const on = RUNTIMES[starts++ % RUNTIMES.length] ?? 'bun'
  const common = { CROFT_OPERATOR_KEY: OPERATOR_KEY }
  croft = cleanUp.use(await CroftProcess.start({ dataDir, port, on, env: { ...common, ...env } }))
}

/** kill -9, of the service alone, or of its database with it. */
async function kill(withDatabase: boolean): Promise<void> {
  const left = await croft.kill()
  if (!withDatabase) return
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It went with its parent.
    }
  }
  await expect.poll(() => left.filter(isRunning)).toEqual([])
}

const front: Front = {
  call: (host, method, path, { token, body, headers } = {}) =>
    croft.call({
      host,
      method,
      path,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body }),
    }),
  portal: (method, path, body) =>
    front.call('localhost', method, `/portal/api${path}`, { token: OPERATOR_KEY, body }),
  baseUrl: (host) => `http://${host}:${port}`,
}

/** A person who restarts nothing. */
const somebody = () =>
  new Journey({ front, host: HOST, google, ports: new Map(), change: () => Promise.resolve() })

describe('while the service is killed between any two steps, a person', () => {
  const journeys = new Map<string, Promise<void>>()
  beforeAll(() => {
    const all = new InStep(async () => {
      await kill(starts % 2 === 0)
      await start()
    })
    for (const [what, walk] of Object.entries(SIGN_IN_JOURNEYS)) {
      const change = () => all.change()
      const on = new Journey({ front, host: HOST, google, ports: new Map(), change })
      const walked = all.walk(() => walk(on))
      // It is looked at when its test comes.
      walked.catch(() => {})
      journeys.set(what, walked)
    }
  })

  test.each(Object.keys(SIGN_IN_JOURNEYS))('%s', { timeout: 240_000 }, async (what) => {
    expect(await journeys.get(what)).toBeUndefined()
  })
})

describe('a service that is killed', () => {
  test(
    'between queueing a message and handing it over sends it',
    { timeout: 240_000 },
    async () => {
      const on = somebody()
      const { email: known } = await on.newPerson()
      const [email, browser, client] = [on.newAddress(), on.newBrowser(), await on.client()]
      await croft.stop()
      // Takes requests and works no queue: what it promises, it cannot keep.
      await start({ CROFT_ROLES: 'api' })
      const waiting = await requestSignUp(browser, { client, email })
      const forgotten = await on.open(browser, client, 'forgotPassword')
      const reset = await browser.submit(forgotten, { username: known })
      expect(await allMailTo(front, email)).toEqual([])
      await kill(true)
      await start()
      const walk = await browser.submit(waiting, {
        code: codeIn(await mailTo(front, email, 'verification')),
      })
      await on.tokens(client, walk)
      const code = codeIn(await mailTo(front, known, 'reset'))
      await browser.submit(reset, { code, password: 'Another-Horse-8-Battery' })
      expect(await on.canSignIn(known)).toBe(false)
      expect((await allMailTo(front, email)).map(({ kind }) => kind)).toEqual(['verification'])
    },
  )

  test.each([
    ['alone', false],
    ['with its database', true],
  ])('%s while many sign in keeps its word to each', { timeout: 240_000 }, async (_how, whole) => {
    const on = somebody()
    const crowd = new SignInCrowd(on)
    const enough = 60 + Math.random() * 90
    const over = crowd.work()
    await croft.until('many were answered', () => crowd.answers > enough)
    await kill(whole)
    await over
    expect(crowd.wrong).toEqual([])
    await start()

    for (const { client, tokens, used, isAsking } of crowd.renewing) {
      expect(await on.statusWith(tokens.access_token)).toBe(404)
      const { status, text } = await on.refresh(client, tokens.refresh_token)
      // A response that was lost can be asked for again within ten seconds; the start may take longer.
      expect(isAsking ? [200, 400] : [200], text).toContain(status)
      expect((await on.refresh(client, used.at(-1) ?? '', 'email')).status).toBe(400)
    }
    for (const { client, walk, fate } of crowd.codes.slice(-12)) {
      const { status, text } = await on.exchange(client, walk)
      expect({ kept: [200], lost: [200, 400], used: [400] }[fate], text).toContain(status)
    }
    for (const browser of crowd.browsers) {
      const client = await on.client()
      const { url, steps } = await browser.open(client.authorizeUrl)
      expect({ state: url.searchParams.get('state'), steps: steps.length }).toEqual({
        state: client.state,
        steps: 1,
      })
    }
    for (const { email, browser, client, walk } of crowd.signUps) {
      const code = codeIn(await mailTo(front, email, 'verification'))
      await on.tokens(client, await browser.submit(walk, { code }))
    }
  })
})
