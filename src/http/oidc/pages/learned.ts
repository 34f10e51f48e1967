import type { Pool } from '#identity/pools/model.ts'
import { type LocalizedText, t } from '#languages/message.ts'

const LEARNED = new Map([
  ['openid', t('scope.openid')],
  ['email', t('scope.email')],
  ['profile', t('scope.profile')],
])

/** What scopes let an application learn and do, in words for the user. A scope that is no more says its name. */
export function scopeTexts(
  { settings }: Pick<Pool, 'settings'>,
  scopes: readonly string[],
): { readonly learned: readonly LocalizedText[]; readonly allowed: readonly string[] } {
  const own = new Map(Object.entries(settings.scopes))
  return {
    learned: scopes.filter((scope) => !own.has(scope)).map((scope) => LEARNED.get(scope) ?? scope),
    allowed: scopes.flatMap((scope) => own.get(scope) ?? []),
  }
}
