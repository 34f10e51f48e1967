import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import { invalidate, updateList, useList } from '#app/api/resources.ts'
import { Button, IconButton } from '#app/components/button.tsx'
import { CodeBlock } from '#app/components/code-block.tsx'
import { DataTable } from '#app/components/data-table.tsx'
import { Dialog } from '#app/components/dialog.tsx'
import { Section } from '#app/components/page.tsx'
import { Time } from '#app/components/time.tsx'
import { undoable } from '#app/components/toasts.tsx'
import { TextField } from '#app/forms/fields.tsx'
import { Form, useForm } from '#app/forms/form.tsx'

import type { MailboxSectionProps } from './mailbox-forwarding.tsx'
import { setupText as t } from './setup-texts.ts'

const LIST = '/admin/api/mailboxes/{address}/submission-credentials'

/** The passwords of mail programs that send from a mailbox. */
export function PasswordsSection({ address }: MailboxSectionProps): JSX.Element {
  const passwords = useList(LIST, { params: { address } })
  const isAdding = useSignal(false)
  return (
    <Section
      title={t('passwords.title')}
      lead={t('passwords.lead')}
      actions={
        <Button icon="add" onClick={() => (isAdding.value = true)}>
          {t('passwords.add')}
        </Button>
      }
    >
      <DataTable
        label={t('passwords.title')}
        list={passwords}
        columns={[
          { key: 'name', header: t('passwords.name'), cell: ({ name }) => name },
          {
            key: 'used',
            header: t('passwords.used'),
            cell: ({ lastUsedAt }) =>
              lastUsedAt === null ? t('passwords.never') : <Time at={lastUsedAt} />,
          },
        ]}
        rowKey={({ credentialId }) => credentialId}
        rowActions={({ credentialId, name }) => (
          <IconButton
            icon="trash"
            label={`${t('setup.delete')}: ${name}`}
            onClick={() => deletePassword(address, { credentialId, name })}
          />
        )}
        empty={<p class="faint">{t('passwords.none')}</p>}
      />
      {isAdding.value && <AddDialog address={address} onClose={() => (isAdding.value = false)} />}
    </Section>
  )
}

function deletePassword(
  address: string,
  { credentialId, name }: { readonly credentialId: string; readonly name: string },
): void {
  updateList(LIST, (items) => items.filter((item) => item.credentialId !== credentialId))
  undoable({
    text: t('passwords.deleted', { name }),
    onUndo: () => invalidate(LIST),
    run: async () => {
      await api.delete(`${LIST}/{credentialId}`, { params: { address, credentialId } })
      invalidate(LIST)
    },
  })
}

interface AddDialogProps extends MailboxSectionProps {
  readonly onClose: () => void
}

function AddDialog({ address, onClose }: AddDialogProps): JSX.Element {
  const made = useSignal<string | undefined>(undefined)
  const form = useForm({
    name: 'password',
    initial: { name: '' },
    async submit({ name }) {
      const { server, username, password } = await api.post(LIST, {
        params: { address },
        body: { name },
      })
      invalidate(LIST)
      made.value = `${server.host}:${server.port} ${server.security}\n${username}\n${password}`
    },
  })
  if (made.value === undefined) {
    return (
      <Dialog title={t('passwords.add')} onClose={onClose}>
        <Form form={form} action={t('passwords.add')} onCancel={onClose}>
          <TextField
            form={form}
            name="name"
            required
            maxLength={100}
            label={t('passwords.name')}
            hint={t('passwords.name-hint')}
          />
        </Form>
      </Dialog>
    )
  }
  const [server = '', username = '', password = ''] = made.value.split('\n')
  return (
    <Dialog title={t('passwords.made')} onClose={onClose}>
      <div class="form">
        <p class="prose">{t('passwords.made-lead')}</p>
        <dl class="facts">
          <dt>{t('passwords.server')}</dt>
          <dd>{server}</dd>
          <dt>{t('passwords.user')}</dt>
          <dd>{username}</dd>
        </dl>
        <CodeBlock code={password} label={t('passwords.title')} />
        <footer class="dialog-foot">
          <Button look="primary" onClick={onClose}>
            {t('passwords.done')}
          </Button>
        </footer>
      </div>
    </Dialog>
  )
}
