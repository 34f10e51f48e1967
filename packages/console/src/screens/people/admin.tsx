import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { type ItemOf, useGet } from '#app/api/resources.ts'
import { Badge } from '#app/components/badge.tsx'
import { Button } from '#app/components/button.tsx'
import { Page, Section } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { currentConfig } from '#app/current-config.ts'
import { SelectField } from '#app/forms/fields.tsx'
import { Form, useForm } from '#app/forms/form.tsx'
import type { ScreenProps } from '#app/screens.ts'
import { currentSession } from '#app/session/current-session.ts'
import { t as shell } from '#app/texts/shell.ts'

import { AdminRemoval } from './admin-removal.tsx'
import { AdminSessions } from './admin-sessions.tsx'
import { ROLES, changeRole, resendInvite, statusTone } from './admins-model.ts'
import { t } from './texts.ts'

type AdminRow = ItemOf<'/admin/api/users'>

/** One admin: role, invite, sessions, and the end of the account. */
export function Admin({ params }: ScreenProps): JSX.Element {
  const { userId = '' } = params
  const admin = useGet('/admin/api/users/{userId}', { params: { userId } })
  const { value } = admin
  const isOwn = currentSession().account.value?.userId === userId
  return (
    <Page
      title={value?.email ?? shell('screen.admin')}
      lead={isOwn ? t('admin.own') : t('admin.lead')}
      parent={{ href: '/people/admins', label: t('admins.title') }}
      call={{ method: 'GET', path: '/admin/api/users/{userId}', params: { userId } }}
      actions={
        isOwn && (
          <Button href={`${currentConfig().issuer}/account`}>{shell('shell.own-account')}</Button>
        )
      }
    >
      <ProblemNote problem={admin.problem} onRetry={admin.reload} />
      {value ? <Account admin={value} isOwn={isOwn} /> : !admin.problem && <Skeleton lines={6} />}
    </Page>
  )
}

const Account = ({
  admin,
  isOwn,
}: {
  readonly admin: AdminRow
  readonly isOwn: boolean
}): JSX.Element => (
  <>
    <Facts admin={admin} />
    <RoleForm key={admin.role} admin={admin} />
    {admin.status === 'ACTIVE' && <AdminSessions userId={admin.userId} />}
    {!isOwn && <AdminRemoval admin={admin} />}
  </>
)

function Facts({ admin }: { readonly admin: AdminRow }): JSX.Element {
  const isBusy = useSignal(false)
  return (
    <Section
      title={t('admin.account')}
      actions={
        admin.status === 'INVITED' && (
          <Button
            isBusy={isBusy.value}
            icon="mail"
            onClick={async () => {
              isBusy.value = true
              await resendInvite(admin)
              isBusy.value = false
            }}
          >
            {t('invite.resend')}
          </Button>
        )
      }
    >
      <dl class="facts">
        <dt>{t('admins.status')}</dt>
        <dd>
          <Badge tone={statusTone(admin.status)}>{t(`status.${admin.status}`)}</Badge>
        </dd>
        <dt>{t('admins.address')}</dt>
        <dd>{admin.email}</dd>
        {admin.externalEmail !== null && (
          <>
            <dt>{t('admin.external')}</dt>
            <dd>{admin.externalEmail}</dd>
          </>
        )}
      </dl>
    </Section>
  )
}

function RoleForm({ admin }: { readonly admin: AdminRow }): JSX.Element {
  const form = useForm({
    name: 'role',
    initial: { role: admin.role },
    submit: async ({ role }) => changeRole(admin, role),
  })
  return (
    <Section title={t('admins.role')} lead={t('role.hint')}>
      <Form form={form} action={t('role.save')} needsChange>
        <SelectField
          form={form}
          name="role"
          label={t('admins.role')}
          choices={ROLES.map((role) => ({ value: role, label: shell(`role.${role}`) }))}
        />
      </Form>
    </Section>
  )
}
