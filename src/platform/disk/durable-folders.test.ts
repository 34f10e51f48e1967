import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { flushFolder } from './durable-folders.ts'

describe('the flush of a folder', () => {
  test('has nothing to do where it is gone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'croft-flush-'))
    await expect(flushFolder(folder)).resolves.toBeUndefined()
    await rm(folder, { recursive: true })
    await expect(flushFolder(folder)).resolves.toBeUndefined()
  })

  test.skipIf(process.platform === 'win32')('says that it could not', async () => {
    await expect(flushFolder('/dev/null/folder')).rejects.toThrow('ENOTDIR')
  })
})
