import { describe, expect, test } from 'vitest'

import { fetchContextOf } from './fetch-context.ts'

const contextOf = (headers: Record<string, string>) =>
  fetchContextOf({ headers: new Headers(headers) })

describe('what a browser says that a request is for', () => {
  test.each([
    ['a page that the user goes to', 'navigate', 'document', 'navigation'],
    ['a frame', 'navigate', 'iframe', 'frame'],
    ['an old frame', 'navigate', 'frame', 'frame'],
    ['an object', 'navigate', 'object', 'frame'],
    ['a fetch', 'cors', 'empty', 'script'],
    ['a fetch of this origin', 'same-origin', 'empty', 'script'],
    ['an image', 'no-cors', 'image', 'script'],
    ['an unknown mode', 'x', 'document', 'script'],
  ])('%s', (_, mode, destination, expected) => {
    expect(contextOf({ 'sec-fetch-mode': mode, 'sec-fetch-dest': destination })).toBe(expected)
  })

  test('nothing, where one of the two is not there', () => {
    expect(contextOf({})).toBe('unsaid')
    expect(contextOf({ 'sec-fetch-mode': 'navigate' })).toBe('unsaid')
    expect(contextOf({ 'sec-fetch-dest': 'document' })).toBe('unsaid')
  })
})
