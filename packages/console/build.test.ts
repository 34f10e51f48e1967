import { gzipSync } from 'node:zlib'

import { beforeAll, describe, expect, test } from 'vitest'

import { type BuiltConsole, buildConsole } from './build.ts'

const KB = 1024
/** The shell and one screen. */
const BUDGET = 60 * KB

let built: BuiltConsole
beforeAll(async () => {
  built = await buildConsole()
})

const sizeOf = (path: string): number => {
  const file = built.files.find((one) => one.path === path)
  if (!file) throw new Error(`There is no ${path}`)
  return gzipSync(file.bytes).length
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0)

describe('the built console', () => {
  test('takes at most 60 KB gzipped for the shell and its largest screen', () => {
    const atOnce = [built.entry, built.styles, ...built.preloads]
    const later = built.files.map(({ path }) => path).filter((path) => !atOnce.includes(path))
    const largest = Math.max(...later.map(sizeOf))
    expect(sum(atOnce.map(sizeOf)) + largest).toBeLessThan(BUDGET)
  })

  test('names every file by its content, below a path of its own', () => {
    for (const { path } of built.files)
      expect(path).toMatch(/^\/-\/console\/[\w-]+-[A-Z0-9]{8}\.\w+$/)
  })

  test('serves scripts and styles and nothing else', () => {
    const types = new Set(built.files.map(({ contentType }) => contentType))
    expect(types).toEqual(new Set(['text/javascript; charset=utf-8', 'text/css; charset=utf-8']))
  })

  test('is the same when it is built again', async () => {
    expect(await buildConsole()).toEqual(built)
  })
})
