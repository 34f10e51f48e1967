import { api } from '#app/api/api.ts'
import { type ItemOf, invalidate } from '#app/api/resources.ts'
import type { Tone } from '#app/components/badge.tsx'
import { toast, toastProblem } from '#app/components/toasts.tsx'
import type { Role } from '#app/session/tokens.ts'

import { t } from './texts.ts'

type AdminRow = ItemOf<'/admin/api/users'>

export const ROLES: readonly Role[] = ['user', 'admin', 'super-admin']

export const statusTone = (status: AdminRow['status']): Tone =>
  status === 'ACTIVE' ? 'good' : 'warning'

/** Sends the invite of an admin again, and says where it went. */
export async function resendInvite({ userId }: Pick<AdminRow, 'userId'>): Promise<void> {
  try {
    const { inviteRecipient } = await api.post('/admin/api/users/{userId}/invite/resend', {
      params: { userId },
    })
    toast(t('invite.sent', { email: inviteRecipient }))
  } catch (error) {
    toastProblem(error)
  }
}

export async function changeRole({ userId, email }: AdminRow, role: Role): Promise<void> {
  await api.patch('/admin/api/users/{userId}', { params: { userId }, body: { role } })
  readAgain()
  toast(t('role.saved', { email }))
}

export async function deleteAdmin({ userId }: Pick<AdminRow, 'userId'>): Promise<void> {
  await api.delete('/admin/api/users/{userId}', { params: { userId } })
  readAgain()
}

/** After a change of an admin. */
const readAgain = (): void => invalidate('/admin/api/users', '/admin/api/users/{userId}')
