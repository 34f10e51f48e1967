import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { Session } from '#identity/sessions/model.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'

import type { AuthorizationRequest } from './authorization-request.ts'
import {
  type StoredCode,
  deleteCodesOfClient,
  deleteCodesOfSession,
  deleteCodesOfUser,
  insertCode,
  markCodeUsed,
  selectCode,
} from './code-queries.ts'

const CODE_LIFETIME_MS = 5 * 60_000

export type CodeSubject = Pick<Session, 'sub' | 'sessionId' | 'authTime'>

export type FoundCode = StoredCode & { readonly expired: boolean }

/** Authorization codes of 256 bits. Each is valid once, for five minutes, and stored as its hash. */
export class AuthorizationCodes {
  readonly #clock: Clock
  readonly #ids: Ids

  constructor(deps: { clock: Clock; ids: Ids }) {
    this.#clock = deps.clock
    this.#ids = deps.ids
  }

  async issue(tx: SiteTx, request: AuthorizationRequest, subject: CodeSubject): Promise<string> {
    const code = this.#ids.secret()
    const createdAt = this.#clock.now()
    await deleteExpired(tx, 'authorization_code', createdAt)
    await insertCode(tx, {
      sub: subject.sub,
      sessionId: subject.sessionId,
      authTime: subject.authTime,
      codeHash: hashSecret(code),
      userPoolId: request.pool.userPoolId,
      clientId: request.client.clientId,
      redirectUri: request.redirectUri,
      codeChallenge: request.codeChallenge ?? null,
      nonce: request.nonce ?? null,
      scope: request.scope,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + CODE_LIFETIME_MS),
    })
    return code
  }

  /** Finds used codes as well, until they are deleted. */
  async find(tx: SiteTx, code: string): Promise<FoundCode | undefined> {
    const stored = await selectCode(tx, hashSecret(code))
    return stored && { ...stored, expired: stored.expiresAt <= this.#clock.now() }
  }

  /** When a code is used twice at once, one of the two gets true. */
  use(tx: SiteTx, code: string, familyId: string): Promise<boolean> {
    return markCodeUsed(tx, hashSecret(code), { familyId, now: this.#clock.now() })
  }

  endBySession(tx: SiteTx, user: UserKey, sessionId: string): Promise<void> {
    return deleteCodesOfSession(tx, user, sessionId)
  }

  endByClient(tx: SiteTx, user: UserKey, clientId: string): Promise<void> {
    return deleteCodesOfClient(tx, user, clientId)
  }

  endByUser(tx: SiteTx, user: UserKey, keptSessionId: string | null): Promise<void> {
    return deleteCodesOfUser(tx, user, keptSessionId)
  }
}
