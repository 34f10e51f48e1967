import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { systemClock } from '#base/clock.ts'
import { randomIds } from '#base/ids.ts'
import { partKey } from '#mail/objects/mail-keys.ts'
import type { StoredAttachment } from '#mail/parsing/model.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'

import { KeptParts } from './kept-parts.ts'

const SITE = 'site_1'
let dir: string
let objects: FileObjectStore
let rawId: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'croft-kept-parts-'))
  const urls = { sign: () => Promise.reject(new Error('No URL is asked for')) }
  objects = await new FileObjectStore({ dir, urls, clock: systemClock }).open()
})
afterAll(() => rm(dir, { recursive: true }))
beforeEach(() => {
  rawId = randomIds.named('raw')
})

type Given = Partial<Omit<StoredAttachment, 'sizeBytes'>> & { readonly bytes: string | Buffer }

const partOf = ({ bytes, ...given }: Given) => ({
  filename: 'a.txt',
  contentType: 'text/plain',
  contentId: null,
  inline: false,
  sizeBytes: Buffer.byteLength(bytes),
  ...given,
})

/** Attachments as they are listed, each under an id and with its object. */
async function listed(...given: readonly Given[]): Promise<StoredAttachment[]> {
  const parts = given.map((one, at) => ({ attachmentId: `att_${at + 1}`, ...partOf(one) }))
  for (const [at, { attachmentId, objectId = attachmentId }] of parts.entries()) {
    await objects.put(partKey(SITE, rawId, objectId), Buffer.from(given[at]?.bytes ?? ''))
  }
  return parts
}

const streamOf = (chunks: readonly Uint8Array[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })

/** Attachments once these were parsed again. */
async function madeOf(before: readonly StoredAttachment[], ...given: readonly Given[]) {
  const parts = new KeptParts({ objects, ids: randomIds, siteId: SITE, rawId, before })
  for (const [at, one] of given.entries()) {
    await parts.take({ place: at + 1, ...partOf(one) }, streamOf([Buffer.from(one.bytes)]))
  }
  return parts.stored()
}

async function bytesOf({ attachmentId, objectId = attachmentId }: StoredAttachment) {
  const object = await objects.get(partKey(SITE, rawId, objectId))
  return object && Buffer.from(await new Response(object.body).bytes())
}
const textsOf = async (parts: readonly StoredAttachment[]) =>
  (await Promise.all(parts.map(bytesOf))).map(String)

describe('an attachment that is parsed again', () => {
  test('stays as it is where its bytes do', async () => {
    const before = await listed({ bytes: 'one' }, { bytes: 'two' }, { bytes: '' })
    const made = await madeOf(before, { bytes: 'one' }, { bytes: 'two' }, { bytes: '' })
    expect(made).toEqual(before)
  })

  test('is known by its bytes under another name and at another place', async () => {
    const before = await listed({ bytes: 'one', filename: 'Ã¼.txt' }, { bytes: 'two' })
    const made = await madeOf(
      before,
      { bytes: 'new' },
      { bytes: 'two' },
      { bytes: 'one', filename: 'ü.txt' },
    )
    expect(made.map(({ attachmentId, filename }) => [attachmentId, filename]).slice(1)).toEqual([
      ['att_2', 'a.txt'],
      ['att_1', 'ü.txt'],
    ])
    expect(made[0]?.attachmentId).not.toMatch(/^att_[12]$/)
    expect(await textsOf(made)).toEqual(['new', 'two', 'one'])
  })

  test('keeps its id with other bytes, and the object that has the former bytes stays', async () => {
    const before = await listed({ bytes: 'a\n1\n', filename: 'a.csv' }, { bytes: 'b' })
    const made = await madeOf(before, { bytes: 'a\r\n1\r\n', filename: 'a.csv' }, { bytes: 'b' })
    expect(made.map(({ attachmentId }) => attachmentId)).toEqual(['att_1', 'att_2'])
    expect(await textsOf(made)).toEqual(['a\r\n1\r\n', 'b'])
    expect(await textsOf(before)).toEqual(['a\n1\n', 'b'])
    const again = await madeOf(made, { bytes: 'a\r\n1\r\n', filename: 'a.csv' }, { bytes: 'b' })
    expect(again).toEqual(made)
  })

  test('with another name and other bytes is known by its Content-ID, or by its place', async () => {
    const before = await listed(
      { bytes: 'x', filename: 'x', contentId: 'one@a' },
      { bytes: 'y', filename: 'y' },
    )
    const [first, second] = await madeOf(
      before,
      { bytes: 'x2', filename: 'x2', contentId: 'one@a' },
      { bytes: 'y2', filename: 'y2' },
    )
    expect([first?.attachmentId, second?.attachmentId]).toEqual(['att_1', 'att_2'])
    const [third] = await madeOf(before, { bytes: 'z', filename: 'z' })
    expect(third?.attachmentId).not.toMatch(/^att_[12]$/)
  })

  test('of several with the same bytes is the one with its name', async () => {
    const before = await listed({ bytes: 'x', filename: 'a' }, { bytes: 'x', filename: 'b' })
    const made = await madeOf(before, { bytes: 'x', filename: 'b' }, { bytes: 'x', filename: 'a' })
    expect(made.map(({ attachmentId }) => attachmentId)).toEqual(['att_2', 'att_1'])
  })

  test('has an object with its content type', async () => {
    const before = await listed({ bytes: 'x', contentType: 'application/octet-stream' })
    const [made] = await madeOf(before, { bytes: 'x', contentType: 'image/png' })
    expect(made).toMatchObject({ attachmentId: 'att_1', objectId: expect.any(String) })
    const key = partKey(SITE, rawId, made?.objectId ?? '')
    expect((await objects.head(key))?.contentType).toBe('image/png')
  })

  test('is stored again where its object is gone, or has lost bytes', async () => {
    const before = await listed({ bytes: 'one', filename: '1' }, { bytes: 'two', filename: '2' })
    await objects.delete(partKey(SITE, rawId, 'att_1'))
    await objects.put(partKey(SITE, rawId, 'att_2'), Buffer.from('tw'))
    const made = await madeOf(
      before,
      { bytes: 'one', filename: '1' },
      { bytes: 'two', filename: '2' },
    )
    expect(made.map(({ attachmentId }) => attachmentId)).toEqual(['att_1', 'att_2'])
    expect(await textsOf(made)).toEqual(['one', 'two'])
  })

  test('is stored whole, wherever it differs and however its bytes come', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 50_000 }), { minLength: 1, maxLength: 6 })
    const share = fc.double({ min: 0, max: 0.999, noNaN: true })
    await fc.assert(
      fc.asyncProperty(sizes, share, fc.boolean(), async (lengths, at, differs) => {
        rawId = randomIds.named('raw')
        const chunks = lengths.map((length) => randomBytes(length))
        const bytes = Buffer.concat(chunks)
        const old = Buffer.from(bytes)
        if (differs)
          old.writeUInt8(
            old.readUInt8(Math.floor(at * old.length)) ^ 1,
            Math.floor(at * old.length),
          )
        const before = await listed(
          { bytes: randomBytes(old.length), filename: 'b' },
          { bytes: old },
        )
        const parts = new KeptParts({ objects, ids: randomIds, siteId: SITE, rawId, before })
        await parts.take({ place: 1, ...partOf({ bytes }) }, streamOf(chunks))
        const [made] = parts.stored()
        expect(made).toMatchObject({ attachmentId: 'att_2' })
        expect(made && 'objectId' in made).toBe(differs)
        expect(made && (await bytesOf(made))).toEqual(bytes)
      }),
      { numRuns: 60 },
    )
  })
})
