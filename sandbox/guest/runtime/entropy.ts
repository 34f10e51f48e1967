import { ErrorClass } from '#sandbox/guest/web/primordials.ts'

const POOL_BYTES = 1024
const MAX_BYTES = 65_536
const Bytes = Uint8Array

let entropy: ((bytes: number) => ArrayBuffer) | undefined
let pool = new Bytes(0)
let used = 0

export function setEntropy(source: (bytes: number) => ArrayBuffer): void {
  entropy = source
  pool = new Bytes(0)
  used = 0
}

/** That many random bytes; small amounts come from a pool, so that the host is asked seldom. */
export function randomBytes(bytes: number): Uint8Array<ArrayBuffer> {
  if (!entropy || !(bytes >= 0 && bytes <= MAX_BYTES)) {
    throw new ErrorClass(`At most ${MAX_BYTES} random bytes can be drawn at once`)
  }
  if (bytes > POOL_BYTES / 4) return new Bytes(entropy(bytes))
  if (used + bytes > pool.length) {
    pool = new Bytes(entropy(POOL_BYTES))
    used = 0
  }
  const drawn = new Bytes(bytes)
  for (let index = 0; index < bytes; index += 1) {
    drawn[index] = pool[used] as number
    pool[used] = 0
    used += 1
  }
  return drawn
}
