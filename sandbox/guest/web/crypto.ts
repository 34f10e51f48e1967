import { DOMException } from './dom-exception.ts'
import { host } from './host.ts'
import { defineInterface, copyMember, defineOperation } from './interface.ts'
import { part } from './parts.ts'
import { slice, testPattern, toTag, apply, create } from './primordials.ts'
import { randomUuid } from './random-uuid.ts'
import { requireArguments } from './webidl.ts'

type Method = (...given: readonly unknown[]) => Promise<unknown>

/** With how many arguments each must be called. */
const METHODS = {
  encrypt: 3,
  decrypt: 3,
  sign: 3,
  verify: 4,
  digest: 2,
  generateKey: 3,
  deriveKey: 5,
  deriveBits: 2,
  importKey: 5,
  exportKey: 2,
  wrapKey: 4,
  unwrapKey: 7,
} as const

/** https://w3c.github.io/webcrypto/#subtlecrypto-interface: the shell; what it does is a part of the platform. */
class SubtleCrypto {
  constructor() {
    throw new TypeError('Illegal constructor')
  }
}

for (const [name, length] of Object.entries(METHODS)) {
  const method = async function (this: unknown, ...given: readonly unknown[]): Promise<unknown> {
    if (this !== subtle) throw new TypeError('Illegal invocation')
    requireArguments(given.length, length, `Failed to execute '${name}' on 'SubtleCrypto'`)
    const methods: Readonly<Record<string, Method>> = part('webcrypto').subtleMethods
    // Awaited: an async function that returns a promise calls whatever `then` the site has put on it.
    return await apply(methods[name] as Method, undefined, given)
  }
  copyMember(SubtleCrypto, name, { [name]: defineOperation(name, length, method) })
}

defineInterface('SubtleCrypto', SubtleCrypto)

const subtle = create(SubtleCrypto.prototype) as SubtleCrypto

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
