import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** Merges what it is sent as carelessly as many do, or lets the payload choose what it changes. */
const CODE = `
const merge = (into, from) => {
  for (const key of Object.keys(from)) {
    if (typeof from[key] === 'object') merge(into[key] ??= {}, from[key])
    else into[key] = from[key]
  }
  return into
}
const changes = {
  push: () => { Array.prototype.push = () => 0 },
  parse: () => { JSON.parse = () => ({ admin: true }) },
  then: () => { Promise.prototype.then = () => {} },
  json: () => { Response.prototype.json = async () => ({ admin: true }) },
}
export default async ({ payload, auth }) => {
  if (payload.change) changes[payload.change]()
  const profile = merge({}, payload.profile ?? {})
  const list = []
  list.push('a')
  return {
    sub: auth.sub, admin: profile.admin === true, text: String(profile), list, parsed: JSON.parse('{}'),
    read: await Response.json({}).json(), later: await Promise.resolve(1).then((one) => one + 1),
  }
}`

let stack: Stack
let site: RuntimeSite
let visitors: readonly string[]

beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  await site.publish('profile', CODE, { auth: { mode: 'authenticated' } })
  visitors = await Promise.all(
    ['ann@example.test', 'bob@example.test'].map((user) => stack.dataToken('one.test', { user })),
  )
})
afterAll(() => stack[Symbol.asyncDispose]())

const send = (token: string, body: string) =>
  site.send('/data/profile', body, { authorization: `Bearer ${token}` })

describe('the visitor who comes after another one', () => {
  test.each([
    ['merged __proto__', '{"payload":{"profile":{"__proto__":{"admin":true}}}}'],
    [
      'merged constructor.prototype',
      '{"payload":{"profile":{"constructor":{"prototype":{"admin":true}}}}}',
    ],
    ['replaced toString', '{"payload":{"profile":{"__proto__":{"toString":1}}}}'],
    ['hooked Array.prototype.push', '{"payload":{"change":"push"}}'],
    ['replaced JSON.parse', '{"payload":{"change":"parse"}}'],
    ['hooked Promise.prototype.then', '{"payload":{"change":"then"}}'],
    ['replaced Response.prototype.json', '{"payload":{"change":"json"}}'],
  ])('that %s finds nothing of it', async (_, body) => {
    const [ann = '', bob = ''] = visitors
    const attack = await send(ann, body)
    expect(attack.status).toBe(500)
    const answer = await send(bob, '{"payload":{"profile":{"name":"Bob"}}}')
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json.data).toEqual({
      sub: expect.any(String),
      admin: false,
      text: '[object Object]',
      list: ['a'],
      parsed: {},
      read: {},
      later: 2,
    })
  })
})
