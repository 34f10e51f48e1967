import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { allowCognitoApi } from '#test/cognito-app.ts'
import { CroftProcess } from '#test/croft-process.ts'
import { startFakeGoogle } from '#test/fake-google.ts'
import type { Answer } from '#test/http-client.ts'
import { describeOn, installed } from '#test/on-runtimes.ts'
import { portalOf } from '#test/operator.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { SrpClient } from '#test/srp-client.ts'
import { testCertificate } from '#test/test-certificate.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

const OPERATOR_KEY = 'an-operator-key-that-is-long-enough-0123'
const EMAIL = 'ann@mail.test'
const PASSWORD = 'Correct-horse-7'
/** What the first makes is good under the others. */
const RUNTIMES = ['deno', 'node', 'bun'] as const
const [FIRST] = installed(RUNTIMES)
const PATIENCE = { timeout: 40_000, interval: 50 }

let server: SmtpServer
let start: (on: 'bun' | 'node' | 'deno') => Promise<CroftProcess>
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  const certificate = await testCertificate()
  server = cleanUp.use(await SmtpServer.start({ certificate }))
  const folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  const authority = join(folder, 'authority.pem')
  await writeFile(authority, certificate.authority)
  const env = {
    CROFT_OPERATOR_KEY: OPERATOR_KEY,
    DATABASE_URL: cleanUp.use(await cloneDatabase()).url,
    SMTP_URL: `smtp://user:secret@localhost:${server.port}?starttls=required`,
    NODE_EXTRA_CA_CERTS: authority,
  }
  start = async (on) =>
    cleanUp.use(await CroftProcess.start({ dataDir: join(folder, 'data'), on, env }))
})
afterAll(() => cleanUp.disposeAsync())

const portal = (croft: CroftProcess, method: string, path: string, body?: unknown) =>
  croft.call({
    method,
    path: `/portal/api${path}`,
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    ...(body !== undefined && { body }),
  })

/** What a site says to those who sign in. */
const discovery = async (croft: CroftProcess, host = 'localhost') =>
  (await croft.call({ host, path: '/data/auth/config' })).json.data

/** A request to the Cognito API. */
async function send(croft: CroftProcess, target: string, body: object): Promise<Answer> {
  const { issuer, userPoolClientId: ClientId } = await discovery(croft)
  return croft.call({
    method: 'POST',
    path: new URL(issuer).pathname,
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `AWSCognitoIdentityProviderService.${target}`,
    },
    body: JSON.stringify({ ClientId, ...body }),
  })
}

async function signUp(croft: CroftProcess): Promise<void> {
  await send(croft, 'SignUp', { Username: EMAIL, Password: PASSWORD })
  const ConfirmationCode = await vi.waitUntil(() => {
    const message = server.messages.find(({ to }) => to.includes(EMAIL))
    return /^Subject: (\d{6}) is your code/m.exec(message?.data ?? '')?.[1]
  }, PATIENCE)
  await send(croft, 'ConfirmSignUp', { Username: EMAIL, ConfirmationCode })
}

async function signIn(croft: CroftProcess, password: string): Promise<Answer> {
  const { userPoolId } = await discovery(croft)
  const client = new SrpClient()
  const challenge = await send(croft, 'InitiateAuth', {
    AuthFlow: 'USER_SRP_AUTH',
    AuthParameters: { USERNAME: EMAIL, SRP_A: client.publicHex },
  })
  return send(croft, 'RespondToAuthChallenge', {
    ChallengeName: 'PASSWORD_VERIFIER',
    ChallengeResponses: client.answer(challenge.json.ChallengeParameters, { userPoolId, password }),
  })
}

/** From the build, in this order on one installation. */
describeOn(RUNTIMES, 'the service on %s', (on) => {
  const host = `${on}.test`
  const client = { clientId: `croft-on-${on}`, clientSecret: `secret-of-${on}` }
  let croft: CroftProcess
  beforeAll(async () => {
    croft = await start(on)
  })

  test('signs in by the Cognito API a user who signed up, and no other', async () => {
    if (on === FIRST) {
      await croft.printed('croft site verify')
      await allowCognitoApi({ portal: (...asked) => portal(croft, ...asked) }, 'localhost', 'data')
      await signUp(croft)
    }
    const { AccessToken } = (await signIn(croft, PASSWORD)).json.AuthenticationResult
    expect((await send(croft, 'GetUser', { AccessToken })).json).toMatchObject({ Username: EMAIL })
    expect((await signIn(croft, 'Wrong-horse-7')).json).toEqual({
      __type: 'NotAuthorizedException',
      message: 'Incorrect username or password.',
    })
  })

  test('delivers mail over an upgraded connection that it has verified', async () => {
    await portalOf(croft, OPERATOR_KEY).createSite(host)
    const taken = () => server.messages.find(({ to }) => to.includes(`ann@${host}`))
    await expect.poll(taken, PATIENCE).toMatchObject({
      from: `no-reply@${host}`,
      secure: true,
      login: '\0user\0secret',
    })
    expect(taken()?.data).toContain(`Subject: Your invitation to ${host}`)
  })

  test('takes a visitor to a provider, back, and to the client with a code', async () => {
    const data = await discovery(croft, host)
    const redirectUris = [`${data.issuer}/oauth2/idpresponse`]
    await using google = await startFakeGoogle({ clients: [{ ...client, redirectUris }] })
    google.person = { subject: 'someone', email: `someone-on-${on}@example.test` }
    const { issuer } = google
    await portalOf(croft, OPERATOR_KEY).setUpGoogle(host, { ...client, issuer })

    const { providers } = await discovery(croft, host)
    const query = new URLSearchParams({
      client_id: data.userPoolClientId,
      redirect_uri: `${new URL(data.issuer).origin}/auth/callback`,
      response_type: 'code',
      scope: providers.google.scopes.join(' '),
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
  })

  test('stops in order, and has logged no secret', async () => {
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
    expect(croft.log.filter(({ level }) => level !== 'info')).toEqual([])
    for (const secret of ['secret', client.clientSecret]) expect(croft.output).not.toContain(secret)
  })
})
