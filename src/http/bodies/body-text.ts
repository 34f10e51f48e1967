import { AppError } from '#base/app-error.ts'

const strict = new TextDecoder('utf-8', { fatal: true })

/** The text of a body in JSON, which is UTF-8 (RFC 8259, section 8.1). Replaced bytes would be stored as if they had been sent. */
export function bodyText(bytes: ArrayBuffer | Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch (cause) {
    throw new AppError(
      'InvalidJson',
      'The request body is not valid UTF-8: send JSON in UTF-8, and what is no text as base64',
      { cause },
    )
  }
}
