import type { JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

import { SearchField } from '#app/components/search-field.tsx'
import { currentQuery, setQuery } from '#app/router/router.ts'

import { LEVELS, RANGES } from './log-filter.ts'
import { t } from './texts.ts'

interface NamedFunction {
  readonly resourceId: string
  readonly name: string
}

export interface LogToolbarProps {
  readonly operations: readonly string[]
  readonly functions: readonly NamedFunction[]
}

/** The filters of the log. Each is kept in the address. */
export function LogToolbar({ operations, functions }: LogToolbarProps): JSX.Element {
  const address = currentQuery.value
  const isCustom = address.has('since') || address.has('until') || address.get('range') === 'custom'
  return (
    <div class="log-toolbar" role="group" aria-label={t('filters')}>
      <SearchField label={t('search')} />
      <FilterSelect
        name="level"
        label={t('level')}
        any={t('level.any')}
        choices={LEVELS.map((level) => [level, t(`level.${level}`)])}
      />
      <FilterSelect
        name="operation"
        label={t('operation')}
        any={t('operation.any')}
        choices={operations.map((operation) => [operation, operation])}
      />
      <FilterSelect
        name="function"
        label={t('function')}
        any={t('function.any')}
        choices={functions.map(({ resourceId, name }) => [resourceId, name])}
      />
      <FilterSelect
        name="range"
        label={t('time')}
        any={t('time.any')}
        value={isCustom ? 'custom' : undefined}
        choices={[
          ...Object.keys(RANGES).map(
            (range) => [range, t(`time.${range as keyof typeof RANGES}`)] as const,
          ),
          ['custom', t('time.custom')],
        ]}
        more={{ since: undefined, until: undefined }}
      />
      <FilterText name="requestId" label={t('request')} />
      {isCustom && (
        <>
          <FilterTime name="since" label={t('since')} />
          <FilterTime name="until" label={t('until')} />
        </>
      )}
    </div>
  )
}

interface FilterSelectProps {
  readonly name: string
  readonly label: string
  /** Of the choice that filters nothing. */
  readonly any: string
  readonly choices: readonly (readonly [value: string, label: string])[]
  /** In place of what the address has. */
  readonly value?: string | undefined
  /** Changed together with it. */
  readonly more?: Readonly<Record<string, undefined>>
}

function FilterSelect(props: FilterSelectProps): JSX.Element {
  const { name, label, any, choices, more } = props
  const value = props.value ?? currentQuery.value.get(name) ?? ''
  const isKnown = value === '' || choices.some(([choice]) => choice === value)
  return (
    <select
      class="input"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => setQuery({ ...more, [name]: currentTarget.value })}
    >
      <option value="">{any}</option>
      {!isKnown && <option value={value}>{value}</option>}
      {choices.map(([choice, text]) => (
        <option key={choice} value={choice}>
          {text}
        </option>
      ))}
    </select>
  )
}

function FilterText({
  name,
  label,
}: {
  readonly name: string
  readonly label: string
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null)
  const value = currentQuery.value.get(name) ?? ''
  useEffect(() => {
    if (input.current && document.activeElement !== input.current) input.current.value = value
  }, [value])
  return (
    <input
      ref={input}
      class="input code"
      type="search"
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      autocomplete="off"
      spellcheck={false}
      onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value.trim() })}
    />
  )
}

function FilterTime({
  name,
  label,
}: {
  readonly name: 'since' | 'until'
  readonly label: string
}): JSX.Element {
  const id = useId()
  const value = currentQuery.value.get(name)
  return (
    <div class="log-time">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type="datetime-local"
        step="1"
        value={value === null ? '' : localTime(new Date(value))}
        onChange={({ currentTarget }) =>
          setQuery({
            range: 'custom',
            [name]:
              currentTarget.value === '' ? undefined : new Date(currentTarget.value).toISOString(),
          })
        }
      />
    </div>
  )
}

/** As the input of the browser wants it: in the reader's zone, without naming it. */
const localTime = (time: Date): string =>
  Number.isNaN(time.getTime())
    ? ''
    : new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
