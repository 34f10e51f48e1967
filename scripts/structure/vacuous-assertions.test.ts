import { describe, expect, test } from 'vitest'

import { vacuousAssertions } from './vacuous-assertions.ts'

// Put together, so that this file has none itself.
const not = 'not'
const contains = 'arrayContaining'

describe('an assertion', () => {
  test.each([
    `expect(env).toEqual(expect.${not}.${contains}(['A', 'B']))`,
    `expect(env).toEqual(\n  expect\n    .${not}.objectContaining({ a: 1 }),\n)`,
    `expect(env).${not}.toEqual(expect.${contains}(all))`,
    `expect(env)\n  .${not}.toEqual(\n    expect.objectContaining(all))`,
    `expect(answer).${not}.toMatchObject({ status: 200, json: {} })`,
    `expect(answer).${not}.toMatchObject({\n  status: 200,\n  'json': {},\n})`,
  ])('that passes unless all of it is wrong is found: %s', (text) => {
    expect(vacuousAssertions(text)).toHaveLength(1)
  })

  test.each([
    `expect(env).${not}.toContain('A')`,
    `expect(env).toEqual(expect.${contains}(all))`,
    `expect(answer).${not}.toMatchObject({ code: 'a' })`,
    `expect(answer).${not}.toMatchObject({\n  code: 'a',\n})`,
    `expect(message).toEqual(expect.${not}.stringContaining('a'))`,
    `expect(a).${not}.toEqual(b)\nexpect(c).toEqual(expect.${contains}(d))`,
  ])('that says what it means is not: %s', (text) => {
    expect(vacuousAssertions(text)).toEqual([])
  })

  test('is found by its line', () => {
    expect(vacuousAssertions(`one\ntwo\n${`expect.${not}.${contains}([])`}\n`)).toEqual([3])
  })
})
