import type { Attachment } from './email.ts'
import { CroftError, invalidInput } from './error.ts'

const MIB = 1024 * 1024
const MAX_FILES = 10
const MAX_FILE_MIB = 10
const MAX_TOTAL_MIB = 15
const MAX_RAW_MIB = 25

/** Their bytes together. Refuses what the service would refuse, in its codes, before any of it is sent. */
export function attachedBytes(attachments: readonly Attachment[]): number {
  if (attachments.length > MAX_FILES) {
    throw new CroftError(`attachments: at most ${MAX_FILES}, not ${attachments.length}`, {
      code: 'TooManyAttachments',
      status: 400,
    })
  }
  let total = 0
  for (const [index, { filename, contentBase64 }] of attachments.entries()) {
    const field = `attachments[${index}]`
    const sizeBytes = decodedBytes(`${field}.contentBase64`, contentBase64)
    if (sizeBytes > MAX_FILE_MIB * MIB) {
      const words = `${field}: "${filename}" has ${sizeBytes} bytes, more than ${MAX_FILE_MIB} MiB`
      throw new CroftError(words, { code: 'AttachmentTooLarge', status: 413 })
    }
    total += sizeBytes
  }
  if (total > MAX_TOTAL_MIB * MIB) {
    const words = `attachments: together they have ${total} bytes, more than ${MAX_TOTAL_MIB} MiB`
    throw new CroftError(words, { code: 'AttachmentsTooLarge', status: 413 })
  }
  return total
}

/** The same of a whole message. */
export function rawBytes(raw: string): number {
  const sizeBytes = decodedBytes('raw', raw)
  if (sizeBytes <= MAX_RAW_MIB * MIB) return sizeBytes
  const words = `raw: the message has ${sizeBytes} bytes, more than ${MAX_RAW_MIB} MiB`
  throw new CroftError(words, { code: 'MessageTooLarge', status: 413 })
}

/** How many bytes padded base64 (RFC 4648 §4) stands for. */
function decodedBytes(field: string, text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const digits = text.slice(0, text.length - padding)
  // Nothing to go back to in it: a pattern for the whole would keep a place for each of millions of characters.
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(digits)) {
    throw invalidInput(`${field}: is not base64`)
  }
  return (text.length / 4) * 3 - padding
}
