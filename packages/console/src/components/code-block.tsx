import type { JSX } from 'preact'

import { t } from '#app/texts/shell.ts'

import { IconButton } from './button.tsx'
import { toast } from './toasts.tsx'

export interface CodeBlockProps {
  readonly code: string
  /** For screen readers, where the text around it does not name it. */
  readonly label?: string
}

/** Text for a terminal or an editor, with a button that copies it. */
export const CodeBlock = ({ code, label }: CodeBlockProps): JSX.Element => (
  <div class="code-block">
    <pre tabIndex={0} aria-label={label} role={label === undefined ? undefined : 'region'}>
      <code>{code}</code>
    </pre>
    <IconButton icon="copy" label={t('copy.copy')} onClick={async () => copyText(code)} />
  </div>
)

export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
  toast(t('copy.copied'))
}
