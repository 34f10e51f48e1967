import { steadyNowMs } from './steady-clock.ts'

/** Later than this a timer is armed again when it fires. */
const MAX_DELAY_MS = 2_147_483_647

interface Armed {
  readonly timer: NodeJS.Timeout
  readonly atMs: number
}

/** One timer per owner, for the earliest moment that it asked for. */
export class WakeTimers<Owner> {
  readonly #armed = new Map<Owner, Armed>()
  readonly #wake: (owner: Owner) => void

  constructor(wake: (owner: Owner) => void) {
    this.#wake = wake
  }

  /** `atMs` is of `steadyNowMs`; 0 means never. A timer that is armed too early is left: it finds nothing to do and is armed again. */
  set(owner: Owner, atMs: number): void {
    if (atMs === 0) return
    const armed = this.#armed.get(owner)
    if (armed && armed.atMs <= atMs) return
    if (armed) clearTimeout(armed.timer)
    const delayMs = Math.min(MAX_DELAY_MS, Math.max(1, Math.ceil(atMs - steadyNowMs())))
    const timer = setTimeout(() => {
      this.#armed.delete(owner)
      this.#wake(owner)
    }, delayMs)
    this.#armed.set(owner, { timer, atMs })
  }

  clear(owner: Owner): void {
    clearTimeout(this.#armed.get(owner)?.timer)
    this.#armed.delete(owner)
  }

  clearAll(): void {
    for (const owner of this.#armed.keys()) this.clear(owner)
  }
}
