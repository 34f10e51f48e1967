import { describe, expect, test } from 'vitest'

import { directoryFault, normalDirectory, pathFault } from './artifact-path.ts'

describe('the path of an artifact’s file', () => {
  test.each(['index.html', 'functions/hello.ts', '.well-known/x', 'a b/ü.txt', '...', 'a..b'])(
    'may be %s',
    (path) => {
      expect(pathFault(path)).toBeUndefined()
    },
  )

  test.each([
    ['', 'is empty'],
    ['/etc/passwd', 'no "/" at the start'],
    ['../x', 'contains ".."'],
    ['a/../../x', 'contains ".."'],
    ['a\\..\\x', 'contains "\\"'],
    ['a//b', 'empty'],
    ['./a', '"." folder'],
    ['a/', 'empty'],
    ['a\0b', 'control character'],
    ['a\nb', 'control character'],
    ['\uD800', 'not valid Unicode'],
    ['x'.repeat(513), 'longer than 512'],
    [Array.from({ length: 40 }, () => 'a').join('/'), 'deeper than 32'],
  ])('may not be %j', (path, fault) => {
    expect(pathFault(path)).toContain(fault)
  })
})

describe('an artifact directory', () => {
  test.each([
    ['dist', 'dist'],
    ['./dist/', 'dist'],
    ['build//site', 'build/site'],
    ['.', '.'],
    ['./', '.'],
  ])('%s is written %s', (text, normal) => {
    expect(directoryFault(text)).toBeUndefined()
    expect(normalDirectory(text)).toBe(normal)
  })

  test.each([
    ['', 'is empty'],
    ['/dist', 'relative'],
    ['../dist', '..'],
    ['dist/../..', '..'],
    ['a\\b', '\\'],
  ])('may not be %j', (text, fault) => {
    expect(directoryFault(text)).toContain(fault)
  })
})
