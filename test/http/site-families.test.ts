import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOST = 'one.test'
const OTHER = 'two.test'

let stack: Stack
let admin: string
let otherAdmin: string
beforeAll(async () => {
  stack = await startStack({ works: false })
  admin = await stack.adminToken(HOST, 'admin')
  otherAdmin = await stack.adminToken(OTHER, 'admin')
  const visitors = await RelyingParty.of(stack, HOST)
  for (const name of ['ann', 'bob', 'cid']) await visitors.user(`${name}@x.test`)
})
afterAll(() => stack[Symbol.asyncDispose]())

/** The visitors of a site, from each place where the family is mounted. */
const lists = {
  site: (query: string) => stack.call(HOST, 'GET', `/admin/data/users?${query}`, { token: admin }),
  'another site': (query: string) =>
    stack.call(OTHER, 'GET', `/admin/data/users?${query}`, { token: otherAdmin }),
  operator: (query: string) => stack.portal('GET', `/sites/${HOST}/users?${query}`),
  'operator at another site': (query: string) =>
    stack.portal('GET', `/sites/${OTHER}/users?${query}`),
}

describe('a family that admins and the operator have', () => {
  test('answers both the same', async () => {
    const [theirs, operators] = await Promise.all([lists.site(''), lists.operator('')])
    expect(theirs.json.items).toHaveLength(3)
    expect(operators.json).toEqual(theirs.json)
  })

  test.each(['site', 'operator'] as const)(
    'takes a page token of the %s nowhere else',
    async (own) => {
      const { nextToken } = (await lists[own]('limit=1')).json
      const query = `limit=1&nextToken=${encodeURIComponent(nextToken)}`
      for (const [name, list] of Object.entries(lists)) {
        const answer = await list(query)
        expect([name, answer.status]).toEqual([name, name === own ? 200 : 400])
      }
    },
  )

  test('takes the credential of neither at the mount of the other', async () => {
    const operators = `/portal/api/sites/${HOST}/users`
    const asAdmin = await stack.call(HOST, 'GET', operators, { token: admin })
    const asOperator = await stack.call(HOST, 'GET', '/admin/data/users', {
      token: stack.operatorKey,
    })
    expect([asAdmin.status, asOperator.status]).toEqual([401, 401])
  })

  test.each([
    ['no site has', 'nowhere.test', 404, 'SiteNotFound'],
    ['is longer than a domain', 'a'.repeat(254), 400, 'ValidationError'],
  ])('refuses a site that %s', async (_why, site, status, code) => {
    const answer = await stack.portal('GET', `/sites/${site}/users`)
    expect(answer).toMatchObject({ status, json: { error: { code } } })
  })

  test('says who did it: the admin, or the operator', async () => {
    const { sub } = (await lists.site('email=bob@x.test')).json.items[0]
    const lastActor = async () =>
      (await stack.portal('GET', `/sites/${HOST}/audit?event=user.disabled&limit=1`)).json.items[0]
        .actor
    await stack.portal('POST', `/sites/${HOST}/users/${sub}/disable`)
    expect(await lastActor()).toBe('operator')
    await stack.portal('POST', `/sites/${HOST}/users/${sub}/enable`)
    await stack.call(HOST, 'POST', `/admin/data/users/${sub}/disable`, { token: admin })
    expect(await lastActor()).not.toBe('operator')
  })
})
