import { expect, test } from 'vitest'

import { Accepting } from './accepting.ts'

const LIMITS = { pauseMs: 0, withinMs: 0 }

test('A message that comes to some sites leaves the others their pause', async () => {
  const accepting = new Accepting()
  const end = accepting.begin(['one', 'two'])
  const pauses = () =>
    Promise.all(['one', 'two', 'three'].map((siteId) => accepting.pause(siteId, LIMITS)))
  expect(await pauses()).toEqual([false, false, true])
  end()
  expect(await pauses()).toEqual([true, true, true])
})
