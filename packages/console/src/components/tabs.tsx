import type { JSX } from 'preact'

import { currentPath } from '#app/router/router.ts'

export interface Tab {
  readonly label: string
  /** Each tab has an address of its own. */
  readonly href: string
}

export interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
}

/** The parts of a screen, as links: each can be linked to, and the way back works. */
export const Tabs = ({ label, tabs }: TabsProps): JSX.Element => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ label: text, href }) => (
      <a key={href} href={href} aria-current={currentPath.value === href ? 'page' : undefined}>
        {text}
      </a>
    ))}
  </nav>
)
