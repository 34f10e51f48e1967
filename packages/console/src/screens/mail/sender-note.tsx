import type { JSX } from 'preact'

import { Icon } from '#app/components/icon.tsx'

import { type Authentication, senderVerdict } from './sender-verdict.ts'
import { t } from './texts.ts'

const LOOKS = {
  genuine: { icon: 'shield', tone: 'good' },
  likely: { icon: 'shield', tone: '' },
  unknown: { icon: 'info', tone: '' },
  forged: { icon: 'warning', tone: 'bad' },
} as const

/** Whether the sender is who they seem to be, and what was checked. */
export function SenderNote({
  authentication,
}: {
  readonly authentication: Authentication
}): JSX.Element {
  const verdict = senderVerdict(authentication)
  const { icon, tone } = LOOKS[verdict]
  return (
    <details class={`sender ${tone}`}>
      <summary>
        <Icon name={icon} />
        <span>{t(`sender.${verdict}`)}</span>
        <Icon name="chevron" class="sender-chevron" />
      </summary>
      <p>{t(`sender.${verdict}-lead`)}</p>
      <dl class="facts">
        {(['spf', 'dkim', 'dmarc'] as const).map((check) => (
          <div key={check} class="sender-check">
            <dt>{t(`sender.${check}`)}</dt>
            <dd>{t('sender.result', { result: authentication[check] })}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
