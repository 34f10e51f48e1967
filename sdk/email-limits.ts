import type { Attachment } from './email.ts'
import { invalidInput } from './error.ts'

const MIB = 1024 * 1024
const MAX_FILES = 10
const MAX_FILE_MIB = 10
const MAX_TOTAL_MIB = 15

/** Their bytes together. Refuses what the service would refuse, before any of it is sent. */
export function attachedBytes(attachments: readonly Attachment[]): number {
  if (attachments.length > MAX_FILES) {
    throw invalidInput(`attachments: at most ${MAX_FILES}, not ${attachments.length}`)
  }
  let total = 0
  for (const [index, { filename, contentBase64 }] of attachments.entries()) {
    const sizeBytes = decodedBytes(contentBase64)
    const field = `attachments[${index}]`
    if (sizeBytes === undefined) throw invalidInput(`${field}.contentBase64: is not base64`)
    if (sizeBytes > MAX_FILE_MIB * MIB) {
      throw invalidInput(`${field}: "${filename}" has more than ${MAX_FILE_MIB} MiB`)
    }
    total += sizeBytes
  }
  if (total > MAX_TOTAL_MIB * MIB) {
    throw invalidInput(`attachments: together they have more than ${MAX_TOTAL_MIB} MiB`)
  }
  return total
}

/** How many bytes padded base64 (RFC 4648 §4) stands for, or undefined for other text. */
function decodedBytes(text: string): number | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - padding
}
