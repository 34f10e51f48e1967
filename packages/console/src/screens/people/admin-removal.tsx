import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import type { ItemOf } from '#app/api/resources.ts'
import { Button } from '#app/components/button.tsx'
import { ConfirmByTyping } from '#app/components/confirm-by-typing.tsx'
import { Section } from '#app/components/page.tsx'
import { toast } from '#app/components/toasts.tsx'
import { navigate } from '#app/router/router.ts'

import { deleteAdmin } from './admins-model.ts'
import { t } from './texts.ts'

type AdminRow = ItemOf<'/admin/api/users'>

/** What cannot be undone: the second factor's end, and the account's. */
export function AdminRemoval({ admin }: { readonly admin: AdminRow }): JSX.Element {
  const asked = useSignal<'factor' | 'account' | undefined>(undefined)
  const close = () => (asked.value = undefined)
  const { email, userId } = admin
  return (
    <Section title={t('removal.title')} lead={t('removal.lead')}>
      <div class="toolbar">
        {admin.status === 'ACTIVE' && (
          <Button icon="shield" onClick={() => (asked.value = 'factor')}>
            {t('factor.remove')}
          </Button>
        )}
        <Button icon="trash" look="danger" onClick={() => (asked.value = 'account')}>
          {t('delete.action')}
        </Button>
      </div>
      {asked.value === 'factor' && (
        <ConfirmByTyping
          title={t('factor.title')}
          name={email}
          action={t('factor.remove')}
          onClose={close}
          onConfirm={async () => {
            await api.delete('/admin/api/users/{userId}/second-factor', { params: { userId } })
            toast(t('factor.removed', { email }))
          }}
        >
          <p>{t('factor.text', { email })}</p>
        </ConfirmByTyping>
      )}
      {asked.value === 'account' && (
        <ConfirmByTyping
          title={t('delete.title')}
          name={email}
          action={t('delete.action')}
          onClose={close}
          onConfirm={async () => {
            await deleteAdmin(admin)
            toast(t('delete.done', { email }))
            navigate('/people/admins', { replace: true })
          }}
        >
          <p>{t('delete.text', { email })}</p>
        </ConfirmByTyping>
      )}
    </Section>
  )
}
