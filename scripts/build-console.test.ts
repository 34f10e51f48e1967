import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { BuiltConsole } from '#console/build.ts'
import { builtConsole } from '#platform/console/built-console.ts'

import { writeConsole } from './build-console.ts'

test('the service finds the console that was built with it, the same that it builds itself', async () => {
  const root = await mkdtemp(join(tmpdir(), 'croft-console-'))
  try {
    await writeConsole(join(root, 'console'))
    const built = await builtConsole(root)
    expect(built.files.length).toBeGreaterThan(1)
    expect(textsOf(built)).toEqual(textsOf(await builtConsole()))
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}, 60_000)

const textsOf = ({ files, ...entry }: BuiltConsole) => ({
  ...entry,
  files: files.map(({ path, contentType, bytes }) => [
    path,
    contentType,
    Buffer.from(bytes).toString(),
  ]),
})
