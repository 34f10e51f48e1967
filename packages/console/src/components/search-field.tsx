import type { JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

import { currentQuery, setQuery } from '#app/router/router.ts'

import { Icon } from './icon.tsx'

const DELAY_MS = 200

export interface SearchFieldProps {
  readonly label: string
  /** The name in the query of the screen. */
  readonly name?: string
}

/** A search that is kept in the address. `/` moves the focus to it. */
export function SearchField({ label, name = 'q' }: SearchFieldProps): JSX.Element {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const value = currentQuery.value.get(name) ?? ''
  useEffect(() => {
    // The way back changes the query, too; what is being typed is not touched.
    if (input.current && document.activeElement !== input.current) input.current.value = value
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <div class="search" role="search">
      <label class="visually-hidden" for={id}>
        {label}
      </label>
      <Icon name="search" />
      <input
        ref={input}
        id={id}
        class="input"
        type="search"
        placeholder={label}
        defaultValue={value}
        autocomplete="off"
        spellcheck={false}
        data-search
        onInput={({ currentTarget }) => {
          clearTimeout(timer.current)
          timer.current = setTimeout(
            () => setQuery({ [name]: currentTarget.value.trim() }),
            DELAY_MS,
          )
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  )
}
