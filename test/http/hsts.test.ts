import { describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

const PATHS: readonly (readonly [string, string])[] = [
  ['GET', '/healthz'],
  ['GET', '/admin/public/config'],
  ['GET', '/nowhere'],
  ['GET', '/admin/public/onboarding/user?token=x'],
  ['POST', '/data/public/nobody'],
  ['OPTIONS', '/data/hello'],
]

const headersOf = async (stack: Stack): Promise<(string | undefined)[]> => {
  const answers = await Promise.all(
    PATHS.map(([method, path]) => stack.call('one.test', method, path)),
  )
  return answers.map(({ headers }) => headers['strict-transport-security'])
}

describe('a service behind TLS', () => {
  test('keeps browsers to it, with every answer', async () => {
    const hsts = 'max-age=31536000'
    await using stack = await startStack({ sites: ['one.test'], config: { hsts } })
    expect(await headersOf(stack)).toEqual(PATHS.map(() => hsts))
  })
})

describe('a service without TLS', () => {
  test('says nothing of it', async () => {
    await using stack = await startStack({ sites: ['one.test'] })
    expect(await headersOf(stack)).toEqual(PATHS.map(() => undefined))
  })
})
