import type { ObjectHolds } from '#platform/objects/kept-objects.ts'
import type { RunStatement } from '#platform/postgres/pooled-connection.ts'

/** How long what the database said is taken for granted. Whoever makes a backup waits for longer before it begins. */
const KNOWN_MS = 1000

interface Asked {
  readonly atMs: number
  readonly ids: Promise<readonly string[]>
}

/** Knows which backups are being made, by asking when an object is to go, and not more than once a second. */
export class HoldWatch implements ObjectHolds {
  readonly #run: RunStatement
  #asked: Asked | undefined

  constructor(run: RunStatement) {
    this.#run = run
  }

  current(): Promise<readonly string[]> {
    const atMs = performance.now()
    if (this.#asked !== undefined && atMs - this.#asked.atMs < KNOWN_MS) return this.#asked.ids
    const ids = this.#select()
    const asked = { atMs, ids }
    this.#asked = asked
    ids.catch(() => {
      if (this.#asked === asked) this.#asked = undefined
    })
    return ids
  }

  async note(holdId: string, key: string): Promise<boolean> {
    const { rows } = await this.#run<{ hold_id: string }>(
      `with hold as (select hold_id from backup_hold where hold_id = $1),
            noted as (insert into backup_kept_object (hold_id, object_key)
                      select hold_id, $2 from hold on conflict do nothing)
       select hold_id from hold`,
      [holdId, key],
    )
    return rows.length > 0
  }

  async #select(): Promise<readonly string[]> {
    const { rows } = await this.#run<{ hold_id: string }>(
      'select hold_id from backup_hold where expires_at > now()',
      [],
    )
    return rows.map(({ hold_id: id }) => id)
  }
}
