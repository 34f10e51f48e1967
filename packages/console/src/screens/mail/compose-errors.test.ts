import { expect, test } from 'vitest'

import { problemOf } from '#app/api/problem.ts'

import { CroftError } from '../../../../sdk/error.ts'
import { atFields } from './compose-errors.ts'

const refused = (...details: readonly object[]) =>
  new CroftError('No', { code: 'ValidationError', status: 400, requestId: 'r-1', details })

test('an error about one recipient is at the field of all, and names the recipient', () => {
  const error = refused({ field: 'to[1]', message: 'must be one address' })
  expect(problemOf(atFields(error, { to: ['a@b.test', 'bob'] }))).toMatchObject({
    status: 400,
    requestId: 'r-1',
    fields: { to: '“bob”: must be one address' },
  })
})

test('a sentence that names the recipient is left as it is', () => {
  const error = refused({ field: 'targets[0]', message: '"a@b.test" is no mailbox' })
  expect(problemOf(atFields(error, { targets: ['a@b.test'] })).fields).toEqual({
    targets: '"a@b.test" is no mailbox',
  })
})

test('other errors are as they were', () => {
  const error = refused({ field: 'subject', message: 'must be one line' })
  expect(problemOf(atFields(error, { to: [] })).fields).toEqual({ subject: 'must be one line' })
  const broken = new Error('Broken')
  expect(atFields(broken, {})).toBe(broken)
})
