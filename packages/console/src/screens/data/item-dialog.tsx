import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'

import { type Problem, problemOf } from '#app/api/problem.ts'
import { Button } from '#app/components/button.tsx'
import { Dialog } from '#app/components/dialog.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { toast } from '#app/components/toasts.tsx'
import { TextField } from '#app/forms/fields.tsx'
import { Form, useForm } from '#app/forms/form.tsx'

import { type Item, parseExact, writeExact, writeItem } from './exact-json.ts'
import { addRequest, isOtherKey, updateRequest } from './item-change.ts'
import { type Conflict, ItemConflict } from './item-conflict.tsx'
import { fieldError, getItem, isConditionFailed, putItem, updateItem } from './table-api.ts'
import { type TableShape, keyAttributes, keyOf } from './table-shape.ts'
import { t } from './texts.ts'

/** What the dialog is open for: a new item, perhaps like another; an item; one value of it. */
export type OpenItem =
  | { readonly kind: 'add'; readonly item: Item | undefined }
  | { readonly kind: 'edit'; readonly item: Item }
  | { readonly kind: 'cell'; readonly item: Item; readonly name: string }

export interface ItemDialogProps {
  readonly resourceId: string
  readonly shape: TableShape
  readonly open: OpenItem
  readonly onClose: () => void
  /** The item as it is now. */
  readonly onSaved: (item: Item) => void
  /** The item is not there any more. */
  readonly onGone: () => void
}

export function ItemDialog(props: ItemDialogProps): JSX.Element {
  const { open, onClose } = props
  return (
    <Dialog title={titleOf(open)} onClose={onClose} isPanel={open.kind !== 'cell'}>
      {open.kind === 'cell' ? (
        <Editor {...props} shown={open.item} name={open.name} />
      ) : open.kind === 'add' ? (
        <NewItem {...props} like={open.item} />
      ) : (
        <FreshItem {...props} item={open.item} />
      )}
    </Dialog>
  )
}

function titleOf(open: OpenItem): string {
  if (open.kind === 'cell') return t('item.edit-cell', { name: open.name })
  return open.kind === 'edit' ? t('item.edit') : t('item.add')
}

/** Reads the item again: what is edited is what is there now, with all attributes. */
function FreshItem(props: ItemDialogProps & { readonly item: Item }): JSX.Element {
  const { resourceId, shape, item } = props
  const fresh = useSignal<Item | null | undefined>(undefined)
  const problem = useSignal<Problem | undefined>(undefined)
  const load = () =>
    getItem(resourceId, keyOf(shape, item)).then(
      (found) => (fresh.value = found),
      (error: unknown) => (problem.value = problemOf(error)),
    )
  useEffect(() => void load(), [])
  if (problem.value) return <ProblemNote problem={problem.value} onRetry={load} />
  if (fresh.value === undefined) return <Skeleton lines={8} />
  if (fresh.value === null) return <GoneItem {...props} />
  return <Editor {...props} shown={fresh.value} />
}

const GoneItem = ({ onGone, onClose }: ItemDialogProps): JSX.Element => (
  <>
    <p class="note warning">{t('conflict.gone')}</p>
    <footer class="dialog-foot">
      <Button
        look="primary"
        onClick={() => {
          onGone()
          onClose()
        }}
      >
        {t('conflict.reload')}
      </Button>
    </footer>
  </>
)

interface EditorProps extends ItemDialogProps {
  readonly shown: Item
  /** Of the one attribute that is edited; left out, the whole item is. */
  readonly name?: string
}

function Editor(props: EditorProps): JSX.Element {
  const { resourceId, shape, shown, name, onSaved, onGone, onClose } = props
  const conflict = useSignal<Conflict | undefined>(undefined)
  const save = async (before: Item, edited: Item) => {
    const request = updateRequest(shape, before, edited)
    if (request === undefined) return onClose()
    try {
      onSaved(await updateItem(resourceId, request))
    } catch (error) {
      if (!isConditionFailed(error)) throw error
      const current = await getItem(resourceId, keyOf(shape, shown))
      conflict.value = { shown: before, edited, current }
      return
    }
    toast(t('item.saved'))
    onClose()
  }
  const form = useForm({
    // Input is kept for the item that it was typed for, as it was.
    name: `item ${name ?? ''} ${writeItem(shown, { isSorted: true })}`,
    initial: { json: initialText(shown, name) },
    submit: async ({ json }) => save(shown, editedItem(props, json)),
  })
  if (conflict.value) {
    return (
      <ItemConflict
        conflict={conflict.value}
        onTheirs={() => {
          const { current } = conflict.value ?? {}
          if (current) onSaved(current)
          else onGone()
          onClose()
        }}
        onMine={save}
      />
    )
  }
  return (
    <Form form={form} action={t('item.save')} onCancel={onClose} needsChange>
      <TextField
        form={form}
        name="json"
        isCode
        rows={name === undefined ? 20 : 6}
        label={name === undefined ? t('item.json') : t('item.value')}
        hint={name === undefined ? t('item.json-hint') : t('item.value-hint')}
      />
    </Form>
  )
}

const initialText = (shown: Item, name: string | undefined): string => {
  if (name === undefined) return writeItem(shown, { isPretty: true })
  return shown[name] === undefined ? '' : writeExact(shown[name], { isPretty: true })
}

/** The item that the text makes of the one on show. Throws what is wrong with the text. */
function editedItem({ shape, shown, name }: EditorProps, json: string): Item {
  if (name !== undefined) {
    const { [name]: _, ...rest } = shown
    return json.trim() === '' ? rest : { ...rest, [name]: parsedValue(json) }
  }
  const edited = parsedItem(shape, json)
  if (isOtherKey(shape, shown, edited)) throw fieldError('json', t('item.key-fault'))
  return edited
}

function NewItem(props: ItemDialogProps & { readonly like: Item | undefined }): JSX.Element {
  const { resourceId, shape, like, onSaved, onClose } = props
  const form = useForm({
    name: `new item ${like === undefined ? '' : writeItem(like, { isSorted: true })}`,
    initial: { json: writeItem(like ?? emptyItem(shape), { isPretty: true }) },
    async submit({ json }) {
      const item = parsedItem(shape, json)
      try {
        await putItem(resourceId, addRequest(shape, item))
      } catch (error) {
        throw isConditionFailed(error) ? fieldError('json', t('item.exists')) : error
      }
      onSaved(item)
      toast(t('item.added'))
      onClose()
    },
  })
  return (
    <Form form={form} action={t('item.add')} onCancel={onClose}>
      <TextField
        form={form}
        name="json"
        isCode
        rows={20}
        label={t('item.json')}
        hint={like === undefined ? t('item.json-hint') : t('item.duplicate-hint')}
      />
    </Form>
  )
}

const EMPTY_VALUES = { S: '', N: 0, B: { $binary: '' } } as const

const emptyItem = (shape: TableShape): Item =>
  Object.fromEntries(keyAttributes(shape).map(({ name, type }) => [name, EMPTY_VALUES[type]]))

function parsedItem(shape: TableShape, json: string): Item {
  const value = parsedValue(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw fieldError('json', t('item.object-fault'))
  }
  const item: Item = { ...value }
  const missing = keyAttributes(shape).find(({ name }) => item[name] === undefined)
  if (missing) throw fieldError('json', t('item.missing-key', { name: missing.name }))
  return item
}

function parsedValue(json: string): unknown {
  try {
    return parseExact(json)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw fieldError('json', t('item.json-fault', { message }))
  }
}
