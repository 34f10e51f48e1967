import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import { invalidate, useList } from '#app/api/resources.ts'
import { Badge } from '#app/components/badge.tsx'
import { Button } from '#app/components/button.tsx'
import { DataTable } from '#app/components/data-table.tsx'
import { Dialog } from '#app/components/dialog.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Page } from '#app/components/page.tsx'
import { toast } from '#app/components/toasts.tsx'
import { SelectField, TextField } from '#app/forms/fields.tsx'
import { Form, useForm } from '#app/forms/form.tsx'
import { pathTo } from '#app/router/route-match.ts'
import { currentSession } from '#app/session/current-session.ts'

import { setupText as t } from './setup-texts.ts'
import { siteDomain } from './site-domain.ts'

const LIST = '/admin/api/mailboxes'

/** The mailboxes of the site. */
export function Mailboxes(): JSX.Element {
  const mailboxes = useList(LIST, { query: { limit: '100' } })
  const users = useList('/admin/api/users', { query: { limit: '100' } })
  const isCreating = useSignal(false)
  const ownersOf = (ids: readonly string[]) =>
    ids.map((id) => users.value?.find(({ userId }) => userId === id)?.email ?? id).join(', ')
  const create = (
    <Button look="primary" icon="add" onClick={() => (isCreating.value = true)}>
      {t('mailboxes.add')}
    </Button>
  )
  return (
    <Page
      title={t('mailboxes.title')}
      lead={t('mailboxes.lead')}
      call={{ method: 'GET', path: LIST, command: `croft mailbox list ${siteDomain()}` }}
      actions={create}
    >
      <DataTable
        label={t('mailboxes.title')}
        list={mailboxes}
        columns={[
          { key: 'address', header: t('aliases.address'), cell: ({ address }) => address },
          {
            key: 'owners',
            header: t('mailboxes.owners'),
            cell: ({ owners }) => <span title={ownersOf(owners)}>{ownersOf(owners)}</span>,
          },
          {
            key: 'status',
            header: t('mailboxes.status'),
            cell: ({ status }) => (
              <Badge tone={status === 'ACTIVE' ? 'good' : 'neutral'}>
                {t(`mailboxes.status-${status}`)}
              </Badge>
            ),
          },
        ]}
        rowKey={({ address }) => address}
        rowHref={({ address }) => pathTo('/mailboxes/{address}', { address })}
        empty={
          <EmptyState
            icon="mailbox"
            title={t('mailboxes.none')}
            action={create}
            command={`croft mailbox create info@${siteDomain()} --owner EMAIL`}
          >
            {t('mailboxes.none-lead')}
          </EmptyState>
        }
      />
      {isCreating.value && users.value && (
        <CreateDialog
          people={users.value.map(({ userId, email }) => ({ value: userId, label: email }))}
          onClose={() => (isCreating.value = false)}
        />
      )}
    </Page>
  )
}

interface CreateDialogProps {
  readonly people: readonly { readonly value: string; readonly label: string }[]
  readonly onClose: () => void
}

function CreateDialog({ people, onClose }: CreateDialogProps): JSX.Element {
  const own = currentSession().account.peek()?.userId ?? ''
  const form = useForm({
    name: 'mailbox',
    initial: { address: '', owners: own },
    async submit({ address, owners }) {
      await api.post(LIST, { body: { address: address.trim(), owners: [owners] } })
      invalidate(LIST)
      toast(t('mailboxes.created', { address }))
      onClose()
    },
  })
  return (
    <Dialog title={t('mailboxes.add')} onClose={onClose}>
      <Form form={form} action={t('mailboxes.add')} onCancel={onClose}>
        <TextField
          form={form}
          name="address"
          type="email"
          required
          label={t('aliases.address')}
          hint={t('mailboxes.address-hint', { domain: siteDomain() })}
        />
        <SelectField form={form} name="owners" label={t('mailboxes.owner')} choices={people} />
      </Form>
    </Dialog>
  )
}
