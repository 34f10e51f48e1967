import { DATA_URL } from '#sandbox/modules/data-files.ts'

import { decodeBase64 } from './base64.ts'
import { denoError } from './deno-errors.ts'
import { notCapable } from './deno-refusals.ts'
import { host } from './host.ts'
import { defineOperation } from './interface.ts'
import { ARTIFACT_ROOT, fileOfUrl, joinPath } from './paths.ts'
import { indexOf, PromiseClass, reflectGet, slice, startsWith, toText } from './primordials.ts'
import { decodeUtf8, encodeUtf8 } from './utf8.ts'

const readTextFileSync = defineOperation('readTextFileSync', 1, (path: unknown): string => {
  const content = contentOf(path)
  return isText(content) ? content : decodeUtf8(bytesOf(content))
})

const readFileSync = defineOperation('readFileSync', 1, (path: unknown) => bytesOf(contentOf(path)))

/** Reads the files of the function's own artifact, and nothing else. Relative paths start at its root. */
export const denoFiles = {
  cwd: defineOperation('cwd', 0, () => ARTIFACT_ROOT),
  readTextFileSync,
  readFileSync,
  readTextFile: defineOperation('readTextFile', 1, promised(readTextFileSync)),
  readFile: defineOperation('readFile', 1, promised(readFileSync)),
}

/** The text of a file, or a data URL where it is not text. */
const isText = (content: string): boolean => !startsWith(content, DATA_URL)

/** Bytes of what the host keeps of a file. */
export const bytesOf = (content: string): Uint8Array<ArrayBuffer> =>
  isText(content)
    ? encodeUtf8(content)
    : (decodeBase64(slice(content, DATA_URL.length)) ?? new Uint8Array())

function contentOf(given: unknown): string {
  const name = nameOf(given)
  if (name === '') throw new Error('Empty path is not allowed')
  if (indexOf(name, '\0') !== -1) throw new TypeError('file name contained an unexpected NUL byte')
  const path = joinPath(ARTIFACT_ROOT, name)
  const root = `${ARTIFACT_ROOT}/`
  if (!startsWith(path, root)) throw notCapable('read', name)
  const content = host.readFile(slice(path, root.length))
  if (content === undefined)
    throw denoError(
      'NotFound',
      `No such file or directory (os error 2): readfile '${name}'`,
      'ENOENT',
    )
  return content
}

function nameOf(given: unknown): string {
  if (typeof given === 'object' && given !== null && 'href' in given)
    return fileOfUrl(toText(reflectGet(given, 'href')))
  return given === undefined ? '' : toText(given)
}

function promised<Result>(read: (path: unknown) => Result): (path: unknown) => Promise<Result> {
  return (path) =>
    new PromiseClass((resolve, reject) => {
      try {
        resolve(read(path))
      } catch (error) {
        reject(error as Error)
      }
    })
}
