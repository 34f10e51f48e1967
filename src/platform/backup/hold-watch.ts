import type { ObjectHolds } from '#platform/objects/kept-objects.ts'
import type { RunStatement } from '#platform/postgres/pooled-connection.ts'

/** How long it is taken for granted that no backup is announced. A process that makes one waits for longer before it begins. */
const KNOWN_MS = 1000

interface Asked {
  readonly atMs: number
  readonly isAnnounced: Promise<boolean>
}

/**
 * Knows which backups are being made, by asking when an object is to go: not more than once a second while there is none, and each time
 * once one is announced, so that all processes begin to keep objects at the same moment.
 */
export class HoldWatch implements ObjectHolds {
  readonly #run: RunStatement
  #asked: Asked | undefined

  constructor(run: RunStatement) {
    this.#run = run
  }

  async current(): Promise<readonly string[]> {
    if (!(await this.#isAnnounced())) return []
    const { rows } = await this.#run<{ hold_id: string }>(
      'select hold_id from backup_hold where started_at <= now() and expires_at > now()',
      [],
    )
    return rows.map(({ hold_id: id }) => id)
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

  #isAnnounced(): Promise<boolean> {
    const atMs = performance.now()
    if (this.#asked !== undefined && atMs - this.#asked.atMs < KNOWN_MS) {
      return this.#asked.isAnnounced
    }
    const isAnnounced = this.#select()
    const asked = { atMs, isAnnounced }
    this.#asked = asked
    isAnnounced.catch(() => {
      if (this.#asked === asked) this.#asked = undefined
    })
    return isAnnounced
  }

  async #select(): Promise<boolean> {
    const { rows } = await this.#run<{ found: number }>(
      'select 1 as found from backup_hold where expires_at > now() limit 1',
      [],
    )
    return rows.length > 0
  }
}
