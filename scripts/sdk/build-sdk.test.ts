import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { buildSdk } from './build-sdk.ts'

const BROWSER_LIMIT_BYTES = 10_000

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-sdk-'))
  await buildSdk(resolve(import.meta.dirname, '../..'), folder)
})
afterAll(() => rm(folder, { recursive: true }))

test('what a browser loads of the SDK is at most 10 KB, compressed', async () => {
  const names = await readdir(folder)
  const loaded = names.filter((name) => name === 'client.js' || name.startsWith('shared-'))
  expect(loaded).toHaveLength(2)
  const sizes = await Promise.all(
    loaded.map(async (name) => gzipSync(await readFile(join(folder, name))).length),
  )
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(BROWSER_LIMIT_BYTES)
})

test('the SDK depends on nothing', async () => {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  expect(manifest).not.toHaveProperty('dependencies')
  for (const name of (await readdir(folder)).filter((file) => file.endsWith('.js'))) {
    const imported = (await readFile(join(folder, name), 'utf8')).matchAll(/from\s*"([^"]+)"/g)
    for (const [, source] of imported) expect(source).toMatch(/^\.\//)
  }
})
