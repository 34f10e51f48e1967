import { pictureTypeOf } from '#base/picture.ts'

import { namedFile } from './named-file.ts'
import { orNone } from './site-options.ts'

/** A picture's file as a `data:` URI; the service says what is wrong with it. */
export async function pictureOption(said: string | undefined): Promise<string | null | undefined> {
  const path = orNone(said)
  if (typeof path !== 'string') return path
  const bytes = await namedFile(path)
  return `data:${pictureTypeOf(bytes) ?? 'image/jpeg'};base64,${bytes.toString('base64')}`
}
