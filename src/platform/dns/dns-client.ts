import { hasCode } from '#base/error-code.ts'
import { Limiter } from '#base/limiter.ts'

import { askServer } from './ask-server.ts'
import type { DnsQuestion } from './dns-message.ts'
import { canonicalName } from './dns-name.ts'
import { type DnsAlias, type DnsOutcome, MAX_ALIASES, outcomeOf } from './dns-outcome.ts'
import { DnsError } from './dns-resolver.ts'
import type { NameServer, NameServers } from './name-servers.ts'

/** A server has so long to respond, and longer when it is asked again. */
const ROUNDS_MS = [1500, 2500]
/** All servers together, for all names that one leads to. */
const DEADLINE_MS = 6000
/** Each takes a socket. */
const MAX_CONCURRENT = 256
/** Without a response: another time there may be one. */
const SILENT = ['ETIMEOUT', 'ECONNREFUSED']

/** Asks recursive name servers, one after the other and each twice, until one says what there is. */
export class DnsClient {
  readonly #servers: NameServers
  readonly #queries = new Limiter({
    permits: MAX_CONCURRENT,
    maxWaitMs: DEADLINE_MS,
    refuse: () => Object.assign(new Error('Too many DNS queries at once'), { code: 'ETIMEOUT' }),
  })

  constructor(servers: NameServers) {
    this.#servers = servers
  }

  /** The name is canonical. Rejects with a `DnsError` where it cannot be found out now. */
  query(question: DnsQuestion): Promise<DnsOutcome> {
    return this.#queries.run(() => this.#follow(question))
  }

  async #follow(question: DnsQuestion): Promise<DnsOutcome> {
    const endsAt = performance.now() + DEADLINE_MS
    let [name, ttlSeconds] = [question.name, Infinity]
    for (let aliases = 0; aliases <= MAX_ALIASES; aliases += 1) {
      const outcome = await this.#askAll({ ...question, name }, endsAt)
      ttlSeconds = Math.min(ttlSeconds, outcome.ttlSeconds)
      if (!('alias' in outcome)) return { ...outcome, ttlSeconds }
      const target = canonicalName(outcome.alias)
      if (target === undefined) throw new DnsError('EBADRESP', question)
      name = target
    }
    throw new DnsError('ESERVFAIL', question)
  }

  async #askAll(question: DnsQuestion, endsAt: number): Promise<DnsOutcome | DnsAlias> {
    const servers = new Set(await this.#servers.inOrder())
    let failure: unknown = new DnsError('ETIMEOUT', question)
    for (const roundMs of ROUNDS_MS) {
      for (const server of servers) {
        const timeoutMs = Math.min(roundMs, endsAt - performance.now())
        if (timeoutMs <= 0) throw failure
        try {
          return await ask(server, question, timeoutMs)
        } catch (error) {
          const isSilent = hasCode(error, ...SILENT)
          // What a server says of a name it says again, and it counts for more than the silence of another.
          if (!isSilent) servers.delete(server)
          if (!isSilent || hasCode(failure, ...SILENT)) failure = error
        }
      }
    }
    throw failure
  }
}

async function ask(
  server: NameServer,
  question: DnsQuestion,
  timeoutMs: number,
): Promise<DnsOutcome | DnsAlias> {
  try {
    const response = await askServer(server, question, timeoutMs)
    server.noteResponse()
    return outcomeOf(response, question)
  } catch (error) {
    if (hasCode(error, ...SILENT)) server.noteSilence()
    if (error instanceof RangeError) throw new DnsError('EBADRESP', question, { cause: error })
    throw error
  }
}
