import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

import { Button, IconButton } from '#app/components/button.tsx'
import { CodeBlock } from '#app/components/code-block.tsx'
import { Field } from '#app/forms/fields.tsx'
import { currentPath, navigate } from '#app/router/router.ts'

import {
  FILTER_OPERATORS,
  type Filter,
  type ReadRequest,
  type ReadState,
  SORT_OPERATORS,
  ValueFault,
  readQuery,
  readRequest,
  schemaOf,
} from './read-request.ts'
import type { TableShape } from './table-shape.ts'
import { t } from './texts.ts'

const EMPTY: Filter = { name: '', operator: '=', type: 'text', value: '' }

export interface ReadFormProps {
  readonly shape: TableShape
  readonly state: ReadState
  readonly request: ReadRequest | undefined
}

/** Builds what is read by clicking: a scan, or a query of a key, with filters. */
export function ReadForm({ shape, state, request }: ReadFormProps): JSX.Element {
  const draft = useSignal(state)
  const fault = useSignal<string | undefined>(undefined)
  const set = (change: Partial<ReadState>) => {
    draft.value = { ...draft.peek(), ...change }
    fault.value = undefined
  }
  const apply = () => {
    try {
      readRequest(draft.value, shape)
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error
      fault.value = error.field
      return
    }
    navigate(`${currentPath.peek()}?${readQuery(draft.value)}`)
  }
  const { filters } = draft.value
  const isChanged = JSON.stringify(draft.value) !== JSON.stringify(state)
  return (
    <form
      class="card read-form"
      aria-label={t('read.title')}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <KeyFields shape={shape} draft={draft.value} fault={fault.value} set={set} />
      <Filters filters={filters} fault={fault.value} set={(next) => set({ filters: next })} />
      <div class="toolbar">
        <Button icon="filter" onClick={() => set({ filters: [...filters, EMPTY] })}>
          {t('filter.add')}
        </Button>
        <Button type="submit" look={isChanged ? 'primary' : 'secondary'} icon="search">
          {t('read.apply')}
        </Button>
        {readQuery(state).size > 0 && (
          <Button look="quiet" onClick={() => navigate(currentPath.peek())}>
            {t('read.reset')}
          </Button>
        )}
      </div>
      {request !== undefined && Object.keys(request.body).length > 0 && (
        <details>
          <summary>{t('read.expression')}</summary>
          <CodeBlock code={JSON.stringify(request.body, null, 2)} label={t('read.expression')} />
        </details>
      )}
    </form>
  )
}

interface KeyFieldsProps {
  readonly shape: TableShape
  readonly draft: ReadState
  readonly fault: string | undefined
  readonly set: (change: Partial<ReadState>) => void
}

function KeyFields({ shape, draft, fault, set }: KeyFieldsProps): JSX.Element {
  const schema = schemaOf(shape, draft.by)
  return (
    <div class="read-fields">
      <Select
        label={t('read.by')}
        value={draft.by}
        onChange={(by) => set({ by })}
        choices={[
          { value: '', label: t('read.scan') },
          { value: 'key', label: t('read.key') },
          ...shape.indexes.map(({ indexName }) => ({
            value: `index.${indexName}`,
            label: t('table.index', { name: indexName }),
          })),
        ]}
      />
      {schema && (
        <Text
          label={`${schema.partitionKey.name} =`}
          value={draft.partition}
          fault={fault === 'partition' ? valueHint(schema.partitionKey.type) : undefined}
          onInput={(partition) => set({ partition })}
        />
      )}
      {schema?.sortKey && (
        <SortFields
          name={schema.sortKey.name}
          type={schema.sortKey.type}
          {...{ draft, fault, set }}
        />
      )}
      {schema && (
        <Select
          label={t('read.order')}
          value={draft.isDescending ? 'descending' : 'ascending'}
          onChange={(order) => set({ isDescending: order === 'descending' })}
          choices={[
            { value: 'ascending', label: t('read.ascending') },
            { value: 'descending', label: t('read.descending') },
          ]}
        />
      )}
    </div>
  )
}

interface SortFieldsProps extends Omit<KeyFieldsProps, 'shape'> {
  readonly name: string
  readonly type: 'S' | 'N' | 'B'
}

