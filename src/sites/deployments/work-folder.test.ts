import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { openWorkFolder } from './work-folder.ts'

const now = new Date('2026-03-01T12:00:00Z')
const clock = { now: () => now }
let parent: string
let workDir: string

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'croft-work-'))
  workDir = join(parent, 'work')
})

afterEach(() => rm(parent, { recursive: true, force: true }))

/** Opens a folder with a file in it that was last changed so long ago, as if its process had been killed. */
async function leaveBehind(minutes: number): Promise<string> {
  const { path } = await openWorkFolder({ workDir, clock })
  await writeFile(join(path, 'index.html'), 'left')
  const changed = new Date(now.getTime() - minutes * 60_000)
  await utimes(path, changed, changed)
  return basename(path)
}

describe('a work folder', () => {
  test('is empty, and gone once it is released', async () => {
    {
      await using folder = await openWorkFolder({ workDir, clock })
      expect(await readdir(folder.path)).toEqual([])
      await writeFile(join(folder.path, 'index.html'), 'used')
    }
    expect(await readdir(workDir)).toEqual([])
  })

  test('removes what a killed process left an hour ago, and nothing that may be in use', async () => {
    const recent = await leaveBehind(59)
    await leaveBehind(61)
    await using folder = await openWorkFolder({ workDir, clock })
    const kept = (await readdir(workDir)).toSorted()
    expect(kept).toEqual([recent, basename(folder.path)].toSorted())
  })
})
