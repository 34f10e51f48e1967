import { hexFromBytes } from './hex.ts'
import { host } from './host.ts'
import { slice } from './primordials.ts'

/** A UUID of version 4 (RFC 9562, section 5.4). */
export function randomUuid(): string {
  const bytes = host.random(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = hexFromBytes(bytes)
  return `${slice(hex, 0, 8)}-${slice(hex, 8, 12)}-${slice(hex, 12, 16)}-${slice(hex, 16, 20)}-${slice(hex, 20)}`
}
