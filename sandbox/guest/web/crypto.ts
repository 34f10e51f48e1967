import { DOMException } from './dom-exception.ts'
import { host } from './host.ts'
import { defineInterface } from './interface.ts'
import { slice, testPattern, toTag } from './primordials.ts'
import { randomUuid } from './random-uuid.ts'
import { subtle } from './subtle.ts'
import type { SubtleCrypto } from './subtle.ts'

const CONSTRUCT = Symbol('construct')
const QUOTA = 65_536
const INTEGERS = /^(?:Big)?(?:Int|Uint)\d+(?:Clamped)?Array$/

/** https://w3c.github.io/webcrypto/#crypto-interface, on the host's entropy. */
class Crypto {
  readonly #subtle = subtle

  constructor(key?: symbol) {
    if (key !== CONSTRUCT) throw new TypeError('Illegal constructor')
  }

  get subtle(): SubtleCrypto {
    return this.#subtle
  }

  getRandomValues<View extends ArrayBufferView>(view: View): View {
    void this.#subtle
    if (!ArrayBuffer.isView(view) || !testPattern(INTEGERS, slice(toTag(view), 8, -1)))
      throw new DOMException(
        'The data argument must be an integer-type TypedArray',
        'TypeMismatchError',
      )
    if (view.byteLength > QUOTA)
      throw new DOMException(
        `The requested length exceeds ${QUOTA.toLocaleString('en-US')} bytes`,
        'QuotaExceededError',
      )
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(host.random(view.byteLength))
    return view
  }

  randomUUID(): string {
    void this.#subtle
    return randomUuid()
  }
}

defineInterface('Crypto', Crypto)

export const crypto = new Crypto(CONSTRUCT)
