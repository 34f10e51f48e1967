import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import { type ItemOf, invalidate, updateList, useList } from '#app/api/resources.ts'
import { Button } from '#app/components/button.tsx'
import { DataTable } from '#app/components/data-table.tsx'
import { Dialog } from '#app/components/dialog.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Icon } from '#app/components/icon.tsx'
import { Menu } from '#app/components/menu.tsx'
import { Page } from '#app/components/page.tsx'
import { toast, undoable } from '#app/components/toasts.tsx'
import { TextField } from '#app/forms/fields.tsx'
import { Form, useForm } from '#app/forms/form.tsx'

import { atFields } from './compose-errors.ts'
import { splitAddresses } from './mail-names.ts'
import { setupText as t } from './setup-texts.ts'
import { siteDomain } from './site-domain.ts'

type Alias = ItemOf<'/admin/api/aliases'>

const LIST = '/admin/api/aliases'

/** Addresses that lead to mailboxes. */
export function Aliases(): JSX.Element {
  const aliases = useList(LIST, { query: { limit: '100' } })
  const edited = useSignal<Alias | 'new' | undefined>(undefined)
  const create = (
    <Button look="primary" icon="add" onClick={() => (edited.value = 'new')}>
      {t('aliases.add')}
    </Button>
  )
  return (
    <Page
      title={t('aliases.title')}
      lead={t('aliases.lead')}
      call={{ method: 'GET', path: LIST, command: `croft alias list ${siteDomain()}` }}
      actions={create}
    >
      <DataTable
        label={t('aliases.title')}
        list={aliases}
        columns={[
          { key: 'address', header: t('aliases.address'), cell: ({ address }) => address },
          {
            key: 'targets',
            header: t('aliases.targets'),
            cell: ({ targets }) => <span title={targets.join(', ')}>{targets.join(', ')}</span>,
          },
        ]}
        rowKey={({ address }) => address}
        rowActions={(alias) => <AliasMenu alias={alias} onChange={() => (edited.value = alias)} />}
        empty={
          <EmptyState
            icon="alias"
            title={t('aliases.none')}
            action={create}
            command={`croft alias set office@${siteDomain()} --to info@${siteDomain()}`}
          >
            {t('aliases.none-lead')}
          </EmptyState>
        }
      />
      {edited.value !== undefined && (
        <AliasDialog
          alias={edited.value === 'new' ? undefined : edited.value}
          onClose={() => (edited.value = undefined)}
        />
      )}
    </Page>
  )
}

interface AliasMenuProps {
  readonly alias: Alias
  readonly onChange: () => void
}

const AliasMenu = ({ alias: { address }, onChange }: AliasMenuProps): JSX.Element => (
  <Menu
    label={t('setup.actions', { name: address })}
    items={[
      { label: t('setup.change'), icon: 'edit', onSelect: onChange },
      {
        label: t('setup.delete'),
        icon: 'trash',
        isDanger: true,
        onSelect: () => deleteAlias(address),
      },
    ]}
  >
    <Icon name="more" />
  </Menu>
)

function deleteAlias(address: string): void {
  updateList(LIST, (items) => items.filter((alias) => alias.address !== address))
  undoable({
    text: t('aliases.deleted', { address }),
    onUndo: () => invalidate(LIST),
    run: async () => {
      await api.delete('/admin/api/aliases/{address}', { params: { address } })
      invalidate(LIST)
    },
  })
}

interface AliasDialogProps {
  readonly alias: Alias | undefined
  readonly onClose: () => void
}

function AliasDialog({ alias, onClose }: AliasDialogProps): JSX.Element {
  const form = useForm({
    name: `alias ${alias?.address ?? ''}`,
    initial: { address: alias?.address ?? '', targets: alias?.targets.join('\n') ?? '' },
    async submit(written) {
      const address = written.address.trim()
      const targets = splitAddresses(written.targets)
      try {
        await api.put('/admin/api/aliases/{address}', { params: { address }, body: { targets } })
      } catch (error) {
        throw atFields(error, { targets })
      }
      invalidate(LIST)
      toast(t('aliases.saved', { address }))
      onClose()
    },
  })
  return (
    <Dialog title={t(alias ? 'aliases.edit' : 'aliases.add')} onClose={onClose}>
      <Form form={form} action={t('setup.save')} onCancel={onClose}>
        {alias ? (
          <p>
            <strong>{alias.address}</strong>
          </p>
        ) : (
          <TextField
            form={form}
            name="address"
            type="email"
            required
            label={t('aliases.address')}
            hint={t('aliases.address-hint', { domain: siteDomain() })}
          />
        )}
        <TextField
          form={form}
          name="targets"
          rows={4}
          isCode
          required
          label={t('aliases.targets')}
          hint={t('aliases.targets-hint')}
        />
      </Form>
    </Dialog>
  )
}
