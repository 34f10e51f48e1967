import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import { invalidate, updateList, useList } from '#app/api/resources.ts'
import { Button, IconButton } from '#app/components/button.tsx'
import { DataTable } from '#app/components/data-table.tsx'
import { Dialog } from '#app/components/dialog.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Page } from '#app/components/page.tsx'
import { Time } from '#app/components/time.tsx'
import { toast, undoable } from '#app/components/toasts.tsx'
import { TextField } from '#app/forms/fields.tsx'
import { Form, useForm } from '#app/forms/form.tsx'

import { atFields } from './compose-errors.ts'
import { splitAddresses } from './mail-names.ts'
import { setupText as t } from './setup-texts.ts'
import { siteDomain } from './site-domain.ts'

const LIST = '/admin/api/contact-recipients'

/** Who gets what is written in the contact form of the site. */
export function ContactRecipients(): JSX.Element {
  const recipients = useList(LIST, { query: { limit: '100' } })
  const isAdding = useSignal(false)
  const add = (
    <Button look="primary" icon="add" onClick={() => (isAdding.value = true)}>
      {t('contact.add')}
    </Button>
  )
  return (
    <Page
      title={t('contact.title')}
      lead={t('contact.lead')}
      call={{ method: 'GET', path: LIST, command: `croft contact-recipient list ${siteDomain()}` }}
      actions={add}
    >
      <DataTable
        label={t('contact.title')}
        list={recipients}
        columns={[
          { key: 'email', header: t('aliases.address'), cell: ({ email }) => email },
          {
            key: 'since',
            header: t('contact.since'),
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
        ]}
        rowKey={({ email }) => email}
        rowActions={({ email }) => (
          <IconButton
            icon="trash"
            label={`${t('setup.remove')}: ${email}`}
            onClick={() => removeRecipient(email)}
          />
        )}
        empty={
          <EmptyState
            icon="contact"
            title={t('contact.none')}
            action={add}
            command={`croft contact-recipient add ${siteDomain()} --email ADDRESS`}
          >
            {t('contact.none-lead')}
          </EmptyState>
        }
      />
      {isAdding.value && <AddDialog onClose={() => (isAdding.value = false)} />}
    </Page>
  )
}

function removeRecipient(address: string): void {
  updateList(LIST, (items) => items.filter(({ email }) => email !== address))
  undoable({
    text: t('contact.removed', { address }),
    onUndo: () => invalidate(LIST),
    run: async () => {
      await api.delete(LIST, { body: { recipients: [address] } })
      invalidate(LIST)
    },
  })
}

function AddDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const form = useForm({
    name: 'recipients',
    initial: { recipients: '' },
    async submit(written) {
      const recipients = splitAddresses(written.recipients)
      try {
        await api.post(LIST, { body: { recipients } })
      } catch (error) {
        throw atFields(error, { recipients })
      }
      invalidate(LIST)
      toast(t('contact.added', { count: recipients.length }))
      onClose()
    },
  })
  return (
    <Dialog title={t('contact.add')} onClose={onClose}>
      <Form form={form} action={t('setup.add')} onCancel={onClose}>
        <TextField
          form={form}
          name="recipients"
          rows={4}
          isCode
          required
          label={t('contact.addresses')}
          hint={t('contact.addresses-hint')}
        />
      </Form>
    </Dialog>
  )
}
