import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'

import { unreadableFile } from './errors.ts'

/** Reads a file that the caller named. Throws a `CommandError` when it cannot be read. */
export const namedFile = (file: string): Promise<Buffer> =>
  readFile(file).catch((cause: unknown) => {
    throw unreadableFile(file, cause)
  })

/** The same as UTF-8 text. */
export const namedText = async (file: string): Promise<string> =>
  (await namedFile(file)).toString('utf8')

/** The same, with `-` for standard input. */
export const namedInput = (file: string): Promise<string> =>
  file === '-'
    ? text(process.stdin).catch((cause: unknown) => {
        throw unreadableFile(file, cause)
      })
    : namedText(file)
