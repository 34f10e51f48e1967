import { describe, expect, test } from 'vitest'

import { AppError, invalid } from './app-error.ts'
import { collectErrors } from './collect-errors.ts'

const failing = (field: string) => () => {
  throw invalid(field, 'is wrong')
}
const asynchronously = (field: string) => () => Promise.reject(invalid(field, 'is wrong'))

describe('checks together', () => {
  test('pass when each does, and each is run', async () => {
    const run: string[] = []
    await collectErrors(
      () => run.push('a'),
      async () => run.push('b'),
    )
    expect(run).toEqual(['a', 'b'])
  })

  test('fail with the error of the one that does', async () => {
    const refusal = new AppError('InvalidPassword', 'The password is short', {
      details: [{ field: 'password', message: 'is short' }],
    })
    const checks = [() => {}, () => Promise.reject(refusal)]
    await expect(collectErrors(...checks)).rejects.toBe(refusal)
  })

  test('fail with the details of all that do', async () => {
    await expect(collectErrors(failing('a'), asynchronously('b'), () => {})).rejects.toMatchObject({
      code: 'ValidationError',
      details: [
        { field: 'a', message: 'is wrong' },
        { field: 'b', message: 'is wrong' },
      ],
    })
  })

  test('end at an error that is about no field', async () => {
    const busy = new AppError('ServiceUnavailable', 'Try again')
    const checks = [failing('a'), () => Promise.reject(busy), failing('b')]
    await expect(collectErrors(...checks)).rejects.toBe(busy)
  })
})
