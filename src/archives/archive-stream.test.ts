import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'

import { packTar } from 'modern-tar'
import { describe, expect, test } from 'vitest'

import { type ArchiveHeader, DEFAULT_MAX_BYTES, entryName } from './archive-format.ts'
import { readArchive } from './archive-reader.ts'
import { type ArchiveEntry, writeArchive } from './archive-writer.ts'
import { verifyArchive } from './verified-archive.ts'

const HEADER: ArchiveHeader = {
  format: 'croft-site',
  formatVersion: 1,
  productVersion: '0.1.0',
  exportedAt: '2026-01-02T03:04:05.000Z',
  parts: ['definition', 'objects'],
  site: { domain: 'shop.test', currentDeploymentId: null },
  passphrase: null,
}
const FACTS = { rows: { data_group: 1 }, objects: 1, missingSecrets: [] }
const ROWS = Buffer.from('{"table":"data_group"}\n{"group_name":"a"}\n')
const OBJECT = randomBytes(300_000)

async function* entries(): AsyncGenerator<ArchiveEntry, typeof FACTS, undefined> {
  const one = (
    part: 'definition' | 'objects',
    kind: 'rows' | 'object' | 'bytes',
    body: Buffer,
  ) => ({
    name: { part, number: 1, kind },
    sizeBytes: body.byteLength,
    body: [body],
  })
  yield one('definition', 'rows', ROWS)
  yield one('objects', 'object', Buffer.from('{}'))
  yield one('objects', 'bytes', OBJECT)
  return FACTS
}

const archive = async () => Buffer.concat(await Array.fromAsync(writeArchive(HEADER, entries())))
const verify = async (bytes: Uint8Array, maxBytes = DEFAULT_MAX_BYTES) =>
  verifyArchive(chunked(bytes), maxBytes)

async function* chunked(bytes: Uint8Array) {
  for (let at = 0; at < bytes.byteLength; at += 10_000) yield bytes.subarray(at, at + 10_000)
}

/** The archive as another tar would have it. */
const packed = async (change: (entry: { name: string; data: Buffer }) => object | undefined) => {
  const found: { header: object; data: Buffer }[] = []
  for await (const { name, bytes } of readArchive(chunked(await archive()), DEFAULT_MAX_BYTES)) {
    const data = Buffer.concat(await Array.fromAsync(bytes))
    const header = change({ name, data })
    if (header === undefined) continue
    const body =
      'data' in header && Buffer.isBuffer(header.data)
        ? header.data
        : data.subarray(0, 'linkname' in header ? 0 : data.byteLength)
    found.push({ header: { name, size: body.byteLength, type: 'file', ...header }, data: body })
  }
  return gzipSync(await packTar(found as Parameters<typeof packTar>[0]))
}

describe('an archive', () => {
  test('is read as it was written', async () => {
    const found: [string, Buffer][] = []
    for await (const { name, bytes } of readArchive(chunked(await archive()), DEFAULT_MAX_BYTES)) {
      found.push([name, Buffer.concat(await Array.fromAsync(bytes))])
    }
    expect(found[3]?.[1].equals(OBJECT)).toBe(true)
    expect(found.map(([name]) => name)).toEqual([
      'croft-site.json',
      'definition/00000001.ndjson',
      'objects/00000001.json',
      'objects/00000001.bin',
      'manifest.json',
    ])
    const verified = await verify(await archive())
    expect(verified.header).toEqual(HEADER)
    expect(verified.manifest).toMatchObject(FACTS)
  })

  test('is what any tar reads', async () => {
    const tar = gunzipSync(await archive())
    expect(tar.byteLength % 512).toBe(0)
    expect(tar.toString('latin1', 257, 262)).toBe('ustar')
  })

  test('breaks off when its source fails', async () => {
    const failing = async function* (): AsyncGenerator<ArchiveEntry, typeof FACTS, undefined> {
      yield* entries()
      throw new Error('the disk is gone')
    }
    await expect(Array.fromAsync(writeArchive(HEADER, failing()))).rejects.toThrow('disk is gone')
  })
})

describe('what is no whole export is refused', () => {
  const INVALID = { code: 'InvalidArchive' }

  test('cut short at any place', async () => {
    const whole = await archive()
    for (const part of [0, 1, 20, 0.3, 0.9, 0.999]) {
      const length = part < 1 ? Math.floor(whole.byteLength * part) : part
      await expect(verify(whole.subarray(0, length)), String(part)).rejects.toMatchObject(INVALID)
    }
  })

  test('with a changed byte', async () => {
    const tar = gunzipSync(await archive())
    const at = tar.indexOf(OBJECT.subarray(0, 64))
    tar.writeUInt8(tar.readUInt8(at) ^ 1, at)
    await expect(verify(gzipSync(tar))).rejects.toMatchObject({
      ...INVALID,
      message: expect.stringContaining('"objects" is not what the manifest says'),
    })
  })

  test('something else', async () => {
    await expect(verify(randomBytes(5000))).rejects.toMatchObject(INVALID)
    await expect(verify(gzipSync(randomBytes(5000)))).rejects.toMatchObject(INVALID)
    await expect(verify(gzipSync(Buffer.alloc(4096)))).rejects.toMatchObject(INVALID)
  })

  test.each([
    ['an entry less', ({ name }: { name: string }) => (name.endsWith('.bin') ? undefined : {})],
    [
      'without a manifest',
      ({ name }: { name: string }) => (name === 'manifest.json' ? undefined : {}),
    ],
    [
      'a name that climbs',
      ({ name }: { name: string }) => (name.endsWith('.bin') ? { name: '../../etc/cron.d/x' } : {}),
    ],
    [
      'a name that is absolute',
      ({ name }: { name: string }) => (name.endsWith('.bin') ? { name: '/etc/passwd' } : {}),
    ],
    [
      'a name that comes twice',
      ({ name }: { name: string }) =>
        name.endsWith('.bin') ? { name: 'objects/00000001.json' } : {},
    ],
    [
      'a link',
      ({ name }: { name: string }) =>
        name.endsWith('.bin') ? { type: 'symlink', linkname: '/etc/passwd' } : {},
    ],
  ])('with %s', async (_what, change) => {
    await expect(verify(await packed(change))).rejects.toMatchObject(INVALID)
  })

  test('of a later format, by its number', async () => {
    const data = Buffer.from(JSON.stringify({ format: 'croft-site', formatVersion: 2, news: true }))
    const later = await packed(({ name }) => (name === 'croft-site.json' ? { data } : {}))
    await expect(verify(later)).rejects.toMatchObject({
      code: 'UnsupportedArchive',
      message: expect.stringContaining('format 2'),
    })
  })
})

describe('a bomb is refused', () => {
  test('by what it unpacks to', async () => {
    await expect(verify(await archive(), 100_000)).rejects.toMatchObject({
      code: 'ArchiveTooLarge',
      message: expect.stringContaining('100000 bytes'),
    })
  })

  test('by an entry that says how long it is', async () => {
    const data = Buffer.alloc(49 * 1024 * 1024)
    const bomb = await packed(({ name }) => (name.startsWith('definition/') ? { data } : {}))
    expect(bomb.byteLength).toBeLessThan(1024 * 1024)
    await expect(verify(bomb)).rejects.toMatchObject({
      code: 'ArchiveTooLarge',
      message: expect.stringContaining(entryName({ part: 'definition', number: 1, kind: 'rows' })),
    })
  })
})
