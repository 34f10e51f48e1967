import { expect, test } from 'vitest'

import { OUTGOING_PLACES } from './outgoing-places.ts'

/** What a server that takes mail of strangers usually allows at once. */
const PER_DOMAIN = 2

test.each(Object.entries(OUTGOING_PLACES))(
  'messages of %s to one domain have two places, and leave places to others',
  (_queue, { perGroup, concurrency, slow }) => {
    expect(perGroup).toBe(PER_DOMAIN)
    expect(perGroup).toBeLessThan(concurrency + slow.places)
  },
)
