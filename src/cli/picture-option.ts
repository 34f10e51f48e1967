import { readFile } from 'node:fs/promises'

import { CommandError } from './errors.ts'

/** `none` takes away. */
export const orNone = (text: string | undefined): string | null | undefined =>
  text === 'none' ? null : text

/** A picture's file as a `data:` URI; the service says what is wrong with it. */
export async function pictureIn(path: string): Promise<string> {
  const bytes = await fileBytes(path)
  return `data:image/${kindOf(bytes)};base64,${bytes.toString('base64')}`
}

export async function fileBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new CommandError(`"${path}" cannot be read: ${String(error)}`)
  }
}

function kindOf(bytes: Buffer): string {
  if (bytes[0] === 0x89) return 'png'
  return bytes.subarray(0, 4).toString('latin1') === 'RIFF' ? 'webp' : 'jpeg'
}
