import { HeaderFields } from '#sandbox/mail/mime/header-fields.ts'

/** As much of the start of a message as is looked at for its header. */
export const HEADER_BLOCK_BYTES = 256 * 1024

/** Reads as much of the block as may be read: to the first empty line, at most 256 KiB. Lines that are no field are left out. */
export const readHeaderFields = (start: Uint8Array): HeaderFields =>
  new HeaderFields(start, { end: Math.min(start.length, HEADER_BLOCK_BYTES) })
