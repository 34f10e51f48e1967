import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { type Problem, problemOf } from '#app/api/problem.ts'
import { Button } from '#app/components/button.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'

import { type Item, writeExact } from './exact-json.ts'
import { changedNames } from './item-change.ts'
import { t } from './texts.ts'

/** An item that was changed elsewhere since it was shown. */
export interface Conflict {
  readonly shown: Item
  readonly edited: Item
  /** Null where it is deleted. */
  readonly current: Item | null
}

export interface ItemConflictProps {
  readonly conflict: Conflict
  readonly onTheirs: () => void
  /** Saves the second in place of the first. */
  readonly onMine: (current: Item, merged: Item) => Promise<unknown>
}

/** Shows what others changed beside what the person changed, and lets them choose. */
export function ItemConflict({ conflict, onTheirs, onMine }: ItemConflictProps): JSX.Element {
  const { shown, edited, current } = conflict
  const problem = useSignal<Problem | undefined>(undefined)
  const isBusy = useSignal(false)
  if (current === null) {
    return (
      <>
        <p class="note warning" role="alert">
          {t('conflict.gone')}
        </p>
        <footer class="dialog-foot">
          <Button look="primary" onClick={onTheirs}>
            {t('conflict.reload')}
          </Button>
        </footer>
      </>
    )
  }
  const mine = changedNames(shown, edited)
  const names = [...new Set([...mine, ...changedNames(shown, current)])]
  const saveMine = async () => {
    isBusy.value = true
    problem.value = undefined
    await onMine(current, merged(current, edited, mine)).catch((error: unknown) => {
      problem.value = problemOf(error)
    })
    isBusy.value = false
  }
  return (
    <>
      <p class="note warning" role="alert">
        {t('conflict.lead')}
      </p>
      <ProblemNote problem={problem.value} />
      {names.map((name) => (
        <dl key={name} class="conflict">
          <dt class="conflict-name">
            <code>{name}</code>
          </dt>
          <dt>{t('conflict.shown')}</dt>
          <dd>{written(shown[name])}</dd>
          <dt>{t('conflict.now')}</dt>
          <dd>{written(current[name])}</dd>
          <dt>{t('conflict.yours')}</dt>
          <dd>{written(mine.includes(name) ? edited[name] : current[name])}</dd>
        </dl>
      ))}
      <footer class="dialog-foot">
        <Button onClick={onTheirs}>{t('conflict.keep-theirs')}</Button>
        <Button look="primary" onClick={saveMine} isBusy={isBusy.value}>
          {t('conflict.keep-mine')}
        </Button>
      </footer>
    </>
  )
}

const written = (value: unknown): JSX.Element =>
  value === undefined ? <span class="faint">—</span> : <code>{writeExact(value)}</code>

/** What is there now, with what the person changed. */
function merged(current: Item, edited: Item, names: readonly string[]): Item {
  const kept = Object.entries(current).filter(([name]) => !names.includes(name))
  const own = Object.entries(edited).filter(([name]) => names.includes(name))
  return Object.fromEntries([...kept, ...own])
}
