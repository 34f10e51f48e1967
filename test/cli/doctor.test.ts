import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { builtSandbox } from '#test/built-sandbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

let stack: Stack
let env: Record<string, string>
beforeAll(async () => {
  stack = await startStack({ sandbox: 'started' })
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
})
afterAll(() => stack[Symbol.asyncDispose]())

describe('croft doctor', () => {
  test('tells what answers and which walls stand, and ends by them', async () => {
    const walls = (await builtSandbox()).jail?.walls ?? []
    const isJail = walls.every(({ stands, needed }) => stands || !needed)
    const { code, out } = await croft(['doctor'], env)
    expect(code).toBe(isJail ? 0 : 1)
    const lines = out.trim().split('\n')
    const { checks } = (await stack.call('any.host', 'GET', '/readyz')).json
    const parts = Object.keys(checks)
    expect(lines.slice(0, parts.length + 2)).toEqual([
      'The service:',
      ...parts.map((part) => `  ✓ ${part}: answers`),
      '',
    ])
    expect(lines.slice(parts.length + 3).map((line) => line.split(':')[0])).toEqual(
      walls.map(({ wall, stands }) => `  ${stands ? '✓' : '✗'} ${wall}`),
    )
    const told = JSON.parse((await croft(['doctor', '--json'], env)).out)
    expect(told).toEqual({ status: 'ready', checks, walls })
  })

  test('refuses whoever has not the operator key', async () => {
    const refused = await croft(['doctor', '--operator-key', 'another'], env)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Unauthorized') })
  })
})
