import type { ComponentChildren, JSX } from 'preact'

export type Tone = 'neutral' | 'good' | 'warning' | 'bad' | 'accent'

export interface BadgeProps {
  readonly children: ComponentChildren
  readonly tone?: Tone
}

/** A state in a word. The color is never all that says it. */
export const Badge = ({ children, tone = 'neutral' }: BadgeProps): JSX.Element => (
  <span class={`badge ${tone}`}>{children}</span>
)
