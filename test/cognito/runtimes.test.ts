import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { CapturedMessage } from '#platform/smtp/outbox.ts'
import { CroftProcess } from '#test/croft-process.ts'
import type { Answer } from '#test/http-client.ts'
import { codeIn } from '#test/outbox.ts'
import { SrpClient } from '#test/srp-client.ts'

const OPERATOR_KEY = 'an-operator-key-that-is-long-enough-0123'
const EMAIL = 'ann@mail.test'
const PASSWORD = 'Correct-horse-7'

let dataDir: string
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'croft-cognito-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  dataDir = join(folder, 'data')
})
afterAll(() => cleanUp.disposeAsync())

interface Discovery {
  readonly issuer: string
  readonly userPoolId: string
  readonly userPoolClientId: string
}

const portal = (croft: CroftProcess, method: string, path: string, body?: unknown) =>
  croft.call({
    method,
    path: `/portal/api${path}`,
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    ...(body !== undefined && { body }),
  })

const discovery = async (croft: CroftProcess): Promise<Discovery> =>
  (await croft.call({ path: '/data/auth/config' })).json.data

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
  const message = await vi.waitUntil(
    async (): Promise<CapturedMessage | undefined> =>
      (await portal(croft, 'GET', `/outbox?to=${EMAIL}`)).json.items[0],
    { timeout: 20_000, interval: 50 },
  )
  const ConfirmationCode = codeIn(message)
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

/** In this order on one data folder: what Deno made signs in under the others. */
describe.each(['deno', 'node', 'bun'] as const)('the Cognito API on %s', (on) => {
  test('signs in whoever signed up, and nobody else', async () => {
    await using croft = await CroftProcess.start({
      dataDir,
      on,
      env: { CROFT_OPERATOR_KEY: OPERATOR_KEY },
    })
    if (on === 'deno') {
      await croft.printed('croft site verify')
      const change = { data: { clients: { default: { cognitoApi: true } } } }
      await portal(croft, 'PATCH', '/sites/localhost/auth', change)
      await signUp(croft)
    }
    const { AccessToken } = (await signIn(croft, PASSWORD)).json.AuthenticationResult
    expect((await send(croft, 'GetUser', { AccessToken })).json).toMatchObject({ Username: EMAIL })
    expect((await signIn(croft, 'Wrong-horse-7')).json).toEqual({
      __type: 'NotAuthorizedException',
      message: 'Incorrect username or password.',
    })
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
    expect(croft.log.filter(({ level }) => level !== 'info')).toEqual([])
  })
})
