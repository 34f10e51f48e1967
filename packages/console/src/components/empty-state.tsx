import type { ComponentChildren, JSX } from 'preact'

import { t } from '#app/texts/shell.ts'

import { CodeBlock } from './code-block.tsx'
import { Icon, type IconName } from './icon.tsx'

export interface EmptyStateProps {
  readonly icon: IconName
  readonly title: string
  /** Whether it takes the place of the whole screen: its title is the heading of the page then. */
  readonly isPage?: boolean
  /** What this is for, and what to do next. */
  readonly children: ComponentChildren
  readonly action?: ComponentChildren
  /** The same by the command line. */
  readonly command?: string
}

export const EmptyState = (props: EmptyStateProps): JSX.Element => (
  <div class="empty">
    <Icon name={props.icon} class="empty-icon" />
    {props.isPage ? <h1 tabIndex={-1}>{props.title}</h1> : <h2>{props.title}</h2>}
    <p>{props.children}</p>
    {props.action}
    {props.command !== undefined && (
      <div class="empty-command">
        <p class="faint">{t('empty.command')}</p>
        <CodeBlock code={props.command} />
      </div>
    )}
  </div>
)
