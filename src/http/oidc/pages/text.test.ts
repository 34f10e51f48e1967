import { expect, test } from 'vitest'

import { AppError, faultOf } from '#base/app-error.ts'
import { t } from '#languages/message.ts'

import { capitalized, withFullStop, textOf } from './text.ts'

test.each([
  ['must have a digit', 'Must have a digit.'],
  ['Is it?', 'Is it?'],
])('"%s" is the sentence "%s"', (text, sentence) => {
  expect(String(withFullStop(capitalized(text)))).toBe(sentence)
})

test('a sentence ends as its language ends them', () => {
  const sentence = withFullStop(t('error.credentials'))
  expect(sentence.in('de').at(-1)).toBe('.')
  expect(sentence.in('ja').at(-1)).toBe('。')
})

test('a failure speaks its reader’s language where it is one that people meet, and is English to programs', () => {
  const met = new AppError('InvalidCredentials', t('error.credentials'))
  expect(met.message).toBe('The email address or the password is wrong')
  expect(withFullStop(textOf(met)).in('de')).not.toContain('password')
  expect(textOf(new AppError('RouteNotFound', 'There is no such route'))).toBe(
    'There is no such route',
  )
})

test('programs are not sent the text that people read', () => {
  const fault = faultOf('email', t('fault.email'))
  expect(JSON.parse(JSON.stringify(fault))).toEqual({
    field: 'email',
    message: 'is not an email address',
  })
})
