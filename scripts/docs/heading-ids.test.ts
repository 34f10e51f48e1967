import { expect, test } from 'vitest'

import { HeadingIds } from './heading-ids.ts'

test('ids of headings have no punctuation, and a number where there are several', () => {
  const ids = new HeadingIds()
  expect(
    ['GET /admin/api', 'Limits', 'Limits', 'See [the page](x.md), `now`', 'Größe & Zahl'].map(
      (text) => ids.idOf(text),
    ),
  ).toEqual(['get-adminapi', 'limits', 'limits-1', 'see-the-page-now', 'größe--zahl'])
})
