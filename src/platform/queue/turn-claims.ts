import { randomBytes } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import type { RunStatement } from '#platform/postgres/pooled-connection.ts'

/** Sites of which it is remembered which of their groups had the last turn. */
const MAX_REMEMBERED = 64

export interface ClaimedJob {
  readonly id: string
  readonly data: object
  /** Attempts before this one. */
  readonly retryCount: number
  readonly expireInSeconds: number
  readonly group: string | null
}

/** Jobs that were never tried, and those that wait for another try. */
export type JobState = 'created' | 'retry'

export interface ClaimRequest {
  /** At least 1. */
  readonly count: number
  readonly states: readonly JobState[]
  /** How many jobs of a site run in all processes, this one included; any number when left out. */
  readonly perSite: number | undefined
  /** Groups that get no turn. */
  readonly skippedGroups: readonly string[]
}

export interface ClaimedJobs {
  /** At most one of each site. */
  readonly jobs: readonly ClaimedJob[]
  /** Whether others are due: of the same sites, for which there was no place, or which may not run beside those that do. */
  readonly isMoreDue: boolean
}

type ClaimRow =
  | (ClaimedJob & { readonly site: string; readonly isMoreDue: null })
  | { readonly id: null; readonly isMoreDue: boolean }

/** Claims the jobs of one queue: sites in turn, and of a site its groups in turn, each from where this process was last. */
export class TurnClaims {
  readonly #statements: RunStatement
  readonly #queue: string
  readonly #perGroup: number | undefined
  /** The site that had the last turn. */
  #turn = anywhere()
  /** Those that wait for another try come first every other time: neither kind holds the other up. */
  #isReversed = false
  readonly #groupTurns = new LRUCache<string, string>({ max: MAX_REMEMBERED })

  /** `perGroup` bounds the jobs of a group that run in all processes; without it groups have no turns. */
  constructor(statements: RunStatement, queue: string, perGroup: number | undefined) {
    this.#statements = statements
    this.#queue = queue
    this.#perGroup = perGroup
  }

  async claim({ count, states, perSite, skippedGroups }: ClaimRequest): Promise<ClaimedJobs> {
    const { rows } = await this.#statements<ClaimRow>(
      `select job_id as id, job_data as data, attempts as "retryCount",
         expire_after as "expireInSeconds", site::text, job_group as "group",
         is_more_due as "isMoreDue"
       from pgboss.claim_turns_3($1, $2::int, $3::text[]::pgboss.job_state[], $4::bigint,
         $5::text::jsonb, $6::int, $7::int, $8::text[])`,
      [
        this.#queue,
        count,
        this.#isReversed ? states.toReversed() : [...states],
        this.#turn,
        JSON.stringify(Object.fromEntries(this.#groupTurns.entries())),
        perSite ?? null,
        this.#perGroup ?? null,
        [...skippedGroups],
      ],
    )
    this.#isReversed = !this.#isReversed
    const jobs = rows.filter((row) => row.id !== null)
    for (const { site, group } of jobs) {
      this.#turn = site
      if (group !== null) this.#groupTurns.set(site, group)
    }
    return { jobs, isMoreDue: rows.at(-1)?.isMoreDue === true }
  }

  /** Notes that the process lives. Returns the ids of the jobs that it still holds. */
  async touch(jobs: readonly ClaimedJob[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.#statements<{ id: string }>(
      `update pgboss.job set heartbeat_on = now()
       from unnest($2::uuid[], $3::int[]) held (job_id, attempts)
       where name = $1 and id = held.job_id and state = 'active' and retry_count = held.attempts
       returning id`,
      [this.#queue, jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount)],
    )
    return new Set(rows.map(({ id }) => id))
  }

  /** Lets any site be the first one of the next backlog: those whose jobs come at the same time each minute, too. */
  restart(): void {
    this.#turn = anywhere()
  }
}

/** The key of a site that may not exist. */
const anywhere = (): string => randomBytes(8).readBigInt64BE().toString()
