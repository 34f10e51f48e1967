import { describe, expect, test } from 'vitest'

import { parsePreset } from './preset-binding.ts'
import { checkExpressions } from './preset-expressions.ts'

const check = (preset: object): void =>
  checkExpressions(parsePreset({ preset: 'ddb.scan', resourceId: 'r', ...preset }))

const NAMES = { expressionAttributeNames: { '#a': 'a' } }
const VALUES = { expressionAttributeValues: { ':a': 1 } }

describe('the fixed expressions of a preset', () => {
  test.each<[string, object]>([
    ['with all that they use', { fixed: { filterExpression: '#a = :a', ...NAMES, ...VALUES } }],
    ['with values that callers send', { fixed: { filterExpression: 'a = :a' } }],
    [
      'with names that callers may send',
      {
        fixed: { filterExpression: '#a = :a', ...VALUES },
        allowed: ['expressionAttributeNames'],
      },
    ],
    [
      'with names for what callers write',
      { preset: 'ddb.get', fixed: NAMES, allowed: ['key', 'projectionExpression'] },
    ],
    ['that use none', { fixed: { projectionExpression: 'a, b[0].c' } }],
    [
      'of an update',
      { preset: 'ddb.update', fixed: { updateExpression: 'ADD #a :a', ...NAMES, ...VALUES } },
    ],
  ])('%s are taken', (_what, preset) => {
    expect(() => check(preset)).not.toThrow()
  })

  test.each<[string, object, RegExp]>([
    [
      'a name that nothing defines',
      { fixed: { filterExpression: '#b = :a', ...NAMES } },
      /^preset\.fixed\.filterExpression: uses "#b", which nothing defines: .*expressionAttributeNames/,
    ],
    [
      'a value that nothing defines and no caller may send',
      { fixed: { filterExpression: 'a = :b', ...VALUES }, allowed: ['limit'] },
      /uses ":b", which nothing defines: .*expressionAttributeValues/,
    ],
    [
      'a name of every object',
      { fixed: { filterExpression: 'a = :constructor' }, allowed: [] },
      /uses ":constructor"/,
    ],
    [
      'a name that is in none',
      { fixed: { filterExpression: 'a = :a', ...NAMES, ...VALUES } },
      /^preset\.fixed\.expressionAttributeNames: "#a" is in no expression/,
    ],
    [
      'broken syntax',
      { fixed: { filterExpression: 'a = = :a', ...VALUES } },
      /^preset\.fixed\.filterExpression: is not valid: Syntax error; token: "="/,
    ],
    [
      'a reserved word',
      { preset: 'ddb.get', fixed: { projectionExpression: 'name' } },
      /reserved keyword: name/,
    ],
    [
      'a broken update',
      { preset: 'ddb.update', fixed: { updateExpression: 'SET a' } },
      /^preset\.fixed\.updateExpression: is not valid/,
    ],
  ])('are refused with %s', (_what, preset, words) => {
    expect(() => check(preset)).toThrow(words)
  })
})
