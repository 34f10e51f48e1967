import { copyMember, defineInterface, defineOperation } from './interface.ts'
import { part } from './parts.ts'
import { apply, create } from './primordials.ts'
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
export class SubtleCrypto {
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

export const subtle = create(SubtleCrypto.prototype) as SubtleCrypto
