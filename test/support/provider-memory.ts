interface Stored {
  readonly payload: Record<string, unknown>
  readonly expiresAtMs: number
}

/** Where one `oidc-provider` keeps what it issues; its own default is shared by all of a process. */
export function memoryAdapter() {
  const everything = new Map<string, Map<string, Stored>>()
  return class MemoryAdapter {
    readonly #rows: Map<string, Stored>

    constructor(model: string) {
      this.#rows = everything.get(model) ?? new Map()
      everything.set(model, this.#rows)
    }

    async upsert(id: string, payload: Record<string, unknown>, expiresIn: number): Promise<void> {
      this.#rows.set(id, { payload, expiresAtMs: Date.now() + expiresIn * 1000 })
    }

    async find(id: string): Promise<Record<string, unknown> | undefined> {
      const row = this.#rows.get(id)
      return row && row.expiresAtMs > Date.now() ? row.payload : undefined
    }

    async findByUid(uid: string): Promise<Record<string, unknown> | undefined> {
      return [...this.#rows.values()].find(({ payload }) => payload['uid'] === uid)?.payload
    }

    async consume(id: string): Promise<void> {
      const row = this.#rows.get(id)
      if (row) row.payload['consumed'] = Math.floor(Date.now() / 1000)
    }

    async destroy(id: string): Promise<void> {
      this.#rows.delete(id)
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      for (const rows of everything.values()) {
        for (const [id, { payload }] of rows) if (payload['grantId'] === grantId) rows.delete(id)
      }
    }
  }
}
