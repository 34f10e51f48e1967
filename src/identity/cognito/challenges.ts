import { randomBytes } from 'node:crypto'

import type { Clock } from '#base/clock.ts'
import type { Pool } from '#identity/pools/model.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { Site } from '#sites/site.ts'

import type { SrpExchange } from './srp/exchange.ts'
import { GROUP_BYTES, numberOf } from './srp/group.ts'

/** As long as Cognito waits for an answer. */
const LIFETIME_MS = 3 * 60_000
const ID_BYTES = 16
const TIME_BYTES = 6
const SECRET_BYTES = 32
const FIXED_BYTES = ID_BYTES + TIME_BYTES + 2 * GROUP_BYTES + SECRET_BYTES
const MAX_BYTES = 2048

/** Whose challenge it is: one client of one pool of one site. */
export interface ChallengeClient {
  readonly site: Site
  readonly pool: Pool
  readonly clientId: string
}

export interface Challenge extends SrpExchange {
  readonly challengeId: Buffer
  /** The address of the account, which need not exist. */
  readonly email: string
  readonly expiresAt: Date
}

/** Challenges are held by the client, sealed, until it answers. Nothing is stored, and any replica takes the answer. */
export class Challenges {
  readonly #key: Buffer
  readonly #clock: Clock

  constructor(deps: { sealer: Pick<Sealer, 'derive'>; clock: Clock }) {
    this.#key = deps.sealer.derive('srp-challenges')
    this.#clock = deps.clock
  }

  seal(by: ChallengeClient, email: string, exchange: SrpExchange): Buffer {
    const time = Buffer.alloc(TIME_BYTES)
    time.writeUIntBE(this.#clock.now().getTime() + LIFETIME_MS, 0, TIME_BYTES)
    return encrypt(
      this.#key,
      contextOf(by),
      Buffer.concat([
        randomBytes(ID_BYTES),
        time,
        fixed(exchange.clientPublic, GROUP_BYTES),
        fixed(exchange.serverPublic, GROUP_BYTES),
        fixed(exchange.serverSecret, SECRET_BYTES),
        Buffer.from(email),
      ]),
    )
  }

  /** Undefined for a challenge of another client, and for one that was changed or has expired. */
  open(by: ChallengeClient, sealed: Buffer): Challenge | undefined {
    if (sealed.length > MAX_BYTES) return undefined
    const bytes = decrypt(this.#key, contextOf(by), sealed)
    if (bytes === undefined || bytes.length < FIXED_BYTES) return undefined
    const challenge = parsed(bytes)
    return challenge.expiresAt > this.#clock.now() ? challenge : undefined
  }
}

function parsed(bytes: Buffer): Challenge {
  let at = 0
  const next = (length: number): Buffer => {
    at += length
    return bytes.subarray(at - length, at)
  }
  return {
    challengeId: next(ID_BYTES),
    expiresAt: new Date(next(TIME_BYTES).readUIntBE(0, TIME_BYTES)),
    clientPublic: numberOf(next(GROUP_BYTES)),
    serverPublic: numberOf(next(GROUP_BYTES)),
    serverSecret: numberOf(next(SECRET_BYTES)),
    email: bytes.subarray(at).toString(),
  }
}

const fixed = (number: bigint, length: number): Buffer =>
  Buffer.from(number.toString(16).padStart(length * 2, '0'), 'hex')

const contextOf = ({ site, pool, clientId }: ChallengeClient): string =>
  `${site.siteId} ${pool.userPoolId} ${clientId}`
