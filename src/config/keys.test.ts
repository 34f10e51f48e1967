import { chmodSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { openKeys, readOperatorKey } from './keys.ts'

const UNSET = { operatorKey: undefined, masterKey: undefined }

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'croft-keys-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

describe('the keys of an installation', () => {
  test('are generated once, for their owner alone', async () => {
    const first = await openKeys(dataDir, UNSET)
    expect(await openKeys(dataDir, UNSET)).toEqual(first)
    expect(first.masterKey).toHaveLength(32)
    expect(first.exposedFiles).toEqual([])
    for (const name of ['operator.key', 'master.key']) {
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600)
    }
  })

  test('are the same for all who start at once', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => openKeys(dataDir, UNSET)))
    expect(new Set(all.map(({ operatorKey }) => operatorKey)).size).toBe(1)
    expect(new Set(all.map(({ masterKey }) => masterKey.toString('hex'))).size).toBe(1)
  })

  test('leave no file when they are given', async () => {
    const masterKey = Buffer.alloc(32, 1)
    const given = { operatorKey: 'o'.repeat(32), masterKey: masterKey.toString('base64') }
    expect(await openKeys(dataDir, given)).toMatchObject({
      operatorKey: given.operatorKey,
      masterKey,
    })
    await expect(stat(join(dataDir, 'operator.key'))).rejects.toThrow('ENOENT')
  })

  test('are reported when others may read their file', async () => {
    await openKeys(dataDir, UNSET)
    const file = join(dataDir, 'master.key')
    chmodSync(file, 0o644)
    expect((await openKeys(dataDir, UNSET)).exposedFiles).toEqual([file])
  })

  test('are not replaced when their file is damaged', async () => {
    await writeFile(join(dataDir, 'master.key'), 'oops\n')
    await expect(openKeys(dataDir, UNSET)).rejects.toThrow('put it back from a backup')
    expect(await readFile(join(dataDir, 'master.key'), 'utf8')).toBe('oops\n')
  })
})

describe('the operator key', () => {
  test('is read by the command line beside the service', async () => {
    const { operatorKey } = await openKeys(dataDir, UNSET)
    expect(await readOperatorKey(dataDir, UNSET)).toBe(operatorKey)
  })

  test('is asked for by name when there is none', async () => {
    await expect(readOperatorKey(dataDir, UNSET)).rejects.toThrow('CROFT_OPERATOR_KEY')
  })
})
