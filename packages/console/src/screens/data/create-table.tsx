import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import { Dialog } from '#app/components/dialog.tsx'
import { SelectField, TextField } from '#app/forms/fields.tsx'
import { Form, type FormState, useForm } from '#app/forms/form.tsx'
import { pathTo } from '#app/router/route-match.ts'
import { navigate } from '#app/router/router.ts'

import { KEY_TYPES, type KeyType } from './table-shape.ts'
import { t } from './texts.ts'

/** Named as the API names the fields of the body. */
const INITIAL = {
  name: '',
  'config.partitionKey.name': '',
  'config.partitionKey.type': 'S' as KeyType,
  'config.sortKey.name': '',
  'config.sortKey.type': 'S' as KeyType,
  'config.ttlAttribute': '',
}
type TableValues = typeof INITIAL

export function CreateTable({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const form = useForm({
    name: 'create-table',
    initial: INITIAL,
    async submit(values) {
      const { resourceId } = await api.post('/admin/data/resources', { body: bodyOf(values) })
      onClose()
      navigate(pathTo('/tables/{resourceId}', { resourceId }))
    },
  })
  return (
    <Dialog title={t('tables.create')} onClose={onClose}>
      <Form form={form} action={t('tables.create')} onCancel={onClose}>
        <TableFields form={form} />
      </Form>
    </Dialog>
  )
}

function bodyOf(values: TableValues) {
  const sortKey = values['config.sortKey.name']
  const ttlAttribute = values['config.ttlAttribute']
  return {
    type: 'ddbTable',
    name: values.name,
    config: {
      partitionKey: {
        name: values['config.partitionKey.name'],
        type: values['config.partitionKey.type'],
      },
      ...(sortKey && { sortKey: { name: sortKey, type: values['config.sortKey.type'] } }),
      ...(ttlAttribute && { ttlAttribute }),
    },
  } as const
}

function TableFields({ form }: { readonly form: FormState<TableValues> }): JSX.Element {
  const types = KEY_TYPES.map((type) => ({ value: type, label: t(`type.${type}`) }))
  return (
    <>
      <TextField
        form={form}
        name="name"
        isCode
        required
        label={t('resource.name')}
        hint={t('resource.name-hint')}
      />
      <div class="data-pair">
        <TextField
          form={form}
          name="config.partitionKey.name"
          isCode
          required
          label={t('table.partition-key')}
        />
        <SelectField
          form={form}
          name="config.partitionKey.type"
          label={t('table.type')}
          choices={types}
        />
      </div>
      <div class="data-pair">
        <TextField
          form={form}
          name="config.sortKey.name"
          isCode
          label={t('table.sort-key')}
          hint={t('table.sort-key-hint')}
        />
        <SelectField
          form={form}
          name="config.sortKey.type"
          label={t('table.type')}
          choices={types}
        />
      </div>
      <TextField
        form={form}
        name="config.ttlAttribute"
        isCode
        label={t('table.ttl')}
        hint={t('table.ttl-hint')}
      />
    </>
  )
}
