import { Type } from '@sinclair/typebox'

import { invalid } from './app-error.ts'

/** Of the picture's bytes; the text is a third longer. */
const MAX_PICTURE_BYTES = 32 * 1024

export type PictureType = 'image/png' | 'image/jpeg' | 'image/webp'
export interface Picture {
  readonly bytes: Buffer
  readonly type: PictureType
}

/** A picture as a `data:` URI. */
export const PictureText = Type.String({
  maxLength: Math.ceil((MAX_PICTURE_BYTES * 4) / 3) + 64,
  pattern: '^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$',
  fault: `must be a PNG, JPEG or WebP picture of ${MAX_PICTURE_BYTES / 1024} KiB at most, as "data:image/png;base64,…"`,
})

const DATA_URI = /^data:(image\/(?:png|jpeg|webp));base64,(.+)$/

/** What files of each kind begin with. */
const BEGINS: Record<PictureType, (bytes: Buffer) => boolean> = {
  'image/png': (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
  'image/jpeg': (bytes) => bytes.subarray(0, 3).toString('latin1') === '\xff\xd8\xff',
  'image/webp': (bytes) =>
    bytes.subarray(0, 4).toString('latin1') === 'RIFF' &&
    bytes.subarray(8, 12).toString('latin1') === 'WEBP',
}

/** What a file begins as; undefined for what is no such picture. */
export const pictureTypeOf = (bytes: Buffer): PictureType | undefined =>
  Object.keys(BEGINS)
    .filter(isPictureType)
    .find((type) => BEGINS[type](bytes))

/** The picture of a `data:` URI. 400 for what is no such picture, whatever it says that it is. */
export function readPicture(field: string, uri: string): Picture {
  const [, type, encoded] = DATA_URI.exec(uri) ?? []
  const bytes = Buffer.from(encoded ?? '', 'base64')
  if (bytes.length > MAX_PICTURE_BYTES)
    throw invalid(field, `has more than ${MAX_PICTURE_BYTES} bytes`)
  if (!isPictureType(type) || !BEGINS[type](bytes))
    throw invalid(field, 'is not the picture it says')
  return { bytes, type }
}

const isPictureType = (type: string | undefined): type is PictureType =>
  type !== undefined && Object.hasOwn(BEGINS, type)
