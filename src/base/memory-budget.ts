import { Limiter } from './limiter.ts'

interface MemoryBudgetOptions {
  readonly maxBytes: number
  readonly maxBytesPerKey: number
  /** Bytes of `maxBytes` that only a key which holds none may take. */
  readonly reservedBytes: number
}

/** What one holder has of a shared budget. */
export interface MemoryLease {
  /** Resolves with true once that many more bytes may be held, or with false when the signal came first. */
  reserve(bytes: number, signal: AbortSignal): Promise<boolean>
  /** Gives back some of what was reserved. */
  giveBack(bytes: number): void
}

/** Bytes of memory, bounded for each key and in all. Holders of one key wait in order, keys in turn. */
export class MemoryBudget {
  readonly #limiter: Limiter

  constructor({ maxBytes, maxBytesPerKey, reservedBytes }: MemoryBudgetOptions) {
    this.#limiter = new Limiter({
      permits: maxBytes,
      permitsPerKey: maxBytesPerKey,
      reservedPermits: reservedBytes,
      refuse: () => new Error('The wait for memory was aborted'),
    })
  }

  /** A lease that holds nothing yet. `release` gives back all that it holds, and may be called again. */
  lease(key: string): MemoryLease & { release(): void } {
    let held = 0
    const giveBack = (bytes: number): void => {
      held -= bytes
      if (bytes > 0) this.#limiter.release({ key }, bytes)
    }
    return {
      reserve: async (bytes, signal) => {
        const reserved = await this.#limiter.acquire({ key, weight: bytes, signal }).then(
          () => true,
          () => false,
        )
        if (reserved) held += bytes
        return reserved
      },
      giveBack,
      release: () => giveBack(held),
    }
  }
}
