import { isView, toTag } from '#sandbox/guest/web/primordials.ts'

const Bytes = Uint8Array

/** The bytes that an ArrayBuffer or a view of one shows; undefined for anything else. */
export function bytesFrom(value: object): Uint8Array<ArrayBuffer> | undefined {
  if (isView(value)) {
    return new Bytes(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength)
  }
  return toTag(value) === '[object ArrayBuffer]' ? new Bytes(value as ArrayBuffer) : undefined
}
