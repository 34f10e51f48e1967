import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { mutated, staleLines } from './mutation.ts'
import { MUTATIONS } from './mutations.ts'

test('the list fits the sources', () => {
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(60)
  expect(staleLines(join(import.meta.dirname, '../..'), MUTATIONS)).toEqual([])
})

test('a list that does not fit is stale, and says where', async () => {
  const root = await mkdtemp(join(tmpdir(), 'croft-mutations-'))
  try {
    await writeFile(join(root, 'a.ts'), 'one two two $&')
    const of = (name: string, text: string, replacement: string, file = 'a.ts') => ({
      name,
      file,
      text,
      replacement,
      why: '',
      tests: ['a.ts'],
    })
    const dollars = of('fits', '$&', '$$')
    expect(
      staleLines(root, [
        dollars,
        of('fits', 'one', ''),
        of('none', 'three', ''),
        of('several', 'two', ''),
        of('same', 'one', 'one'),
        of('elsewhere', 'one', '', 'b.ts'),
      ]),
    ).toEqual([
      '"fits" has the name of another one',
      '"none" replaces a text that occurs 0 times in "a.ts", not once',
      '"several" replaces a text that occurs 2 times in "a.ts", not once',
      '"same" changes nothing',
      '"elsewhere" names "b.ts", which is not there',
    ])
    expect(mutated('one two two $&', dollars)).toBe('one two two $$')
  } finally {
    await rm(root, { recursive: true })
  }
})
