import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openSandboxPrograms } from '#platform/sandbox-host/sandbox-programs.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

test('the program of the sandbox is made of its sources once for each state of them', async () => {
  await using started = new AsyncDisposableStack()
  const root = await temporaryFolder(started, 'croft-program-')
  await mkdir(join(root, 'sandbox'))
  await writeFile(join(root, 'package-lock.json'), '{}')
  await writeFile(join(root, 'sandbox/main.ts'), 'one')
  const warnings: unknown[] = []
  const log = { warn: (...line: unknown[]) => void warnings.push(line) }
  const first = await openSandboxPrograms(log, root)
  const second = await openSandboxPrograms(log, root)
  expect(second.entries).toEqual(first.entries)
  for (const path of [...Object.values(first.entries), first.mailParser]) {
    expect(path).toMatch(/\/node_modules\/\.cache\/croft\/sandbox-\w+\/[\w-]+\.js$/)
    expect(existsSync(path)).toBe(true)
  }
  expect((await first.scripts()).prelude.length).toBeGreaterThan(100_000)
  await writeFile(join(root, 'sandbox/main.ts'), 'two')
  expect((await openSandboxPrograms(log, root)).entries.host).not.toBe(first.entries.host)
  expect(await readdir(join(root, 'node_modules/.cache/croft'))).toHaveLength(2)
  expect(warnings).toEqual([])
})

test('where nothing can be written beside them the sources are run, and the log says so', async () => {
  await using started = new AsyncDisposableStack()
  const root = await temporaryFolder(started, 'croft-program-')
  await mkdir(join(root, 'sandbox'))
  await writeFile(join(root, 'package-lock.json'), '{}')
  // No folder can be made in a file, not even by root.
  await writeFile(join(root, 'node_modules'), '')
  const warnings: unknown[] = []
  const { entries } = await openSandboxPrograms(
    { warn: (...line: unknown[]) => void warnings.push(line) },
    root,
  )
  expect(entries.host).toMatch(/\/sandbox\/main\.ts$/)
  expect(warnings).toHaveLength(1)
})
