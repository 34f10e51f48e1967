import { describe, expect, test } from 'vitest'

import { type ArtifactFile, checkCode, checkFiles, codeFilesOf, dataFilesOf } from './model.ts'

const file = (path: string, sizeBytes = 1, digit = 'a'): ArtifactFile => ({
  path,
  sha256: digit.repeat(64),
  sizeBytes,
})

describe('the files of a deployment', () => {
  test('may share their contents', () => {
    expect(() => checkFiles([file('a'), file('b')])).not.toThrow()
  })

  test.each<[string, ArtifactFile[], string]>([
    ['none', [], 'is empty'],
    ['a path twice', [file('a'), file('a')], '"a" is listed twice'],
    ['a climbing path', [file('../a')], 'the path "../a" contains ".."'],
    ['one hash with two sizes', [file('a', 1), file('b', 2)], 'but not its size'],
    ['a long file', [file('a', 2 ** 30)], 'a file may have'],
    [
      'much together',
      Array.from({ length: 9 }, (_, at) => file(`${at}`, 2 ** 25, `${at}`)),
      '268435456 are allowed',
    ],
    ['too many', Array.from({ length: 5001 }, (_, at) => file(`${at}`)), 'more than 5000'],
  ])('are refused when there are %s', (_what, files, message) => {
    expect(() => checkFiles(files)).toThrow(message)
  })

  test('are code where functions may import them, which public files are not', () => {
    const files = [file('a.json', 2 ** 24), file('web/app.js', 2 ** 24), file('public/b.js')]
    const code = codeFilesOf(files, { directory: 'web' })
    expect(code.map(({ path }) => path)).toEqual(['a.json', 'public/b.js'])
    expect(() => checkCode(code)).toThrow('10485760 are allowed')
    expect(() => checkCode(code.slice(1))).not.toThrow()
  })
  test('are data where functions may read them, until they are too many', () => {
    const files = ['e', 'd', 'c', 'b', 'a'].map((name) => file(`${name}.txt`, 2 ** 20))
    const others = [
      file('large.bin', 2 ** 20 + 1),
      file('web/p.txt'),
      file('a.ts'),
      file('a.js.map'),
    ]
    const data = dataFilesOf([...files, ...others], { directory: 'web' })
    expect(data.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt'])
  })
})
