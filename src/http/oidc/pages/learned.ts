import type { Pool } from '#identity/pools/model.ts'
import { type Words, say } from '#languages/message.ts'

const LEARNED = new Map([
  ['openid', say('scope.openid')],
  ['email', say('scope.email')],
  ['profile', say('scope.profile')],
])

/** What scopes let an application learn and do, in words for whom it is about. A scope that is no more says its name. */
export function wordsOfScopes(
  { settings }: Pick<Pool, 'settings'>,
  scopes: readonly string[],
): { readonly learned: readonly Words[]; readonly allowed: readonly string[] } {
  const own = new Map(Object.entries(settings.scopes))
  return {
    learned: scopes.filter((scope) => !own.has(scope)).map((scope) => LEARNED.get(scope) ?? scope),
    allowed: scopes.flatMap((scope) => own.get(scope) ?? []),
  }
}
