import type { ComponentChildren, JSX } from 'preact'

import type { ShownCall } from '#app/api/call-text.ts'
import { t } from '#app/texts/shell.ts'

import { CopyCall } from './copy-call.tsx'
import { Icon } from './icon.tsx'

export interface PageProps {
  readonly title: string
  /** A sentence below the title. */
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  /** The screen that this one belongs to. */
  readonly parent?: { readonly href: string; readonly label: string }
  /** What the screen shows, as a call of the API: people copy it. */
  readonly call?: ShownCall
  readonly children: ComponentChildren
}

/** The frame of every screen. Its heading takes the focus after a navigation. */
export const Page = ({ title, lead, actions, parent, call, children }: PageProps): JSX.Element => (
  <>
    <header class="page-head">
      <div class="page-title">
        {parent && (
          <a class="page-parent" href={parent.href}>
            <Icon name="back" />
            {parent.label}
          </a>
        )}
        <h1 tabIndex={-1}>{title}</h1>
        {lead !== undefined && <p class="page-lead">{lead}</p>}
      </div>
      <div class="page-actions" role="group" aria-label={t('page.actions')}>
        {call && <CopyCall call={call} />}
        {actions}
      </div>
    </header>
    <div class="page-body">{children}</div>
  </>
)

export interface SectionProps {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** A titled part of a screen. */
export const Section = ({ title, lead, actions, children }: SectionProps): JSX.Element => (
  <section class="section">
    <header class="section-head">
      <div>
        <h2>{title}</h2>
        {lead !== undefined && <p class="faint">{lead}</p>}
      </div>
      {actions}
    </header>
    {children}
  </section>
)
