import type { JSX } from 'preact'

import type { Problem } from '#app/api/problem.ts'
import { t } from '#app/texts/shell.ts'

import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

export interface ProblemNoteProps {
  readonly problem: Problem | undefined
  readonly onRetry?: () => unknown
}

/** What the API says about a call that failed, with the id that finds it in the log. */
export function ProblemNote({ problem, onRetry }: ProblemNoteProps): JSX.Element | null {
  if (problem === undefined) return null
  return (
    <div class="note bad" role="alert">
      <Icon name="warning" />
      <div class="note-text">
        <p>{problem.message}</p>
        <p class="faint">
          <code>{problem.code}</code>
          {problem.requestId && (
            <>
              {' · '}
              <span>{t('problem.request')}</span> <code>{problem.requestId}</code>
            </>
          )}
        </p>
      </div>
      {onRetry && <Button onClick={onRetry}>{t('problem.retry')}</Button>}
    </div>
  )
}
