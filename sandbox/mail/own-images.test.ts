import { expect, test } from 'vitest'

import { contentIdsIn, replaceOwnImages } from './own-images.ts'
import { sanitizedHtml } from './sanitized-html.ts'

test('images of the message itself are those that sanitised HTML shows, and no words about them', () => {
  const html = sanitizedHtml(
    '<p title=\'src="cid:a"\'>src="cid:b" &lt;img src="cid:c"&gt;</p><img src="cid:d&amp;%26">' +
      '<img alt=\'<img src="cid:e"\' src="CID:%">',
  )
  expect([...contentIdsIn(html)]).toEqual(['d&&', '%'])
  expect(replaceOwnImages(html, (id) => `src="${id.length}"`)).toBe(
    '<p title="src=&quot;cid:a&quot;">src="cid:b" &lt;img src="cid:c"&gt;</p><img src="3" />' +
      '<img alt="&lt;img src=&quot;cid:e&quot;" src="1" />',
  )
})
