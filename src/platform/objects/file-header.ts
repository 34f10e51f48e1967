import type { FileHandle } from 'node:fs/promises'

import type { ObjectHead } from './object-store.ts'

const MAGIC = Buffer.from('CroftOb1')
/** Magic, length of the description, size, time, MD5. */
const FIXED_BYTES = 8 + 4 + 8 + 8 + 16
const MAX_DESCRIPTION_BYTES = 16_384
const FIRST_READ_BYTES = 1024

/** What is known before the body is: it is part of the file from the start, so that one rename publishes all. */
export interface Description {
  readonly key: string
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
}

/** What only the whole body tells. */
export interface Measure {
  readonly sizeBytes: number
  readonly lastModified: Date
  readonly md5: Buffer
}

export interface FileHeader {
  readonly head: ObjectHead
  /** Where the body starts. */
  readonly bodyOffset: number
}

export function encodeHeader(description: Description, measure: Measure): Buffer {
  const words = Buffer.from(JSON.stringify(description))
  const fixed = Buffer.alloc(FIXED_BYTES)
  MAGIC.copy(fixed)
  fixed.writeUInt32BE(words.length, 8)
  fixed.writeBigUInt64BE(BigInt(measure.sizeBytes), 12)
  fixed.writeBigUInt64BE(BigInt(measure.lastModified.getTime()), 20)
  measure.md5.copy(fixed, 28)
  return Buffer.concat([fixed, words])
}

/** Throws when the file is damaged or was not written by `encodeHeader`. */
export async function readHeader(file: FileHandle): Promise<FileHeader> {
  const first = await readAt(file, 0, FIRST_READ_BYTES)
  if (first.length < FIXED_BYTES || !first.subarray(0, 8).equals(MAGIC)) throw damaged()
  const length = first.readUInt32BE(8)
  if (length > MAX_DESCRIPTION_BYTES) throw damaged()
  const bodyOffset = FIXED_BYTES + length
  const whole =
    bodyOffset <= first.length
      ? first
      : Buffer.concat([first, await readAt(file, first.length, bodyOffset - first.length)])
  if (whole.length < bodyOffset) throw damaged()
  const words = whole.subarray(FIXED_BYTES, bodyOffset).toString()
  // Written by `encodeHeader` alone, and published only when complete.
  const description = JSON.parse(words) as Description
  return {
    bodyOffset,
    head: {
      ...description,
      sizeBytes: Number(first.readBigUInt64BE(12)),
      lastModified: new Date(Number(first.readBigUInt64BE(20))),
      etag: etagOf(first.subarray(28, FIXED_BYTES)),
    },
  }
}

/** The ETag that S3 gives an object which came in one piece. */
export const etagOf = (md5: Buffer): string => `"${md5.toString('hex')}"`

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, position)
  return buffer.subarray(0, bytesRead)
}

const damaged = (): Error => new Error('A file in the object folder is damaged: no object header')
