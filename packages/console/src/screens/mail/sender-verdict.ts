export interface Authentication {
  readonly spf: string
  readonly dkim: string
  readonly dmarc: string
}

export type SenderVerdict = 'genuine' | 'forged' | 'likely' | 'unknown'

/** What the results of RFC 8601 mean for a person: whether the sender is who they seem to be. */
export function senderVerdict({ spf, dkim, dmarc }: Authentication): SenderVerdict {
  if (dmarc === 'pass') return 'genuine'
  if (dmarc === 'fail') return 'forged'
  if (dkim === 'pass' || spf === 'pass') return 'likely'
  return spf === 'fail' || dkim === 'fail' ? 'forged' : 'unknown'
}
