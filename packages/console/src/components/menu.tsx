import type { ComponentChildren, JSX } from 'preact'
import { useId, useRef } from 'preact/hooks'

import { Icon, type IconName } from './icon.tsx'

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly onSelect?: () => unknown
  readonly href?: string
  readonly isDanger?: boolean
  /** One of several that is chosen. */
  readonly isChecked?: boolean
}

export interface MenuProps {
  /** What the button is for, where `children` is an icon. */
  readonly label: string
  readonly children: ComponentChildren
  readonly items: readonly MenuItem[]
  /** Above the items. */
  readonly heading?: ComponentChildren
  readonly class?: string
}

/** A button that opens a list of actions, by the keyboard pattern of WAI-ARIA's menu button. */
export function Menu(props: MenuProps): JSX.Element {
  const { label, children, items, heading, class: name = 'icon-button' } = props
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const entries = () => [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
  const focus = (index: number) =>
    entries()
      .at(index % Math.max(1, entries().length))
      ?.focus()
  const close = () => list.current?.hidePopover()
  const onToggle = () => {
    const isOpen = list.current?.matches(':popover-open') === true
    button.current?.setAttribute('aria-expanded', String(isOpen))
    if (!isOpen || !button.current || !list.current) return
    placeBelow(list.current, button.current)
    focus(0)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const at = entries().findIndex((entry) => entry === document.activeElement)
    const to = placeAfter(event.key, at)
    if (event.key === 'Tab') close()
    if (to === undefined) return
    event.preventDefault()
    focus(to)
  }
  return (
    <>
      <button
        ref={button}
        class={name}
        type="button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded="false"
        popovertarget={id}
      >
        {children}
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        role="menu"
        popover="auto"
        aria-label={label}
        onToggle={onToggle}
        onKeyDown={onKeyDown}
      >
        {heading !== undefined && <div class="menu-heading">{heading}</div>}
        {items.map((item) => (
          <MenuEntry key={item.label} item={item} close={close} />
        ))}
      </div>
    </>
  )
}

function MenuEntry({
  item,
  close,
}: {
  readonly item: MenuItem
  readonly close: () => void
}): JSX.Element {
  const { label, icon, onSelect, href, isDanger, isChecked } = item
  const content = (
    <>
      {isChecked === undefined ? (
        icon && <Icon name={icon} />
      ) : (
        <Icon name="check" class={isChecked ? '' : 'hidden'} />
      )}
      <span>{label}</span>
    </>
  )
  const select = () => {
    close()
    onSelect?.()
  }
  const className = isDanger ? 'menu-item danger' : 'menu-item'
  if (href !== undefined) {
    return (
      <a class={className} role="menuitem" tabIndex={-1} href={href} onClick={select}>
        {content}
      </a>
    )
  }
  return (
    <button
      class={className}
      type="button"
      tabIndex={-1}
      role={isChecked === undefined ? 'menuitem' : 'menuitemradio'}
      aria-checked={isChecked}
      onClick={select}
    >
      {content}
    </button>
  )
}

/** The index that a key moves to; -1 is the last. */
function placeAfter(key: string, at: number): number | undefined {
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: -1,
  }
  return moves[key]
}

/** Below the button and within the window, or above it where there is more room. */
function placeBelow(list: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect()
  const { offsetWidth, offsetHeight } = list
  const isBelow = at.bottom + offsetHeight + 8 < innerHeight || at.top < offsetHeight
  const left = Math.min(Math.max(8, at.right - offsetWidth), innerWidth - offsetWidth - 8)
  list.style.left = `${left}px`
  list.style.top = `${isBelow ? at.bottom + 4 : at.top - offsetHeight - 4}px`
}
