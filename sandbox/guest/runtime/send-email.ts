import { indexOf, jsonParse, jsonStringifyWith, slice } from '#sandbox/guest/web/primordials.ts'

import { callHostFor } from './host-calls.ts'

export type SendEmail = (message: unknown) => Promise<unknown>

/** Base64 up to this length stays in the message: ten such files and two long texts fit into one host call. */
const MAX_INLINE_LENGTH = 256 * 1024
/** Of base64 in one host call: a multiple of four. */
const PART_LENGTH = 4 * 1024 * 1024

/** A large file of a message, in base64. Linked, because site code can hook what arrays do. */
interface LargeFile {
  readonly base64: string
  /** Its reference in the message, once its parts are staged. */
  staged: unknown
  next: LargeFile | undefined
}

/** Sends large files ahead, part by part: no host call then holds the service up for long. */
export function sendEmailOf(call: number): SendEmail {
  return async (message) => {
    const { mailbox, first } = largeFilesOf(message)
    for (let file = first; file !== undefined; file = file.next) {
      file.staged = await stage(call, mailbox, file.base64)
    }
    let next = first
    const text = jsonStringifyWith(message, (key, value) => {
      if (next === undefined || !isLarge(key, value)) return value
      const { staged } = next
      next = next.next
      return staged
    })
    return jsonParse(await callHostFor(call, 'sendEmail', text ?? 'null'))
  }
}

/** None where no mailbox is named: the service says that one must be. */
function largeFilesOf(message: unknown): {
  readonly mailbox: string
  readonly first: LargeFile | undefined
} {
  let mailbox = ''
  let first: LargeFile | undefined
  let last: LargeFile | undefined
  jsonStringifyWith(message, (key, value) => {
    if (key === 'mailbox' && typeof value === 'string' && indexOf(value, '\n') < 0) mailbox = value
    if (!isLarge(key, value)) return value
    const file: LargeFile = { base64: value, staged: null, next: undefined }
    if (last === undefined) first = file
    else last.next = file
    last = file
    return null
  })
  return { mailbox, first: mailbox === '' ? undefined : first }
}

const isLarge = (key: string, value: unknown): value is string =>
  (key === 'raw' || key === 'contentBase64') &&
  typeof value === 'string' &&
  value.length > MAX_INLINE_LENGTH

async function stage(call: number, mailbox: string, base64: string): Promise<unknown> {
  let refs = ''
  for (let at = 0; at < base64.length; at += PART_LENGTH) {
    const part = `${mailbox}\n${slice(base64, at, at + PART_LENGTH)}`
    const ref = await callHostFor(call, 'mailPart', part)
    refs = refs === '' ? ref : `${refs},${ref}`
  }
  return jsonParse(`{"parts":[${refs}]}`)
}
