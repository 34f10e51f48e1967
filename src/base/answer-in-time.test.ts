import { describe, expect, test } from 'vitest'

import { answerInTime } from './answer-in-time.ts'

describe('an answer in time', () => {
  test.each([
    ['is given', async () => 'yes', 'yes'],
    ['is stood in for where it fails', () => Promise.reject(new Error('no')), 'late'],
    ['is stood in for where it hangs', () => new Promise<string>(() => {}), 'late'],
  ])('%s', async (_what, ask, answer) => {
    expect(await answerInTime(ask(), 1, 'late')).toBe(answer)
  })
})
