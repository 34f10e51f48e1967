import { expect, test } from 'vitest'

import { SendingKeys } from './sending-keys.ts'

test('a message that is sent again has the same key, another message another', () => {
  let count = 0
  const keys = new SendingKeys(() => `key ${++count}`)
  expect(keys.of({ to: ['a@b.test'], body: 'One' })).toBe('key 1')
  expect(keys.of({ to: ['a@b.test'], body: 'One' })).toBe('key 1')
  expect(keys.of({ to: ['a@b.test'], body: 'Two' })).toBe('key 2')
})
