import { readFile } from 'node:fs/promises'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

import type { AuthorizationServer } from './differential/authorization-server.ts'
import { AUTHORIZE_CASES } from './differential/authorize-cases.ts'
import type { Case } from './differential/case.ts'
import { croftServer } from './differential/croft-server.ts'
import { EXPLAINED } from './differential/explained.ts'
import { LOGOUT_CASES } from './differential/logout-cases.ts'
import { type OracleServer, startOracle } from './differential/oracle-server.ts'
import { outcomeOf } from './differential/outcome.ts'
import { REFRESH_CASES } from './differential/refresh-cases.ts'
import { REVOKE_CASES } from './differential/revoke-cases.ts'
import { TOKEN_CASES } from './differential/token-cases.ts'
import { USER_INFO_CASES } from './differential/user-info-cases.ts'

const RECORD = new URL('../../docs/reference/oidc-provider-differences.md', import.meta.url)

let stack: Stack
let croft: AuthorizationServer
let oracle: OracleServer
beforeAll(async () => {
  stack = await startStack({ sites: ['one.test'] })
  croft = await croftServer(stack, 'one.test')
  oracle = await startOracle(croft.facts)
})
afterAll(async () => {
  await oracle[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

/** Nothing is wrong with these: a comparison of servers that refuse everything would say nothing. */
const RIGHT: readonly (readonly [...Case, outcome: string])[] = [
  ['a request to authorize', (server) => server.authorize(), '303 to sign-in'],
  [
    'a browser that is signed in',
    async (server) => server.authorize({ prompt: 'none' }, await server.facts.signIn()),
    '303 to client with a code state=st-1 iss',
  ],
  ['a code', async (server) => server.exchange(await server.code()), '200 json good'],
  [
    'a refresh token',
    async (server) => server.refresh((await server.tokens()).refresh_token),
    '200 json good',
  ],
  [
    'an access token',
    async (server) => server.userInfo((await server.tokens()).access_token),
    '200 json good',
  ],
]

const WRONG: Readonly<Record<string, readonly Case[]>> = {
  authorize: AUTHORIZE_CASES,
  token: TOKEN_CASES,
  refresh: REFRESH_CASES,
  userInfo: USER_INFO_CASES,
  revoke: REVOKE_CASES,
  logout: LOGOUT_CASES,
}
const CASES = Object.entries(WRONG).flatMap(([endpoint, cases]) =>
  cases.map(([name, ask]): Case => [`${endpoint}: ${name}`, ask]),
)
const DIFFERENCES = EXPLAINED.flatMap(({ reason, differences }) =>
  differences.map(([name, ours, theirs]) => ({ name, ours, theirs, reason })),
)

async function compared(ask: Case[1]) {
  const { server } = oracle
  return {
    ours: outcomeOf(croft.facts, await ask(croft)),
    theirs: outcomeOf(server.facts, await ask(server)),
  }
}

describe('the certified server and ours', () => {
  test.each(RIGHT)('serve %s', async (_name, ask, outcome) => {
    expect(await compared(ask)).toEqual({ ours: outcome, theirs: outcome })
  })

  test.each(CASES)('agree, or differ as explained, on %s', async (name, ask) => {
    const { ours, theirs } = await compared(ask)
    expect(ours).not.toMatch(/^5/)
    const meant = DIFFERENCES.find((difference) => difference.name === name)
    // Without an explanation both are the same; with one they are what it says, and not the same.
    expect({ ours, theirs }, meant?.reason).toEqual({
      ours: meant?.ours ?? theirs,
      theirs: meant?.theirs ?? theirs,
    })
  })

  test('differ by nothing that is not one of these requests', () => {
    const names = CASES.map(([name]) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { name, ours, theirs } of DIFFERENCES) {
      expect(names, name).toContain(name)
      expect(ours, name).not.toBe(theirs)
    }
  })

  test('differ as the decision record lists it, each for the reason that it names', async () => {
    const record = await readFile(RECORD, 'utf8')
    const sections = record.split(/^### /m).slice(1)
    const listed = sections.flatMap((section) =>
      [...section.matchAll(/^\| +(\w+: .+?) +\| +(.+?) +\| +(.+?) +\|$/gm)].map(
        ([, name, ours, theirs]) => ({ name, ours, theirs, reason: section.split('\n')[0] }),
      ),
    )
    expect(listed).toEqual(DIFFERENCES)
  })
})
