import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const NAMES = ['B', 'a', 'c', 'D', 'e']
const LISTS: readonly (readonly [string, string])[] = [
  ['/jobs', 'jobId'],
  ['/env-vars', 'name'],
  ['/iac/definitions', 'profileName'],
]

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  await site.putOperation('echo', { preset: { preset: 'echo' } })
  for (const name of NAMES) {
    await site.admin('PUT', `/jobs/${name}`, { operation: 'echo' })
    await site.admin('PUT', '/env-vars', { variables: { [name]: { value: 'x' } } })
    await site.admin('PUT', `/iac/definitions/${name}`, { definition: {} })
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

describe.each(LISTS)('the list at %s', (path, key) => {
  const namesOf = (items: readonly Record<string, string>[]): string[] =>
    items.map((item) => item[key] ?? '')

  test('is whole on one page where it is short', async () => {
    const { json } = await site.admin('GET', path)
    expect(json.nextToken).toBeNull()
    expect(namesOf(json.items).toSorted()).toEqual(NAMES.toSorted())
  })

  test('comes in pages on request', async () => {
    const seen: unknown[] = []
    const sizes: number[] = []
    for (let next: string | null = ''; next !== null;) {
      const { json } = await site.admin('GET', `${path}?limit=2${next && `&nextToken=${next}`}`)
      sizes.push(json.items.length)
      seen.push(...namesOf(json.items))
      next = json.nextToken
    }
    expect(sizes).toEqual([2, 2, 1])
    expect(seen).toEqual(NAMES.toSorted())
  })

  test.each([
    ['limit=0', 'ValidationError'],
    ['limit=x', 'ValidationError'],
    ['limt=5', 'ValidationError'],
    ['nextToken=x', 'InvalidNextToken'],
  ])('refuses %s', async (query, code) => {
    expect(await site.admin('GET', `${path}?${query}`)).toMatchObject({
      status: 400,
      json: { error: { code } },
    })
  })

  test('takes no token of another site', async () => {
    const { nextToken } = (await site.admin('GET', `${path}?limit=1`)).json
    const other = await RuntimeSite.open(stack, 'two.test')
    expect(await other.admin('GET', `${path}?nextToken=${nextToken}`)).toMatchObject({
      status: 400,
      json: { error: { code: 'InvalidNextToken' } },
    })
  })
})
