import type { JSX } from 'preact'

import { problemOf } from '#app/api/problem.ts'
import { Button } from '#app/components/button.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { t } from '#app/texts/shell.ts'

/** In place of a screen whose code failed: a newer version may be there, so a reload mostly helps. */
export const ScreenFailure = ({ error }: { readonly error: unknown }): JSX.Element => (
  <EmptyState
    isPage
    icon="warning"
    title={t('shell.error')}
    action={
      <Button look="primary" onClick={() => location.reload()}>
        {t('shell.reload')}
      </Button>
    }
  >
    {problemOf(error).message}
  </EmptyState>
)
