import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import { type ItemOf, invalidate, useList } from '#app/api/resources.ts'
import { Badge } from '#app/components/badge.tsx'
import { Button } from '#app/components/button.tsx'
import { copyText } from '#app/components/code-block.tsx'
import { type Column, DataTable } from '#app/components/data-table.tsx'
import { Dialog } from '#app/components/dialog.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Icon } from '#app/components/icon.tsx'
import { Menu } from '#app/components/menu.tsx'
import { Page } from '#app/components/page.tsx'
import { SearchField } from '#app/components/search-field.tsx'
import { toast } from '#app/components/toasts.tsx'
import { currentConfig } from '#app/current-config.ts'
import { SelectField, TextField } from '#app/forms/fields.tsx'
import { Form, useForm } from '#app/forms/form.tsx'
import { pathTo } from '#app/router/route-match.ts'
import { currentQuery } from '#app/router/router.ts'
import { currentSession } from '#app/session/current-session.ts'
import type { Role } from '#app/session/tokens.ts'
import { t as shell } from '#app/texts/shell.ts'

import { ROLES, resendInvite, statusTone } from './admins-model.ts'
import { t } from './texts.ts'

type AdminRow = ItemOf<'/admin/api/users'>

/** Every admin of the site, with a search in the address, and invites. */
export function Admins(): JSX.Element {
  const q = currentQuery.value.get('q') ?? undefined
  const admins = useList('/admin/api/users', { query: { q } })
  const isInviting = useSignal(false)
  return (
    <Page
      title={t('admins.title')}
      lead={t('admins.lead')}
      call={{
        method: 'GET',
        path: '/admin/api/users',
        query: { q },
        command: `croft users ${currentConfig().domain} --pool admin`,
      }}
      actions={
        <Button look="primary" icon="add" onClick={() => (isInviting.value = true)}>
          {t('admins.invite')}
        </Button>
      }
    >
      <SearchField label={t('admins.search')} />
      <DataTable
        label={t('admins.title')}
        list={admins}
        columns={columns()}
        rowKey={({ userId }) => userId}
        rowHref={({ userId }) => pathTo('/people/admins/{userId}', { userId })}
        rowActions={(admin) => <RowMenu admin={admin} />}
        empty={
          <EmptyState
            icon="people"
            title={t('admins.none')}
            command={`croft users ${currentConfig().domain} --pool admin`}
          >
            {t('admins.none-lead')}
          </EmptyState>
        }
      />
      {isInviting.value && <InviteDialog onClose={() => (isInviting.value = false)} />}
    </Page>
  )
}

function RowMenu({ admin }: { readonly admin: AdminRow }): JSX.Element {
  const { email, userId, status } = admin
  return (
    <Menu
      label={t('admins.actions', { email })}
      items={[
        {
          label: t('admins.open'),
          icon: 'people',
          href: pathTo('/people/admins/{userId}', { userId }),
        },
        ...(status === 'INVITED'
          ? [
              {
                label: t('invite.resend'),
                icon: 'mail',
                onSelect: async () => resendInvite(admin),
              } as const,
            ]
          : []),
        {
          label: t('admins.copy-address'),
          icon: 'copy',
          onSelect: async () => copyText(email),
        },
      ]}
    >
      <Icon name="more" />
    </Menu>
  )
}

const columns = (): readonly Column<AdminRow>[] => [
  {
    key: 'email',
    header: t('admins.address'),
    cell: ({ email, userId }) =>
      userId === currentSession().account.value?.userId ? t('admins.you', { email }) : email,
  },
  { key: 'role', header: t('admins.role'), cell: ({ role }) => shell(`role.${role}`) },
  {
    key: 'status',
    header: t('admins.status'),
    cell: ({ status }) => <Badge tone={statusTone(status)}>{t(`status.${status}`)}</Badge>,
  },
]

function InviteDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const form = useForm({
    name: 'invite',
    initial: { email: '', role: 'admin' as Role, externalEmail: '' },
    async submit({ email, role, externalEmail }) {
      await api.post('/admin/api/users', {
        body: { email, role, ...(externalEmail !== '' && { externalEmail }) },
        idempotencyKey: crypto.randomUUID(),
      })
      invalidate('/admin/api/users')
      toast(t('invite.sent', { email }))
      onClose()
    },
  })
  return (
    <Dialog title={t('invite.title')} onClose={onClose}>
      <Form form={form} action={t('invite.send')} onCancel={onClose}>
        <TextField
          form={form}
          name="email"
          type="email"
          required
          label={t('invite.email')}
          hint={t('invite.email-hint')}
        />
        <SelectField
          form={form}
          name="role"
          label={t('admins.role')}
          hint={t('role.hint')}
          choices={ROLES.map((role) => ({ value: role, label: shell(`role.${role}`) }))}
        />
        <TextField
          form={form}
          name="externalEmail"
          type="email"
          label={t('invite.external')}
          hint={t('invite.external-hint')}
        />
      </Form>
    </Dialog>
  )
}
