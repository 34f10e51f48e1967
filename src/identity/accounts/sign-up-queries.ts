import { sql } from 'kysely'

import { inPool } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export interface PendingSignUp {
  readonly registrationId: string
  readonly sub: string
  readonly email: string
  readonly hash: string
  readonly sealedSrp: Buffer | null
  /** Null until the code has been mailed. */
  readonly codeHash: Buffer | null
  readonly tries: number
  readonly network: string
  readonly name: string | null
}

export interface NewSignUp extends Omit<PendingSignUp, 'codeHash' | 'tries'> {
  readonly userPoolId: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** A sign-up's place: the pool and the address that it waits for. */
export interface SignUpKey {
  readonly userPoolId: string
  readonly email: string
}

export async function insertSignUp(tx: SiteTx, signUp: NewSignUp): Promise<void> {
  await tx.db
    .insertInto('pending_sign_up')
    .values({
      site_id: tx.siteId,
      user_pool_id: signUp.userPoolId,
      registration_id: signUp.registrationId,
      sub: signUp.sub,
      email: signUp.email,
      password_hash: signUp.hash,
      sealed_srp: signUp.sealedSrp,
      code_hash: null,
      network: signUp.network,
      name: signUp.name,
      expires_at: signUp.expiresAt,
      created_at: signUp.createdAt,
    })
    .execute()
}

const pendingSignUps = (tx: SiteTx, { userPoolId, email }: SignUpKey, now: Date) =>
  tx.db
    .selectFrom('pending_sign_up')
    .select([
      'registration_id as registrationId',
      'sub',
      'email',
      'password_hash as hash',
      'sealed_srp as sealedSrp',
      'code_hash as codeHash',
      'tries',
      'network',
      'name',
    ])
    .where(inPool(tx, userPoolId))
    .where('email', '=', email)
    .where('expires_at', '>', now)

/** Newest first. */
export function selectSignUps(tx: SiteTx, place: SignUpKey, now: Date): Promise<PendingSignUp[]> {
  return pendingSignUps(tx, place, now)
    .orderBy('created_at', 'desc')
    .orderBy('registration_id')
    .execute()
}

/** All of an address, in one order: two who confirm at once wait for each other instead of blocking each other. */
export function lockSignUps(tx: SiteTx, place: SignUpKey, now: Date): Promise<PendingSignUp[]> {
  return pendingSignUps(tx, place, now).orderBy('registration_id').forUpdate().execute()
}

export async function countSignUpAttempt(
  tx: SiteTx,
  userPoolId: string,
  registrationIds: readonly string[],
): Promise<void> {
  await tx.db
    .updateTable('pending_sign_up')
    .set({ tries: sql<number>`tries + 1` })
    .where(inPool(tx, userPoolId))
    .where('registration_id', '=', sql<string>`any(${registrationIds})`)
    .execute()
}

export async function deleteSignUp(
  tx: SiteTx,
  userPoolId: string,
  registrationId: string,
): Promise<void> {
  await tx.db
    .deleteFrom('pending_sign_up')
    .where(inPool(tx, userPoolId))
    .where('registration_id', '=', registrationId)
    .execute()
}

export interface NewSignUpCode {
  readonly registrationId: string
  readonly email: string
  readonly codeHash: Buffer
  readonly expiresAt: Date
  /** Leaves a code alone that is there already. */
  readonly onlyFirst: boolean
  /** Of a request that has one code, however often its job runs. */
  readonly requestId: string | undefined
}

/** False when there is no such sign-up, or nothing to do for it. */
export async function updateSignUpCode(
  tx: SiteTx,
  userPoolId: string,
  code: NewSignUpCode,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('pending_sign_up')
    .set({
      code_hash: code.codeHash,
      code_request_id: code.requestId ?? null,
      tries: 0,
      expires_at: code.expiresAt,
    })
    .where(inPool(tx, userPoolId))
    .where('registration_id', '=', code.registrationId)
    .where('email', '=', code.email)
    .where('expires_at', '>', now)
    .where(sql<boolean>`(code_request_id = ${code.requestId ?? null}) is not true`)
    .$if(code.onlyFirst, (query) => query.where('code_hash', 'is', null))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
