import type { JSX } from 'preact'

interface Tab {
  readonly label: string
  /** Each tab has an address of its own. */
  readonly href: string
  /** Of the tab that is on show: a page of its own, or another view of the page. */
  readonly current: 'page' | 'true' | undefined
}

export interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
}

/** The parts of a screen, as links: each can be linked to, and the way back works. */
export const Tabs = ({ label, tabs }: TabsProps): JSX.Element => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ label: text, href, current }) => (
      <a key={href} href={href} aria-current={current}>
        {text}
      </a>
    ))}
  </nav>
)
