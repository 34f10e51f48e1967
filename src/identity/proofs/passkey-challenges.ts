import { randomBytes } from 'node:crypto'

import { Type } from '@sinclair/typebox'

import type { Clock } from '#base/clock.ts'
import { CHALLENGE_MS } from '#identity/passkeys/model.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

import type { ProofSubject } from './model.ts'

const MAX_LENGTH = 500
const CHALLENGE_BYTES = 32

const Content = Type.Object({ challenge: Type.String({ minLength: 43 }) })

/** What a device signs to prove its owner, sealed for one account, one sign-in and one action. Nothing is stored. */
export class ProofChallenges {
  readonly #seal: ExpiringSeal<typeof Content>

  constructor({ sealer, clock }: { sealer: Pick<Sealer, 'derive'>; clock: Clock }) {
    const key = sealer.derive('proof-challenges')
    const bounds = { lifetimeMs: CHALLENGE_MS, maxLength: MAX_LENGTH }
    this.#seal = new ExpiringSeal({ key, clock, fields: Content, ...bounds })
  }

  create(
    request: PoolRequest,
    subject: ProofSubject,
  ): { readonly challenge: string; readonly sealed: string } {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
    return { challenge, sealed: this.#seal.seal(contextOf(request, subject), { challenge }) }
  }

  /** Undefined for one of another subject, and for one that was changed or has expired. */
  open(request: PoolRequest, subject: ProofSubject, sealed: string): string | undefined {
    return this.#seal.open(contextOf(request, subject), sealed)?.challenge
  }
}

const contextOf = ({ pool }: PoolRequest, { sub, signIn, action }: ProofSubject): string =>
  [pool.issuer, sub, signIn, action].join('\n')
