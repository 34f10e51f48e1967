import { abortWith, createSignal } from './abort-signal.ts'
import type { AbortSignal } from './abort-signal.ts'
import { defineInterface } from './interface.ts'

/** https://dom.spec.whatwg.org/#interface-abortcontroller */
export class AbortController {
  readonly #signal = createSignal()

  get signal(): AbortSignal {
    return this.#signal
  }

  abort(reason?: unknown): void {
    abortWith(this.#signal, reason)
  }
}

defineInterface('AbortController', AbortController)
