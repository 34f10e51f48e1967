import type { JSX } from 'preact'

import { type ShownCall, curlOf, sdkOf } from '#app/api/call-text.ts'
import { t } from '#app/texts/shell.ts'

import { copyText } from './code-block.tsx'
import { Icon } from './icon.tsx'
import { Menu } from './menu.tsx'

/** Copies what the screen does as a line for a terminal or a program. */
export function CopyCall({ call }: { readonly call: ShownCall }): JSX.Element {
  const { command } = call
  const items = [
    {
      label: t('copy.curl'),
      icon: 'terminal',
      onSelect: async () => copyText(curlOf(call, location.origin)),
    },
    ...(command === undefined
      ? []
      : [
          {
            label: t('copy.croft'),
            icon: 'terminal',
            onSelect: async () => copyText(command),
          } as const,
        ]),
    {
      label: t('copy.sdk'),
      icon: 'code',
      onSelect: async () => copyText(sdkOf(call, location.origin)),
    },
  ] as const
  return (
    <Menu label={t('copy.as')} items={items}>
      <Icon name="code" />
    </Menu>
  )
}