function SortFields({ name, type, draft, fault, set }: SortFieldsProps): JSX.Element {
  const { sortOperator } = draft
  const faultOf = (field: string) => (fault === field ? valueHint(type) : undefined)
  return (
    <>
      <Select
        label={name}
        value={sortOperator}
        onChange={(value) =>
          set({ sortOperator: SORT_OPERATORS.find((each) => each === value) ?? '' })
        }
        choices={SORT_OPERATORS.filter((each) => type !== 'N' || each !== 'begins_with').map(
          (value) => ({ value, label: operatorName(value) }),
        )}
      />
      {sortOperator !== '' && (
        <Text
          label={t('read.value', { name })}
          value={draft.sort}
          fault={faultOf('sort')}
          onInput={(sort) => set({ sort })}
        />
      )}
      {sortOperator === 'between' && (
        <Text
          label={t('read.end')}
          value={draft.sortEnd}
          fault={faultOf('end')}
          onInput={(sortEnd) => set({ sortEnd })}
        />
      )}
    </>
  )
}

interface FiltersProps {
  readonly filters: readonly Filter[]
  readonly fault: string | undefined
  readonly set: (filters: readonly Filter[]) => void
}

function Filters({ filters, fault, set }: FiltersProps): JSX.Element | null {
  if (filters.length === 0) return null
  return (
    <ul class="read-filters">
      {filters.map((filter, at) => (
        <li key={at}>
          <FilterRow
            filter={filter}
            fault={fault === `filter.${at}` ? t('filter.fault') : undefined}
            set={(change) =>
              set(filters.map((each, index) => (index === at ? { ...each, ...change } : each)))
            }
            onRemove={() => set(filters.filter((_, index) => index !== at))}
          />
        </li>
      ))}
    </ul>
  )
}

interface FilterRowProps {
  readonly filter: Filter
  readonly fault: string | undefined
  readonly set: (change: Partial<Filter>) => void
  readonly onRemove: () => void
}

function FilterRow({ filter, fault, set, onRemove }: FilterRowProps): JSX.Element {
  const hasValue = filter.operator !== 'exists' && filter.operator !== 'missing'
  return (
    <div class="read-fields">
      <Text
        label={t('filter.attribute')}
        value={filter.name}
        fault={hasValue ? undefined : fault}
        onInput={(name) => set({ name })}
      />
      <Select
        label={t('filter.operator')}
        value={filter.operator}
        onChange={(value) =>
          set({ operator: FILTER_OPERATORS.find((each) => each === value) ?? '=' })
        }
        choices={FILTER_OPERATORS.map((value) => ({ value, label: operatorName(value) }))}
      />
      {hasValue && (
        <Select
          label={t('table.type')}
          value={filter.type}
          onChange={(type) => set({ type: type === 'json' ? 'json' : 'text' })}
          choices={[
            { value: 'text', label: t('type.S') },
            { value: 'json', label: t('filter.json') },
          ]}
        />
      )}
      {hasValue && (
        <Text
          label={t('filter.value')}
          value={filter.value}
          fault={fault}
          onInput={(value) => set({ value })}
        />
      )}
      <IconButton icon="close" label={t('filter.remove')} onClick={onRemove} class="read-remove" />
    </div>
  )
}

const valueHint = (type: 'S' | 'N' | 'B'): string =>
  type === 'N' ? t('read.number-fault') : t('read.value-fault')

function operatorName(operator: string): string {
  switch (operator) {
    case '':
      return t('operator.any')
    case 'between':
      return t('operator.between')
    case 'begins_with':
      return t('operator.begins_with')
    case 'contains':
      return t('operator.contains')
    case 'exists':
      return t('operator.exists')
    case 'missing':
      return t('operator.missing')
    case '<>':
      return '≠'
    case '<=':
      return '≤'
    case '>=':
      return '≥'
    default:
      return operator
  }
}

interface TextProps {
  readonly label: ComponentChildren & string
  readonly value: string
  readonly fault: string | undefined
  readonly onInput: (value: string) => void
}

const Text = ({ label, value, fault, onInput }: TextProps): JSX.Element => (
  <Field label={label} error={fault}>
    {(control) => (
      <input
        {...control}
        class="input code"
        value={value}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    )}
  </Field>
)

interface SelectProps {
  readonly label: string
  readonly value: string
  readonly choices: readonly { readonly value: string; readonly label: string }[]
  readonly onChange: (value: string) => void
}

function Select({ label, value, choices, onChange }: SelectProps): JSX.Element {
  const id = useId()
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      <select
        id={id}
        class="input"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </div>
  )
}
