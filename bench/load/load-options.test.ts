import { describe, expect, test } from 'vitest'

import { parseLoadOptions } from './load-options.ts'

describe('the load command', () => {
  test('aims at the first site of a fresh installation by default', () => {
    expect(parseLoadOptions([])).toEqual({
      json: false,
      plan: {
        origin: 'http://127.0.0.1:8080',
        tenants: [
          {
            host: 'localhost',
            path: '/data/public/hello',
            bodies: ['{"payload":{"name":"Ada"}}'],
            expect: { status: 200 },
          },
        ],
        connections: 32,
        warmupMs: 1000,
        durationMs: 5000,
        timeoutMs: 10_000,
      },
    })
  })

  test('gives every host its token', () => {
    const { plan } = parseLoadOptions(
      '--host localhost,two.test --token A --token B --rate 2000 --status 429 --json'.split(' '),
    )
    expect(plan.tenants.map(({ host, token }) => [host, token])).toEqual([
      ['localhost', 'A'],
      ['two.test', 'B'],
    ])
    expect(plan).toMatchObject({ ratePerSecond: 2000, tenants: [{ expect: { status: 429 } }, {}] })
  })

  test('gives all hosts the only token', () => {
    const { plan } = parseLoadOptions(['--host', 'a.test,b.test', '--token', 'A'])
    expect(plan.tenants.map(({ token }) => token)).toEqual(['A', 'A'])
  })

  test.each([
    ['--connections', ['--connections', 'many']],
    ['ratePerSecond', ['--rate=-5']],
    ['durationMs', ['--seconds', '601']],
    ['one for each --host', ['--host', 'a.test,b.test,c.test', '--token', 'A', '--token', 'B']],
    ['host', ['--host', 'a.test,,b.test']],
    ['loopback', ['--url', 'http://example.com']],
    ["'--speed'", ['--speed', '9']],
  ])('refuses, and names %s', (name, args) => {
    expect(() => parseLoadOptions(args)).toThrow(name)
  })
})
