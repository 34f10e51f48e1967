import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

interface SealDeps {
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
}

const Texts = Type.Array(Type.String())

/** What the secrets of an account's second factor are sealed for, with the key of its site. */
export const secondFactorSealContext = (userPoolId: string, sub: string): string =>
  `second-factor:${userPoolId}:${sub}`

export async function sealTexts(
  { sealer, siteKeys }: SealDeps,
  tx: SiteTx,
  { userPoolId, sub }: UserKey,
  texts: readonly string[],
): Promise<Buffer> {
  const siteKey = await siteKeys.wrapped(tx)
  const context = secondFactorSealContext(userPoolId, sub)
  return sealer.seal(siteKey, context, Buffer.from(JSON.stringify(texts)))
}

export async function openTexts(
  { sealer, siteKeys }: SealDeps,
  tx: SiteTx,
  { userPoolId, sub }: UserKey,
  sealed: Buffer,
): Promise<readonly string[]> {
  const siteKey = await siteKeys.wrapped(tx)
  const opened = sealer.open(siteKey, secondFactorSealContext(userPoolId, sub), sealed)
  return Value.Parse(Texts, JSON.parse(opened.toString()))
}
