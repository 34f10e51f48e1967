import { describe, expect, test } from 'vitest'

import { promptParameters } from './prompt-options.ts'

const NONE = { prompts: [], maxAgeSeconds: undefined, loginHint: undefined }
const ALL = {
  prompts: ['login', 'select_account'],
  maxAgeSeconds: 60,
  loginHint: 'mia@example.test',
}

describe('a client’s wishes', () => {
  test('are nothing when it has none', () => {
    expect(promptParameters('https://idp.test', NONE)).toEqual({})
  })

  test('go to a provider as they are', () => {
    expect(promptParameters('https://idp.test', ALL)).toEqual({
      prompt: 'login select_account',
      max_age: '60',
      login_hint: 'mia@example.test',
    })
  })

  test('go to Google in the words that it takes', () => {
    expect(promptParameters('https://accounts.google.com', ALL)).toEqual({
      prompt: 'select_account',
      login_hint: 'mia@example.test',
    })
  })

  test('for a recent sign-in has Google show its account chooser', () => {
    expect(
      promptParameters('https://accounts.google.com', { ...NONE, maxAgeSeconds: 300 }),
    ).toEqual({ prompt: 'select_account' })
  })
})
