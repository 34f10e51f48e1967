import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { beforeEach, describe, expect, test, vi } from 'vitest'

import { Ballast, BALLAST_BYTES } from './ballast.ts'
import { DiskSpace, type DiskSpaceDeps } from './disk-space.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const log = {
  error: vi.fn<DiskSpaceDeps['log']['error']>(),
  warn: vi.fn<DiskSpaceDeps['log']['warn']>(),
  info: vi.fn<DiskSpaceDeps['log']['info']>(),
}
const free = new Map<string, number | Error>()
const freeSpace = async (folder: string) => {
  const freeBytes = free.get(folder) ?? 100 * GIB
  if (freeBytes instanceof Error) throw freeBytes
  return { freeBytes, totalBytes: 100 * GIB }
}
const open = (deps: Partial<DiskSpaceDeps> = {}) =>
  DiskSpace.open({
    places: { folder: '/data', database: '/database' },
    reserveBytes: 100 * MIB,
    log,
    freeSpace,
    ...deps,
  })

beforeEach(() => {
  vi.clearAllMocks()
  free.clear()
})

describe('the room on a disk', () => {
  test('is refused below the reserve, and given again above it and a quarter more', async () => {
    using disk = await open()
    expect(() => disk.check('database')).not.toThrow()
    for (const [mib, isFull] of [
      [101, false],
      [99, true],
      [124, true],
      [125, false],
      [101, false],
    ] as const) {
      free.set('/database', mib * MIB)
      await disk.look()
      expect([mib, disk.isFull('database')]).toEqual([mib, isFull])
    }
  })

  test('is that of the places that are asked for', async () => {
    free.set('/database', 0)
    using disk = await open()
    expect(() => disk.check('folder', 'objects')).not.toThrow()
    const refusal = { code: 'DiskFull', retryAfterSeconds: 30, isLogged: true }
    expect(() => disk.check('folder', 'database')).toThrow(expect.objectContaining(refusal))
  })

  test('is watched without being asked', async () => {
    using disk = await open()
    free.set('/database', 0)
    await expect.poll(() => disk.isFull('database'), { timeout: 10_000 }).toBe(true)
    free.delete('/database')
    await expect.poll(() => disk.isFull('database'), { timeout: 10_000 }).toBe(false)
  })

  test('is reported once at the beginning and once at the end, with the number of refusals', async () => {
    using disk = await open()
    free.set('/database', 0)
    for (let time = 0; time < 3; time += 1) {
      await disk.look()
      expect(() => disk.check('database')).toThrow('no room left')
    }
    free.delete('/database')
    await disk.look()
    await disk.look()
    expect(log.error.mock.calls).toEqual([
      [
        { disks: [expect.objectContaining({ path: '/database', freeBytes: 0 })] },
        'a disk is full: writes are refused until there is room',
      ],
    ])
    expect(log.info.mock.calls).toEqual([
      [{ fullMs: expect.any(Number), refused: 3 }, 'there is room on the disk again'],
    ])
    expect(log.warn).not.toHaveBeenCalled()
  })

  test('is what it was while it cannot be measured, which is logged once', async () => {
    free.set('/database', 0)
    using disk = await open()
    free.set('/database', new Error('stale'))
    await disk.look()
    await disk.look()
    expect(disk.isFull('database')).toBe(true)
    expect(log.warn).toHaveBeenCalledOnce()
  })

  test.each([
    ['512 MB', 100 * GIB, 512 * MIB],
    ['a tenth of a small disk', GIB, Math.floor(GIB / 10)],
  ])('has a reserve of %s by default', async (_what, totalBytes, reserveBytes) => {
    using disk = await open({
      reserveBytes: undefined,
      freeSpace: async () => ({ freeBytes: totalBytes, totalBytes }),
    })
    expect(disk.disks[0]).toMatchObject({ reserveBytes, isFull: false })
  })

  test('has a ballast while space gets less, and removes it when other programs take the rest', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'croft-ballast-'))
    const path = join(folder, 'ballast')
    const sizeOf = () =>
      stat(path).then(
        ({ blocks }) => blocks * 512,
        () => 0,
      )
    try {
      using disk = await open({ ballast: new Ballast(path) })
      expect(await sizeOf()).toBe(0)
      for (const [mib, hasBallast] of [
        [1400, true],
        [150, true],
        [50, true],
        [10, false],
        [130, false],
        [190, true],
      ] as const) {
        free.set('/database', mib * MIB)
        await Promise.all([disk.look(), disk.look()])
        expect([mib, (await sizeOf()) >= BALLAST_BYTES]).toEqual([mib, hasBallast])
      }
      const cannot = [expect.anything(), 'the ballast of the database cannot be kept']
      expect(log.warn).not.toHaveBeenCalledWith(...cannot)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
