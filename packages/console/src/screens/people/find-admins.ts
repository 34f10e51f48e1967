import { api } from '#app/api/api.ts'
import { pathTo } from '#app/router/route-match.ts'
import { currentSession } from '#app/session/current-session.ts'
import type { Found } from '#app/shell/find-providers.ts'
import { t } from '#app/texts/shell.ts'

/** Admins whose address has that text. */
export async function findAdmins(q: string, signal: AbortSignal): Promise<readonly Found[]> {
  if (currentSession().account.value?.role === 'user') return []
  const { items } = await api.get('/admin/api/users', { query: { q, limit: 5 }, signal })
  return items.map(({ email, userId }) => ({
    label: email,
    detail: t('screen.admin'),
    icon: 'people',
    href: pathTo('/people/admins/{userId}', { userId }),
  }))
}
