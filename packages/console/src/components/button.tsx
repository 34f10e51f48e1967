import type { ComponentChildren, JSX } from 'preact'

import { Icon, type IconName } from './icon.tsx'

type Look = 'primary' | 'secondary' | 'quiet' | 'danger'

export interface ButtonProps {
  readonly children: ComponentChildren
  readonly onClick?: () => unknown
  readonly look?: Look
  readonly icon?: IconName
  readonly type?: 'button' | 'submit'
  /** Says that it works, and takes no more clicks. */
  readonly isBusy?: boolean | undefined
  readonly disabled?: boolean | undefined
  /** Makes it a link of that look. */
  readonly href?: string
}

export function Button(props: ButtonProps): JSX.Element {
  const { children, onClick, look = 'secondary', icon, type = 'button', isBusy = false } = props
  const content = (
    <>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </>
  )
  if (props.href !== undefined) {
    return (
      <a class={`button ${look}`} href={props.href}>
        {content}
      </a>
    )
  }
  return (
    <button
      class={`button ${look}`}
      type={type}
      disabled={props.disabled}
      aria-busy={isBusy}
      aria-disabled={isBusy}
      onClick={onClick && (() => void (isBusy || onClick()))}
    >
      {content}
    </button>
  )
}

export interface IconButtonProps {
  readonly icon: IconName
  /** What it does, for screen readers and on hovering. */
  readonly label: string
  readonly onClick: () => unknown
  readonly class?: string
}

export const IconButton = ({
  icon,
  label,
  onClick,
  class: name = '',
}: IconButtonProps): JSX.Element => (
  <button
    class={`icon-button ${name}`}
    type="button"
    aria-label={label}
    title={label}
    onClick={() => void onClick()}
  >
    <Icon name={icon} />
  </button>
)
