import { expect, test } from 'vitest'

import { columns } from './columns.ts'

test('columns begin below each other, whatever script is before them', () => {
  const names = ['Ann', '東京都', 'ﾀﾜｰ', 'ประชุม', 'हिन्दी', '서울', '👩‍👧', 'e\u0301', '']
  const lines = columns(names.map((name) => [name, '|'])).split('\n')
  expect(lines).toEqual([
    'Ann     |',
    '東京都  |',
    'ﾀﾜｰ     |',
    `ประชุม${' '.repeat(3)}|`,
    expect.stringMatching(/^हिन्दी +\|$/),
    '서울    |',
    '👩‍👧      |',
    'e\u0301       |',
    '        |',
  ])
})
