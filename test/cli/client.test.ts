import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

const CALLBACK = 'https://helpdesk.example/callback'
const PNG = Buffer.from('\x89PNG\r\n\x1a\npicture', 'latin1')

let stack: Stack
let folder: string
let env: Record<string, string>
beforeAll(async () => {
  stack = await startStack()
  folder = await mkdtemp(join(tmpdir(), 'croft-client-'))
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await stack[Symbol.asyncDispose]()
})

/** The words of a command after `croft client`, none of which has a blank. */
const run = (words: string) => croft(['client', ...words.split(/\s+/)], env)
const json = async (words: string) => {
  const ran = await run(`${words} --json`)
  expect(ran).toMatchObject({ code: 0, err: '' })
  return JSON.parse(ran.out)
}

describe('croft client', () => {
  test('registers one with a picture, lists and changes it, and shows its secret once', async () => {
    const logo = join(folder, 'logo.png')
    await writeFile(logo, PNG)
    const wrong = await run(`register one.test --name Help\u001b[31m --redirect-uri ${CALLBACK}`)
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('name') })
    const made = await json(
      `register one.test --name Helpdesk --redirect-uri ${CALLBACK} --logout-uri https://helpdesk.example/
        --third-party on --logo ${logo} --privacy-uri https://helpdesk.example/privacy`,
    )
    expect(made).toMatchObject({
      name: 'Helpdesk',
      pool: 'data',
      authentication: 'client_secret',
      redirectUris: [CALLBACK],
      logoutUris: ['https://helpdesk.example/'],
      isThirdParty: true,
      hasLogo: true,
      clientSecret: expect.stringMatching(/^[\w-]{43}$/),
    })
    const { out } = await run('list one.test')
    expect(out).toContain(made.clientId)
    expect(out).toContain('third party')
    expect(out).not.toContain(made.clientSecret)
    const id = `--id ${made.clientId}`
    const changed = await json(
      `change one.test ${id} --logo none --privacy-uri none --third-party off
        --access-token-format rfc9068`,
    )
    expect(changed).toMatchObject({
      name: 'Helpdesk',
      hasLogo: false,
      privacyUri: null,
      isThirdParty: false,
      accessTokenFormat: 'rfc9068',
    })
    expect(await run(`change one.test ${id}`)).toMatchObject({ code: 2 })
    const { out: rotated } = await run(`secret one.test ${id} --keep-former-hours 1`)
    expect(rotated).toMatch(/client secret +[\w-]{43}\n/)
    expect(rotated).toContain('former secret ends')
    expect((await run(`remove one.test ${id}`)).out).toContain(`Removed ${made.clientId}`)
    expect((await run('list one.test')).out).toContain('None yet')
    expect(await run(`remove one.test ${id}`)).toMatchObject({ code: 1 })
  })

  test('registers one with keys, and says what is wrong with a file', async () => {
    const [jwks, wrong] = [join(folder, 'jwks.json'), join(folder, 'wrong.json')]
    const { publicKey } = generateKeyPairSync('ed25519')
    await writeFile(jwks, JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] }))
    await writeFile(wrong, 'keys')
    const register = `register two.test --name Robot --redirect-uri ${CALLBACK} --authentication private_key_jwt`
    const made = await json(`${register} --jwks ${jwks}`)
    expect(made).toMatchObject({ clientSecret: null, jwks: { keys: [{ crv: 'Ed25519' }] } })
    for (const [file, words] of [
      [wrong, 'is no JSON'],
      [join(folder, 'missing.json'), 'cannot be read'],
    ] as const) {
      const ran = await run(`${register} --jwks ${file}`)
      expect(ran).toMatchObject({ code: 1, err: expect.stringContaining(words) })
    }
    expect((await json('list one.test')).items).toEqual([])
  })
})
