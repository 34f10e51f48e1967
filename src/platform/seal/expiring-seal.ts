import { type Static, type TObject, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Clock } from '#base/clock.ts'

import { decrypt, encrypt } from './aes-gcm.ts'

const Expiring = Type.Object({ expiresAtMs: Type.Number() })

interface ExpiringSealDeps<Fields extends TObject> {
  readonly key: Uint8Array
  readonly clock: Clock
  readonly fields: Fields
  readonly lifetimeMs: number
  /** Of the text: what is longer is not opened. */
  readonly maxLength: number
}

/** Fields that a client keeps until it sends them back: encrypted, for a time. Nothing is stored, and any replica opens it. */
export class ExpiringSeal<Fields extends TObject> {
  readonly #deps: ExpiringSealDeps<Fields>

  constructor(deps: ExpiringSealDeps<Fields>) {
    this.#deps = deps
  }

  /** `context` names the recipient and the purpose: the same must be given to `open`. */
  seal(context: string, value: Static<Fields>): string {
    const { key, clock, lifetimeMs } = this.#deps
    const content = { ...value, expiresAtMs: clock.now().getTime() + lifetimeMs }
    return encrypt(key, context, Buffer.from(JSON.stringify(content))).toString('base64url')
  }

  /** Undefined for what was sealed for another context, was changed, or has expired. */
  open(context: string, text: string): Static<Fields> | undefined {
    const { key, clock, fields, maxLength } = this.#deps
    if (text.length > maxLength) return undefined
    const opened = decrypt(key, context, Buffer.from(text, 'base64url'))
    if (!opened) return undefined
    const content: unknown = JSON.parse(opened.toString())
    if (!Value.Check(Expiring, content) || !Value.Check(fields, content)) return undefined
    return content.expiresAtMs > clock.now().getTime() ? content : undefined
  }
}
