import type { JSX } from 'preact'

import { t } from '#app/texts/shell.ts'

/** Stands where lines will be. */
export const Skeleton = ({ lines = 3 }: { readonly lines?: number }): JSX.Element => (
  <div class="skeleton" role="status" aria-label={t('loading')}>
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} class="skeleton-line" />
    ))}
  </div>
)
