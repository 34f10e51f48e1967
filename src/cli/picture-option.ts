import { readFile } from 'node:fs/promises'

import { pictureTypeOf } from '#base/picture.ts'

import { unreadableFile } from './errors.ts'
import { orNone } from './site-options.ts'

/** A picture's file as a `data:` URI; the service says what is wrong with it. */
export async function pictureOption(said: string | undefined): Promise<string | null | undefined> {
  const path = orNone(said)
  if (typeof path !== 'string') return path
  const bytes = await fileBytes(path)
  return `data:${pictureTypeOf(bytes) ?? 'image/jpeg'};base64,${bytes.toString('base64')}`
}

export async function fileBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw unreadableFile(path, cause)
  }
}
