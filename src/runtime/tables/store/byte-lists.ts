import type { Buffer } from 'node:buffer'

/** A `bytea[]` as a literal: the driver takes a list of buffers for one buffer. */
export const byteList = (list: readonly Buffer[]): string =>
  `{${list.map((bytes) => `"\\\\x${bytes.toString('hex')}"`).join(',')}}`
