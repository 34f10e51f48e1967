import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

import { Dialog } from '#app/components/dialog.tsx'
import { Icon } from '#app/components/icon.tsx'
import { navigate } from '#app/router/router.ts'
import { SCREENS, isFor } from '#app/screens.ts'
import { registerFinders } from '#app/screens/find.ts'
import { currentSession } from '#app/session/current-session.ts'
import { t } from '#app/texts/shell.ts'

import { type Found, findProviders } from './find-providers.ts'

const DELAY_MS = 150
const MAX_FOUND = 30

// Once, when the palette is first opened.
registerFinders()

/** Goes to any screen, or to what the providers find. */
export function Palette({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const text = useSignal('')
  const found = useSignal<readonly Found[]>([])
  const chosen = useSignal(0)
  const listId = useId()
  useFound(text.value, (more) => (found.value = more))
  const entries = [...screensNamed(text.value), ...found.value].slice(0, MAX_FOUND)
  const at = Math.min(chosen.value, Math.max(0, entries.length - 1))
  const open = (entry: Found | undefined) => {
    if (entry === undefined) return
    onClose()
    navigate(entry.href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && entries.length > 0) {
      event.preventDefault()
      chosen.value = (at + step + entries.length) % entries.length
    }
    if (event.key === 'Enter' && !event.isComposing) open(entries[at])
  }
  return (
    <Dialog title={t('keys.palette')} onClose={onClose}>
      <div class="palette">
        <input
          class="input"
          role="combobox"
          aria-label={t('palette.label')}
          placeholder={t('palette.label')}
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={entries.length > 0 ? `${listId}-${at}` : undefined}
          autocomplete="off"
          spellcheck={false}
          value={text.value}
          onKeyDown={onKeyDown}
          onInput={(event) => {
            text.value = event.currentTarget.value
            chosen.value = 0
          }}
        />
        <Options id={listId} entries={entries} at={at} onOpen={open} />
        {entries.length === 0 && <p class="faint palette-none">{t('palette.none')}</p>}
      </div>
    </Dialog>
  )
}

interface OptionsProps {
  readonly id: string
  readonly entries: readonly Found[]
  /** The index of the chosen one. */
  readonly at: number
  readonly onOpen: (entry: Found) => void
}

function Options({ id, entries, at, onOpen }: OptionsProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at])
  return (
    <ul ref={list} id={id} role="listbox" aria-label={t('palette.label')}>
      {entries.map((entry, index) => (
        <li
          key={entry.href}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          onClick={() => onOpen(entry)}
        >
          <Icon name={entry.icon} />
          <span>{entry.label}</span>
          <span class="faint">{entry.detail}</span>
        </li>
      ))}
    </ul>
  )
}

function screensNamed(text: string): Found[] {
  const role = currentSession().account.value?.role ?? 'user'
  const words = text.toLowerCase().trim()
  return SCREENS.filter((screen) => screen.icon !== undefined && isFor(screen, role))
    .map((screen) => ({
      label: t(screen.title),
      detail: t(`area.${screen.area}`),
      icon: screen.icon ?? 'home',
      href: screen.path,
    }))
    .filter(({ label, detail }) => `${label} ${detail}`.toLowerCase().includes(words))
}

/** Asks the providers when the typing pauses. */
function useFound(text: string, show: (found: readonly Found[]) => void): void {
  useEffect(() => {
    const words = text.trim()
    if (words.length < 2) {
      show([])
      return undefined
    }
    const controller = new AbortController()
    const timer = setTimeout(() => {
      void findAll(words, controller.signal).then((found) => {
        if (!controller.signal.aborted) show(found)
      })
    }, DELAY_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text])
}

/** What all providers find; one that fails finds nothing. */
async function findAll(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const results = await Promise.allSettled(findProviders().map(async (find) => find(text, signal)))
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}
