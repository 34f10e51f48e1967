import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import type { DefinedItem, DefinitionSection } from './section.ts'
import { Definitions } from './service.ts'

/** Each item is the error that its check ends with. */
const section: DefinitionSection = {
  name: 'resources',
  maxItems: 10,
  parse: (value): DefinedItem => ({
    name: (value as AppError).message,
    canonical: {},
    links: [],
    check: () => Promise.reject(value as AppError),
    put: () => Promise.resolve('none'),
  }),
  all: () => Promise.resolve([]),
  delete: () => Promise.resolve(false),
}

const check = (...errors: readonly AppError[]): Promise<void> => {
  const definitions = new Definitions([section])
  return definitions.check('site', definitions.parse({ resources: errors }))
}

const invalidCode = new AppError('InvalidCode', 'no', {
  details: [{ field: 'config.code', message: 'no' }],
})

describe('checking a definition', () => {
  test('names code that does not load', async () => {
    await expect(check(invalidCode)).rejects.toMatchObject({
      code: 'ValidationError',
      details: [{ field: 'resources[0].config.code', message: 'no' }],
    })
  })

  test('finds no fault with the definition when the sandbox cannot say', async () => {
    const interrupted = new AppError('ServiceUnavailable', 'try again', { retryAfterSeconds: 1 })
    await expect(check(invalidCode, interrupted)).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      retryAfterSeconds: 1,
    })
  })
})
